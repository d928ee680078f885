package pipeline

// ModelsReport summarises the reviews of language models.
type ModelsReport struct {
	Strategy        string             `json:"strategy"` // parallel or single
	Verdicts        List[ModelVerdict] `json:"verdicts"` // the weaker model first, then by name
	Merge           ModelsMerge        `json:"merge"`
	Stages          List[ModelsStage]  `json:"stages"` // those that models reviewed, spec first
	Confidence      float64            `json:"confidence"`
	ConfidenceLabel string             `json:"confidence_label"`
	// AutoDecision is the result of the table of confidence, whether or not the settings allow it.
	AutoDecision AutoDecision `json:"auto_decision"`
}

// ModelVerdict is one model's verdict on each stage, and on all stages that count. The quality
// stage does not count if the spec stage failed.
type ModelVerdict struct {
	Model   string  `json:"model"`
	Spec    Verdict `json:"spec"` // VerdictNone if the model did not review it
	Quality Verdict `json:"quality"`
	Verdict Verdict `json:"verdict"`
}

// Verdict is a model's answer on a stage.
type Verdict string

// The verdicts. A model that did not finish a stage has VerdictUnknown there, which does not pass.
const (
	VerdictNone    Verdict = ""
	VerdictPass    Verdict = "PASS"
	VerdictFail    Verdict = "FAIL"
	VerdictUnknown Verdict = "UNKNOWN"
)

// ModelsStage is what the models found in one stage, by who found it. It always has the four
// categories, in the order of the constants.
type ModelsStage struct {
	Stage      string               `json:"stage"`
	Categories List[ModelsCategory] `json:"categories"`
}

// ModelsCategory counts findings of some of the models. Worst and Action belong to the worst of
// them, and are empty if there are none.
type ModelsCategory struct {
	Category string       `json:"category"`
	Count    int          `json:"count"`
	Worst    Severity     `json:"worst"`
	Action   ModelsAction `json:"action"`
}

// The categories: found by several models, found only by the weaker or only by the stronger, and
// contradictions.
const (
	ModelsAgreed         = "agreed"
	ModelsAOnly          = "a_only"
	ModelsBOnly          = "b_only"
	ModelsContradictions = "contradictions"
)

// ModelsAction is the effect of a model's finding on the gate.
type ModelsAction string

// The actions.
const (
	ModelsNothing ModelsAction = ""       // there is no finding
	ModelsBlocks  ModelsAction = "blocks" // it counts as critical or major
	ModelsHolds   ModelsAction = "holds"  // a person must decide
	ModelsNoted   ModelsAction = "noted"  // it counts as something milder
)

// ModelsMerge counts the models' findings by who made them, before they are merged. A finding that
// several agree on counts once. A is the weaker model, and B the stronger.
type ModelsMerge struct {
	Agreed         int `json:"agreed"`
	AOnly          int `json:"a_only"`
	BOnly          int `json:"b_only"`
	Contradictions int `json:"contradictions"`
}

// AutoDecision is what can be decided without a person.
type AutoDecision string

// The decisions of the table of confidence.
const (
	AutoApprove          AutoDecision = "auto_approve"
	AutoApproveWithNotes AutoDecision = "auto_approve_with_notes"
	AutoReject           AutoDecision = "auto_reject"
	AutoHuman            AutoDecision = "human"
)

// The stages in which models review a change.
const (
	ReviewStageSpec    = "spec"
	ReviewStageQuality = "quality"
)
