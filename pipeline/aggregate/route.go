package aggregate

import "github.com/reviewgate/reviewgate/pipeline"

// route takes the auto class from findings that have no fix to apply. What
// counts in the gate is the severity.
func (w *work) route() {
	for _, f := range w.findings {
		if f.AutofixClass == pipeline.AutofixAuto && f.SuggestedFix == "" {
			f.AutofixClass = pipeline.AutofixPresent
			f.because("not applied by itself: there is no suggested fix")
		}
		f.GateSeverity = f.Severity
	}
}
