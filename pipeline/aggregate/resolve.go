package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/words"
)

// resolve gives findings the class auto if the code base settles their fix: the agent claims so,
// gives the fix, and cites a place that exists. It leaves out findings in dispute and findings that
// a person must judge.
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
	c := newCitations(w.in, w.findings)
	for _, f := range w.findings {
		switch {
		case !f.claimsAuto() || f.parts != nil || apart[f.cluster] > 1:
		case w.in.final(f):
			f.addReason("not applied by itself: a person looks at what is final")
		case w.in.judged(f):
			f.addReason("not applied by itself: a person weighs what is about " + f.Category)
		case !c.exists(f):
			f.addReason("not applied by itself: what it cites was not found")
		default:
			f.AutofixClass = pipeline.AutofixAuto
			f.addReason("applied by itself: " + shortened(f.Citation) + " settles it (" + f.AutoClaim + ")")
		}
	}
}

func (f *item) claimsAuto() bool {
	return f.AutofixClass == pipeline.AutofixPresent && f.AutoClaim != "" && f.SuggestedFix != "" && f.Citation != ""
}

// judged reports whether the finding is about something that a person must judge.
func (in *input) judged(f *item) bool {
	category := words.Normalised(f.Category)
	return slices.ContainsFunc(in.Config.Settings.Synthesis.JudgementCategories, func(c string) bool {
		return words.Normalised(c) == category
	})
}
