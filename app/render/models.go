package render

import (
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// modelsPart is what the models' reviews come to together.
type modelsPart struct {
	Strategy   safe
	Confidence safe // two places
	Label      word
	Decision   word
	Verdicts   []modelVerdict
	More       int // models that are not shown
	A, B       safe
	Merge      *pipeline.ModelsMerge // nil for one model alone
	Did        did
}

type modelVerdict struct {
	Model                  safe
	Spec, Quality, Verdict word
}

// models returns nil where none took part.
func (s sections) models(a Acts) *modelsPart {
	m := s.r.Report.Models
	if m == nil {
		return nil
	}
	const maxModels = 6 // two is what is usual
	out := &modelsPart{
		Strategy:   s.p.text(m.Strategy, maxName),
		Confidence: s.p.text(strconv.FormatFloat(m.Confidence, 'f', 2, 64), maxName),
		Label:      labelWord(m.ConfidenceLabel),
		Decision:   autoDecisionWord(m.AutoDecision),
		More:       max(0, len(m.Verdicts)-maxModels),
		Did:        s.did(a),
	}
	for _, v := range m.Verdicts[:min(len(m.Verdicts), maxModels)] {
		out.Verdicts = append(out.Verdicts, modelVerdict{s.cell(v.Model), verdictWord(v.Spec), verdictWord(v.Quality), verdictWord(v.Verdict)})
	}
	if n := len(m.Verdicts); n > 1 {
		out.A, out.B, out.Merge = s.cell(m.Verdicts[0].Model), s.cell(m.Verdicts[n-1].Model), &m.Merge
	}
	return out
}

// cell is a name in a table. A pipe ends a cell even in code.
func (s sections) cell(name string) safe {
	return s.p.text(strings.ReplaceAll(name, "|", "¦"), maxName)
}

// verdictWord is a verdict. What is none of ours reads as not known.
func verdictWord(v pipeline.Verdict) word {
	switch v {
	case pipeline.VerdictPass, pipeline.VerdictFail, pipeline.VerdictNone:
		return word(v)
	}
	return word(pipeline.VerdictUnknown)
}

// labelWord is how sure the models are, or nothing if it is none of our words:
// it stands in HTML, where no pen could make it safe.
func labelWord(label string) word {
	switch label {
	case "very high", "high", "medium", "low":
		return word(label)
	}
	return ""
}

// autoDecisionWord is what could be decided without a person. What is none of
// ours is left to one.
func autoDecisionWord(d pipeline.AutoDecision) word {
	switch d {
	case pipeline.AutoApprove, pipeline.AutoApproveWithNotes, pipeline.AutoReject:
		return word(d)
	}
	return word(pipeline.AutoHuman)
}
