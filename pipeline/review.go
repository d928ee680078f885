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
	DurationMS float64 `json:"duration_ms"`
	Attempts   int     `json:"attempts"` // 0 where the result was carried over
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
