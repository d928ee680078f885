package policies

import "github.com/reviewgate/reviewgate/pipeline"

// GateCondition decides when its expression holds. When is a CEL expression over
// the metrics of the report, such as "critical > 0" or
// "risk_score >= 75 && new_findings > 0".
type GateCondition struct {
	When     string            `json:"when"`
	Decision pipeline.Decision `json:"decision"`
}
