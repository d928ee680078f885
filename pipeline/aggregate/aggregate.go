package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Input is all that a report is made from. Nothing in it is changed. Facts and
// Config are needed; of the rest the zero values stand for nothing.
type Input struct {
	Facts          *pipeline.PRFacts
	Classification *pipeline.Classification
	Manifest       *pipeline.AgentManifest
	Gaps           pipeline.List[pipeline.GapLogEntry]
	Results        pipeline.List[pipeline.AgentResult]
	Previous       *pipeline.PreviousReport
	// Again is the last report on the same head, if there is one.
	Again  *pipeline.PreviousReport
	Memory pipeline.Memory
	Config *config.Config
	// Rules are the config's, by id; nil has them looked for.
	Rules map[string]*config.Rule
	// Failed is the stage before this one that failed, if one did.
	Failed *pipeline.Incompleteness
	// FilesUnknown says that Facts have no files because nobody knows them:
	// paths and lines of findings are not checked then.
	FilesUnknown bool
}

// Aggregate makes the report.
func Aggregate(in Input) pipeline.ReviewReport {
	w := newWork(in)
	w.run()
	w.neverLooser() // than without models, whatever the conditions
	w.byHand()      // what a person decided stands in the gate's place
	return w.report
}

// run takes the steps in order.
func (w *work) run() {
	for _, step := range slices.Concat(untilAgreed[:], untilDiscarded[:], afterDiscarded[:]) {
		step(w)
	}
}

// untilAgreed are the steps after which it is known which findings may say the same.
var untilAgreed = [...]func(*work){
	(*work).validate,   // drop what is no finding, so that no later step has to look
	(*work).recall,     // who is who, before people's words about it are heeded
	(*work).enrich,     // from the rules, and raise by scale, before severities are compared
	(*work).suppress,   // what people and comments take out, before anything is merged with it
	(*work).confidence, // unsure findings must not raise others' severity by merging
}

// untilDiscarded are the steps after those, after which it is known whether the spec
// stage fails.
var untilDiscarded = [...]func(*work){
	(*work).agree,         // while it is still told who said what
	(*work).countAsBefore, // by what is proven now
	(*work).discard,       // what a failed stage makes moot, by what is proven
}

// afterDiscarded are the others.
var afterDiscarded = [...]func(*work){
	(*work).deduplicate,    // one finding for each thing
	(*work).promote,        // what one of those bears out
	(*work).contradictions, // among all that is left to be shown
	(*work).resolve,        // by citations, and not what is in dispute
	(*work).route,          // needs the fix and the proof of the merged finding
	(*work).sort,           // ends with the fingerprint, so that the order is total
	(*work).compare,        // with the last report
	(*work).gate,           // reads all of the above
}

// Failed is the report of a review whose last stage failed itself: it has no
// findings, and it does not pass.
func Failed(in Input, failed *pipeline.Incompleteness) pipeline.ReviewReport {
	in.Results, in.Gaps, in.Failed = nil, nil, failed
	w := newWork(in)
	w.remember()
	w.gate()
	w.byHand()
	return w.report
}
