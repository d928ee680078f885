package pipeline

// ModelsReport is what the reviews of language models come to together.
type ModelsReport struct {
	Strategy        string             `json:"strategy"` // parallel or single
	Verdicts        List[ModelVerdict] `json:"verdicts"` // the weaker model first, then by name
	Merge           ModelsMerge        `json:"merge"`
	Stages          List[ModelsStage]  `json:"stages"` // those that models reviewed, spec first
	Confidence      float64            `json:"confidence"`
	ConfidenceLabel string             `json:"confidence_label"`
	// AutoDecision is what the table of confidence says, whatever the settings
	// let happen.
	AutoDecision AutoDecision `json:"auto_decision"`
}

// ModelVerdict is one model's verdict on each stage, and over all stages that
// count. Quality does not count where the spec stage failed.
type ModelVerdict struct {
	Model   string  `json:"model"`
	Spec    Verdict `json:"spec"` // VerdictNone where the model did not review it
	Quality Verdict `json:"quality"`
	Verdict Verdict `json:"verdict"`
}

// Verdict is a model's answer on a stage.
type Verdict string

// The verdicts. A model that did not finish a stage has VerdictUnknown there,
// which is no PASS.
const (
	VerdictNone    Verdict = ""
	VerdictPass    Verdict = "PASS"
	VerdictFail    Verdict = "FAIL"
	VerdictUnknown Verdict = "UNKNOWN"
)

// ModelsStage is what the models found in one stage, by who found it: always the four
// categories, in the order of the constants.
type ModelsStage struct {
	Stage      string               `json:"stage"`
	Categories List[ModelsCategory] `json:"categories"`
}

// ModelsCategory counts what some of the models found. Worst and Action are those of the
// worst of it, and empty where there is nothing.
type ModelsCategory struct {
	Category string       `json:"category"`
	Count    int          `json:"count"`
	Worst    Severity     `json:"worst"`
	Action   ModelsAction `json:"action"`
}

// The categories: what several models found, what only the weaker or only the stronger
// found, and where they want opposite things.
const (
	ModelsAgreed         = "agreed"
	ModelsAOnly          = "a_only"
	ModelsBOnly          = "b_only"
	ModelsContradictions = "contradictions"
)

// ModelsAction is what a finding of models does in the gate.
type ModelsAction string

// The actions.
const (
	ModelsNothing ModelsAction = ""       // there is no finding
	ModelsBlocks  ModelsAction = "blocks" // it counts as critical or major
	ModelsHolds   ModelsAction = "holds"  // a person must decide
	ModelsNoted   ModelsAction = "noted"  // it counts as less
)

// ModelsMerge counts the models' findings by who made them, before anything is
// merged: what several agree on counts once. A is the weaker model, B the
// stronger.
type ModelsMerge struct {
	Agreed         int `json:"agreed"`
	AOnly          int `json:"a_only"`
	BOnly          int `json:"b_only"`
	Contradictions int `json:"contradictions"`
}

// AutoDecision is what could be decided without a person.
type AutoDecision string

// The decisions of the table of confidence.
const (
	AutoApprove          AutoDecision = "auto_approve"
	AutoApproveWithNotes AutoDecision = "auto_approve_with_notes"
	AutoReject           AutoDecision = "auto_reject"
	AutoHuman            AutoDecision = "human"
)

// The stages of agents that are models.
const (
	StageSpec    = "spec"
	StageQuality = "quality"
)
