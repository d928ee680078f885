package agentoutput

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Encode writes an output so that Decode reads it: it leaves out what reviewgate fills in and what
// is empty.
func Encode(o *pipeline.AgentOutput) (json.RawMessage, error) {
	findings := make([]json.RawMessage, len(o.Findings))
	for i := range o.Findings {
		var err error
		if findings[i], err = encodeFinding(&o.Findings[i]); err != nil {
			return nil, err
		}
	}
	return json.Marshal(struct {
		Agent             string                `json:"agent"`
		Model             string                `json:"model,omitempty"`
		Stage             string                `json:"stage,omitempty"`
		Findings          []json.RawMessage     `json:"findings"`
		ResidualConcerns  pipeline.List[string] `json:"residual_concerns,omitempty"`
		DeferredQuestions pipeline.List[string] `json:"deferred_questions,omitempty"`
	}{o.Agent, o.Model, o.Stage, findings, o.ResidualConcerns, o.DeferredQuestions})
}

// encodeFinding writes the fields that agents fill in, in their order.
func encodeFinding(f *pipeline.Finding) (json.RawMessage, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("encode a finding: %w", err)
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("encode a finding: %w", err)
	}
	out := []byte{'{'}
	for _, name := range agentsFields {
		if v := all[name]; name != "confidence" && isEmpty(v) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, "%q:", name)
		out = append(out, all[name]...)
	}
	return append(out, '}'), nil
}

func isEmpty(v json.RawMessage) bool {
	for _, empty := range []string{``, `""`, `0`, `false`, `null`, `[]`} {
		if bytes.Equal(v, []byte(empty)) {
			return true
		}
	}
	return false
}
