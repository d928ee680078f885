package policies

import "github.com/reviewgate/reviewgate/pipeline"

// GateCondition decides when its expression holds. When is a comparison of a
// metric of the report with a number, such as "critical > 0" or
// "risk_score >= 75", or several joined by "&&".
type GateCondition struct {
	When     string            `json:"when"`
	Decision pipeline.Decision `json:"decision"`
}
