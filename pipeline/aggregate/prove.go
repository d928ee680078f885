package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/models"
)

// said is one thing that models say: what several agree on is one.
type said struct{ root *said }

func (s *said) find() *said {
	for s.root != nil {
		s = s.root
	}
	return s
}

func (s *said) join(other *said) {
	if a, b := s.find(), other.find(); a != b {
		b.root = a
	}
}

// prove proves findings that say the same by one another. Who opposes does not agree.
func prove(same []*item) {
	classes := bySides(same)
	opposed := opposedWithin(classes)
	for i, class := range classes {
		by := map[string]bool{} // the models that don't oppose
		others := false
		for k, other := range classes {
			if class[0].sides.opposes(other[0].sides) {
				continue
			}
			for _, f := range other {
				if f.Model == "" {
					others = true
				} else {
					by[f.Model] = true
				}
			}
			if !opposed || k == i {
				joinSaid(class, other)
			}
		}
		for _, f := range class {
			if f.Model != "" {
				f.proof.Models, f.proof.Others = max(f.proof.Models, len(by)), f.proof.Others || others
			}
		}
	}
}

// joinSaid makes one thing of what the models' findings among these say.
func joinSaid(class, other []*item) {
	var first *item
	for _, f := range slices.Concat(class, other) {
		switch {
		case f.said == nil:
		case first == nil:
			first = f
		default:
			first.said.join(f.said)
		}
	}
}

// gateOf is what a finding counts in the gate, and whether it holds the gate for
// a person.
func (w *work) gateOf(f *item) (s pipeline.Severity, holds bool) {
	m := w.in.Config.Settings.Models
	return models.GateSeverity(f.Severity, f.proof, m.Blocking), models.Holds(f.Severity, f.proof, m.Blocking, m.HoldForPerson)
}

func (w *work) proven(f *item) bool { return f.proof.Proven(w.in.Config.Settings.Models.Blocking) }
