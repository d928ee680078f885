package pipeline

import "time"

// Review is a whole review as it is stored and shown: every stage's output,
// and with Facts, Results and Previous all that aggregate read.
type Review struct {
	Facts          PRFacts           `json:"facts"`
	Classification Classification    `json:"classification"`
	Manifest       AgentManifest     `json:"manifest"`
	Results        List[AgentResult] `json:"results"`
	Previous       *PreviousReport   `json:"previous"`
	Again          *PreviousReport   `json:"again,omitempty"` // the last on the same head, where models look once more
	Memory         Memory            `json:"memory"`
	Report         ReviewReport      `json:"report"`
}

// RunRecord is what varies from run to run and therefore stands beside a
// report, never in it.
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

// StageTiming is how long one stage took and, where it failed, why.
type StageTiming struct {
	Stage      Stage   `json:"stage"`
	DurationMS float64 `json:"duration_ms"`
	Error      string  `json:"error"`
}

// AgentTiming is how long one agent took, all its attempts together.
type AgentTiming struct {
	Agent      string  `json:"agent"`
	Model      string  `json:"model"` // empty for an agent that asks none
	DurationMS float64 `json:"duration_ms"`
	Attempts   int     `json:"attempts"` // 0 where the result was carried over
}

// ModelUse is what an agent's questions to one model took in a run, those that
// were not answered among them.
type ModelUse struct {
	Agent  string `json:"agent"`
	Model  string `json:"model"`
	Asked  int    `json:"asked"`  // questions
	Input  int    `json:"input"`  // tokens read, those of Cached included
	Cached int    `json:"cached"` // of these, those that the API had kept
	Output int    `json:"output"` // tokens written
	// CostUSD is by the prices of the server's config: 0 where it has none.
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
