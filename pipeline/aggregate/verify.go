package aggregate

import (
	"cmp"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// Doubt is a finding that would count for more if another model confirmed it.
type Doubt struct {
	Key     string // for a pipeline.Verification
	Stage   string // of the review that made it
	Finding pipeline.Finding
}

// Unproven returns what one model alone found and holds to be critical or major, and what the
// model by has not been asked about yet: what the spec stage found first, then the worst. What
// by found itself is left out, since it would be no second voice; and so are what a report
// comes to, which the change does not show, what ask does not want, and all but one of those
// that say the same.
func Unproven(in Input, by string, ask func(*Doubt) bool) []Doubt {
	w := newWork(in)
	for _, step := range untilAgreed {
		step(w)
	}
	w.agree()
	asked := map[string]bool{}
	for _, r := range in.Results {
		if r.Agent == pipeline.Verifier && r.Model == by {
			for _, v := range r.Verifications {
				asked[v.Finding] = true
			}
		}
	}
	var doubts []*item
	for _, f := range w.findings {
		if f.Model != "" && f.Model != by && !f.standing && f.Severity.Rank() >= pipeline.SeverityMajor.Rank() && !w.proven(f) && f.Category != reviewreport.CategoryOutcome {
			doubts = append(doubts, f)
		}
	}
	slices.SortStableFunc(doubts, func(a, b *item) int {
		return cmp.Or(
			compareBool(a.stage != pipeline.StageSpec, b.stage != pipeline.StageSpec), // it may make the others moot
			cmp.Compare(b.Severity.Rank(), a.Severity.Rank()), cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(a.at, b.at),
		)
	})
	classes := map[int]bool{}
	for _, f := range doubts { // whatever is left of a class that was asked about
		classes[f.class] = classes[f.class] || asked[f.key()]
	}
	var out []Doubt
	for _, f := range doubts {
		if classes[f.class] {
			continue
		}
		if d := (Doubt{Key: f.key(), Stage: f.stage, Finding: f.Finding}); ask(&d) {
			classes[f.class] = true
			out = append(out, d)
		}
	}
	return out
}

// heed gives findings the opinions of the models that were asked about them. A model that
// confirms what another found is a second voice. One that refutes it takes nothing away:
// whoever wrote the change could have talked it into that.
func (w *work) heed() {
	said := map[string][]pipeline.Opinion{}
	for _, r := range w.in.Results {
		if r.Agent != pipeline.Verifier {
			continue
		}
		for _, v := range r.Verifications {
			if v.Opinion.Verdict != pipeline.OpinionNone {
				v.Opinion.Model = r.Model
				said[v.Finding] = append(said[v.Finding], v.Opinion)
			}
		}
	}
	if len(said) == 0 {
		return
	}
	for _, f := range w.findings {
		if f.Model == "" || f.standing {
			continue
		}
		for _, o := range said[f.key()] {
			if o.Model == f.Model {
				continue
			}
			f.opinions = append(f.opinions, o)
			if o.Verdict == pipeline.OpinionConfirmed {
				f.backedByModel(o.Model)
			}
		}
	}
}

// opinionsOf are the opinions of all that was merged into a finding, each model's once: that
// it is right, if it ever said so. A finding that nobody raised again keeps those of old.
func opinionsOf(f *item) pipeline.List[pipeline.Opinion] {
	out := slices.Clone(f.Opinions)
	for _, m := range f.each() {
		for _, o := range m.opinions {
			i := slices.IndexFunc(out, func(x pipeline.Opinion) bool { return x.Model == o.Model })
			switch {
			case i < 0:
				out = append(out, o)
			case out[i].Verdict != pipeline.OpinionConfirmed:
				out[i] = o
			}
		}
	}
	slices.SortFunc(out, func(a, b pipeline.Opinion) int { return cmp.Compare(a.Model, b.Model) })
	return out
}
