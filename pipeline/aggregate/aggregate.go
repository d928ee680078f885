package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Input holds everything that a report is made from. Aggregate does not change it.
// Facts and Config are required. The zero value of any other field means that
// there is none.
type Input struct {
	Facts          *pipeline.PRFacts
	Classification *pipeline.Classification
	Manifest       *pipeline.AgentManifest
	Gaps           pipeline.List[pipeline.GapLogEntry]
	Results        pipeline.List[pipeline.AgentResult]
	Previous       *pipeline.PreviousReport
	// SameHead is the last report on the same head, if there is one.
	SameHead *pipeline.PreviousReport
	Memory   pipeline.Memory
	Config   *config.Config
	// Rules are the config's rules by id. If nil, Aggregate computes them.
	Rules map[string]*config.Rule
	// Failed is the earlier stage that failed, or nil.
	Failed *pipeline.Incompleteness
	// Session is what the review read about the session of coding agents, or nil.
	Session *pipeline.Session
	// FilesUnknown says that nobody knows the files of the change, so Facts have
	// none. The paths and lines of findings are not checked then.
	FilesUnknown bool
}

// Aggregate makes the report from the input.
func Aggregate(in Input) pipeline.Report {
	// The gate is at least as strict as without models, and blocks whatever blocks without memory.
	first := newWork(in)
	w := withMemory(first, (*work).neverLooser)
	w.session(first)
	w.byHand()                               // a person's decision replaces the gate's
	holdSession(&w.report, in.Memory.Paused) // but does not resume a session
	return w.report
}

// run runs all steps in order.
func (w *work) run() { w.through(untilAgreed[:], untilDiscarded[:], afterDiscarded[:]) }

// through runs some of the steps.
func (w *work) through(steps ...[]func(*work)) *work {
	for _, step := range slices.Concat(steps...) {
		step(w)
	}
	return w
}

// untilAgreed are the steps before findings are compared with each other.
var untilAgreed = [...]func(*work){
	(*work).validate,     // drops invalid findings and gives the others their fingerprints
	(*work).matchEarlier, // matches models' findings with earlier ones, before people's decisions apply
	(*work).enrich,       // fills in from the rules and raises widespread problems, before severities are compared
	(*work).suppress,     // removes what people and comments decided about, before anything merges with it
	(*work).confidence,   // keeps unsure findings from raising others' severity by merging
}

// untilDiscarded are the next steps. After them it is known whether the spec stage
// fails.
var untilDiscarded = [...]func(*work){
	(*work).agree,         // while each finding still has its own maker
	(*work).countAsBefore, // depends on what agree proved
	(*work).discard,       // drops quality findings if the spec stage failed; needs the proofs of agree
}

// afterDiscarded are the remaining steps.
var afterDiscarded = [...]func(*work){
	(*work).deduplicate,    // leaves one finding for each problem
	(*work).promote,        // restores what those findings confirm
	(*work).contradictions, // among everything that will be shown
	(*work).resolve,        // by citations, except what is in dispute
	(*work).route,          // needs the fix and the proof of the merged finding
	(*work).doubt,          // by memory, which must not affect any step before
	(*work).sort,           // ends with the fingerprint, so that the order is total
	(*work).compare,        // with the last report
	unite,                  // equal lines of one file, after it is known which of them are new
	(*work).gate,           // reads everything above
}

// Failed is the report of a review whose aggregate stage failed. It has no
// findings and does not pass.
func Failed(in Input, failed *pipeline.Incompleteness) pipeline.Report {
	in.Results, in.Gaps, in.Failed = nil, nil, failed
	w := newWork(in)
	w.carryHistory()
	w.gate()
	w.session(nil)
	w.byHand()
	holdSession(&w.report, in.Memory.Paused)
	return w.report
}
