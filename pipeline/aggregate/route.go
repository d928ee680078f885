package aggregate

import (
	"fmt"

	"github.com/reviewgate/reviewgate/pipeline"
)

// route takes the auto class from findings that have no fix to apply or that a
// person has to weigh. Then it settles what each counts in the gate, and who may
// take it out: a model's finding that nothing proves is a warning at most.
func (w *work) route() {
	for _, f := range w.findings {
		w.withoutPlaceholder(f) // once more: fixes were joined
		if f.AutofixClass == pipeline.AutofixAuto {
			switch {
			case f.SuggestedFix == "":
				f.AutofixClass = pipeline.AutofixPresent
				f.because("not applied by itself: there is no suggested fix")
			case w.judged(f):
				f.AutofixClass = pipeline.AutofixPresent
				f.because("not applied by itself: a person weighs what is about " + f.Category)
			}
		}
		w.weigh(f)
		f.Final = w.finalSay(f)
	}
}

func (w *work) weigh(f *item) {
	counts, holds := w.gateOf(f)
	if f.parts != nil {
		counts, holds = w.disputeGate(f)
	}
	f.GateSeverity = counts
	if counts != f.Severity {
		f.because(fmt.Sprintf("%s, by one model only", f.Severity))
	}
	if holds {
		w.held = true
		f.because(pipeline.ReasonHeld)
	}
}
