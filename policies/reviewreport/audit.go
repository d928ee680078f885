package reviewreport

import "github.com/reviewgate/reviewgate/pipeline"

// Audit is the record of an aggregation: its reports, the thresholds, and the outcome. It proves
// later on which reports a decision was based.
type Audit struct {
	Event      string             `json:"event"` // EventAggregated
	Time       string             `json:"time"`  // RFC 3339, UTC; empty if the time is recorded elsewhere
	Phase      string             `json:"phase"`
	Place      string             `json:"place"` // empty for files on a command line
	Thresholds Thresholds         `json:"thresholds"`
	Inputs     []AuditInput       `json:"inputs"`
	Proceed    bool               `json:"proceed"`
	Rationale  string             `json:"rationale"`
	Readiness  pipeline.Readiness `json:"readiness"`
}

// AuditInput is one report of an aggregation.
type AuditInput struct {
	Source string `json:"source"`
	SHA256 string `json:"sha256"` // of the whole text, in hex
	Agent  string `json:"agent"`
	Status string `json:"status"`
	Error  string `json:"error"` // empty if the report is valid
}

// EventAggregated is the event of every audit record.
const EventAggregated = "review_reports_aggregated"

// AuditOf returns the record of an aggregation.
func AuditOf(o *pipeline.ReviewReportOutcome, reports []Report, t Thresholds) Audit {
	a := Audit{
		Event: EventAggregated, Phase: o.Phase, Place: o.Place, Thresholds: t, Inputs: make([]AuditInput, 0, len(reports)),
		Proceed: o.Proceed, Rationale: o.Rationale, Readiness: o.Readiness,
	}
	for i := range reports {
		r := &reports[i]
		a.Inputs = append(a.Inputs, AuditInput{Source: r.Source, SHA256: r.Digest, Agent: r.Record.Agent, Status: r.Record.Status, Error: r.Record.Error})
	}
	return a
}
