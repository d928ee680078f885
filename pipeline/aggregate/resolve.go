package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
)

// resolve makes findings auto whose fix the code base has settled: the agent
// claims so, gives the fix, and cites a place that exists. It leaves those that
// are in dispute, and those about what a person has to weigh.
func (w *work) resolve() {
	apart := map[int]int{}
	claims := false
	for _, f := range w.findings {
		apart[f.cluster]++
		claims = claims || f.claimsAuto()
	}
	if !claims {
		return
	}
	c := newCitations(w)
	for _, f := range w.findings {
		switch {
		case !f.claimsAuto() || f.parts != nil || apart[f.cluster] > 1:
		case w.final(f):
			f.because("not applied by itself: a person looks at what is final")
		case w.judged(f):
			f.because("not applied by itself: a person weighs what is about " + f.Category)
		case !c.ok(f):
			f.because("not applied by itself: what it cites was not found")
		default:
			f.AutofixClass = pipeline.AutofixAuto
			f.because("applied by itself: " + shortened(f.Citation) + " settles it (" + f.AutoClaim + ")")
		}
	}
}

func (f *item) claimsAuto() bool {
	return f.AutofixClass == pipeline.AutofixPresent && f.AutoClaim != "" && f.SuggestedFix != "" && f.Citation != ""
}

// judged reports whether the finding is about what a person has to weigh.
func (w *work) judged(f *item) bool {
	category := normalised(f.Category)
	return slices.ContainsFunc(w.in.Config.Settings.Synthesis.JudgementCategories, func(c string) bool {
		return normalised(c) == category
	})
}
