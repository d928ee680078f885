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

// Unproven returns the findings that only one model made and calls critical or major, and that the
// model by has not been asked about yet. Findings of the spec stage come first, then the worst. It
// leaves out what by found itself, since by would not be a second voice; what review reports come
// to, which the change does not show; what ask rejects; and all but one finding about the same
// problem.
func Unproven(in Input, by string, ask func(*Doubt) bool) []Doubt {
	w := newWork(in).through(untilAgreed[:])
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
		if f.Model != "" && f.Model != by && !f.unraised && f.Severity.Rank() >= pipeline.SeverityMajor.Rank() && !w.in.proven(f) && f.Category != reviewreport.CategoryOutcome {
			doubts = append(doubts, f)
		}
	}
	slices.SortStableFunc(doubts, func(a, b *item) int {
		return cmp.Or(
			compareBool(a.stage != pipeline.ReviewStageSpec, b.stage != pipeline.ReviewStageSpec), // may make the others moot
			cmp.Compare(b.Severity.Rank(), a.Severity.Rank()), cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(a.index, b.index),
		)
	})
	classes := map[int]bool{}
	for _, f := range doubts { // skips the rest of a class that was asked about
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

// applyOpinions gives findings the opinions of models that were asked about them. A model that
// confirms another's finding is a second voice. A model that refutes it takes nothing away: the
// author of the change could have talked it into that.
func applyOpinions(results []pipeline.AgentResult, findings []*item) {
	opinions := map[string][]pipeline.Opinion{}
	for _, r := range results {
		if r.Agent != pipeline.Verifier {
			continue
		}
		for _, v := range r.Verifications {
			if v.Opinion.Verdict != pipeline.OpinionNone {
				v.Opinion.Model = r.Model
				opinions[v.Finding] = append(opinions[v.Finding], v.Opinion)
			}
		}
	}
	if len(opinions) == 0 {
		return
	}
	for _, f := range findings {
		if f.Model == "" || f.unraised {
			continue
		}
		for _, o := range opinions[f.key()] {
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

// opinionsOf returns the opinions about all findings merged into f, one for each model. If a model
// ever confirmed, its opinion is that. An unraised finding keeps its earlier opinions.
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
