package aggregate

import (
	"fmt"

	"github.com/reviewgate/reviewgate/pipeline"
)

// route takes the class auto from findings that have no fix or that a person must judge. Then it
// sets what each counts in the gate, and who may take it out. An unproven finding of a model is at
// most a warning.
func (w *work) route() {
	for _, f := range w.findings {
		withoutPlaceholder(f) // again, since fixes were joined
		if f.AutofixClass == pipeline.AutofixAuto {
			switch {
			case f.SuggestedFix == "":
				f.AutofixClass = pipeline.AutofixPresent
				f.addReason("not applied by itself: there is no suggested fix")
			case w.in.judged(f):
				f.AutofixClass = pipeline.AutofixPresent
				f.addReason("not applied by itself: a person weighs what is about " + f.Category)
			}
		}
		counts, holds := w.in.gateOf(f)
		if f.GateSeverity = counts; counts != f.Severity {
			who := "model"
			if f.Model == f.Agent {
				who = "reviewer" // a remote one
			}
			f.addReason(fmt.Sprintf("%s, by one %s only", f.Severity, who))
		}
		if holds {
			w.held = true
			f.addReasonOf(pipeline.ReasonHeld, "")
		}
		f.Final = w.in.finalLayers(f)
	}
}
