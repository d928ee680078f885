package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/models"
)

// claim is what models claim. Claims that agree are united.
type claim struct{ root *claim }

func (s *claim) find() *claim {
	for s.root != nil {
		s = s.root
	}
	return s
}

func (s *claim) join(other *claim) {
	if a, b := s.find(), other.find(); a != b {
		b.root = a
	}
}

// prove proves findings about the same problem by one another. Findings that oppose one another
// don't agree.
func prove(same []*item) {
	classes := bySides(same)
	opposed := opposedWithin(classes)
	for i, class := range classes {
		by := map[string]bool{} // the models that don't oppose the class
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
				joinClaims(class, other)
			}
		}
		for _, f := range class {
			if f.Model != "" {
				f.proof.Models, f.proof.Others = max(f.proof.Models, len(by)), f.proof.Others || others
			}
		}
	}
}

// joinClaims unites the claims of the models' findings in both classes.
func joinClaims(class, other []*item) {
	var first *item
	for _, f := range slices.Concat(class, other) {
		switch {
		case f.claim == nil:
		case first == nil:
			first = f
		default:
			first.claim.join(f.claim)
		}
	}
}

// gateOf returns the severity that a finding counts with in the gate, and whether it holds the gate
// for a person.
func (in *input) gateOf(f *item) (s pipeline.Severity, holds bool) {
	if f.parts != nil {
		return in.disputeGate(f)
	}
	m := in.Config.Settings.Models
	return models.GateSeverity(f.Severity, f.proof, m.Blocking), models.Holds(f.Severity, f.proof, m.Blocking, m.HoldForPerson)
}

func (in *input) proven(f *item) bool { return f.proof.Proven(in.Config.Settings.Models.Blocking) }
