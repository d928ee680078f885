package pipeline

import (
	"fmt"
	"time"
)

// Review is a whole review as it is stored and shown: the output of every stage. Report follows from
// the config and from everything else in the review, so that it can be computed again.
type Review struct {
	Facts          PRFacts           `json:"facts"`
	Classification Classification    `json:"classification"`
	Manifest       AgentManifest     `json:"manifest"`
	Results        List[AgentResult] `json:"results"`
	Previous       *PreviousReport   `json:"previous"`
	SameHead       *PreviousReport   `json:"again,omitempty"` // the last report on the same head, if models review it again
	Memory         Memory            `json:"memory"`
	// Gaps are what the config missed. Those of a model can't be computed again without it.
	Gaps List[GapLogEntry] `json:"gaps"`
	// Failed is the stage that failed, the last one if there are several, or empty.
	Failed Stage `json:"failed,omitempty"`
	// Proposed is the outcome of trying the config that the change proposes. It depends on time
	// limits, so it is stored and not computed again.
	Proposed *ProposedConfig `json:"proposed,omitempty"`
	// Evaluation has the results of what ran in evaluation. It is nil if nothing did.
	Evaluation *EvaluationRun `json:"evaluation,omitempty"`
	// Session is what the review read about the session of the pull request and about remote reviewers.
	// It is nil if there is neither.
	Session *Session `json:"session,omitempty"`
	// Shadow is how the review would have differed under the server's shadow config. It is nil if the
	// server has no shadow config.
	Shadow *Shadow `json:"shadow,omitempty"`
	Report Report  `json:"report"`
}

// RunRecord is what varies from run to run, so that it is beside a report and never in it.
type RunRecord struct {
	RunID      string            `json:"run_id"`
	Version    string            `json:"version"` // of reviewgate
	Trigger    string            `json:"trigger"` // what asked for the run, in words
	StartedAt  time.Time         `json:"started_at"`
	FinishedAt time.Time         `json:"finished_at"`
	Stages     List[StageTiming] `json:"stages"`
	Agents     List[AgentTiming] `json:"agents"`
	APICalls   int               `json:"api_calls"`
	ModelUse   List[ModelUse]    `json:"model_use"` // by agent, then model
}

// Duration is how long the run took.
func (r RunRecord) Duration() time.Duration { return r.FinishedAt.Sub(r.StartedAt) }

// StageTiming is how long one stage took and, if it failed, why.
type StageTiming struct {
	Stage      Stage   `json:"stage"`
	DurationMS float64 `json:"duration_ms"`
	Error      string  `json:"error"`
}

// AgentTiming is how long one agent took, with all its attempts.
type AgentTiming struct {
	Agent      string  `json:"agent"`
	Model      string  `json:"model"` // empty for an agent without a model
	DurationMS float64 `json:"duration_ms"`
	Attempts   int     `json:"attempts"` // 0 if the result was carried over
}

// ModelUse is what an agent's questions to one model used in a run, including unanswered ones.
type ModelUse struct {
	Agent  string `json:"agent"`
	Model  string `json:"model"`
	Asked  int    `json:"asked"`  // questions
	Input  int    `json:"input"`  // tokens read, including Cached
	Cached int    `json:"cached"` // tokens of Input that the API had in its cache
	Output int    `json:"output"` // tokens written
	// CostUSD is computed with the prices in the server's config, or 0 without prices.
	CostUSD float64 `json:"cost_usd"`
}

// Stage names one of the six stages.
type Stage string

// The six stages, in order.
const (
	StageNormalize Stage = "normalize"
	StageClassify  Stage = "classify"
	StageCompose   Stage = "compose"
	StageGapDetect Stage = "gap-detect"
	StageDispatch  Stage = "dispatch"
	StageAggregate Stage = "aggregate"
)

// StageEvaluate names the run of what is in evaluation, after the six stages. It is in records only.
const StageEvaluate Stage = "evaluate"

// StageError says which stage failed.
type StageError struct {
	Stage Stage
	Err   error
}

func (e *StageError) Error() string { return fmt.Sprintf("%s: %v", e.Stage, e.Err) }

// Unwrap returns the cause of the failure.
func (e *StageError) Unwrap() error { return e.Err }

// PanicError is a panic in a stage.
type PanicError struct{ Value any }

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }
