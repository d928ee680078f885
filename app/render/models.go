package render

import (
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// modelsPart is the combined result of the models' reviews.
type modelsPart struct {
	Strategy   safe
	Confidence safe // two places
	Label      word
	Decision   word
	Verdicts   []modelVerdict
	More       int // models that are not shown
	Stages     []modelsStage
	Asked      int // questions
	Costs      []safe
	Acts       actsTaken
}

type modelVerdict struct {
	Model                  safe
	Spec, Quality, Verdict word
}

// models returns nil if no model took part.
func (s sections) models(a Acts) *modelsPart {
	m := s.r.Report.Models
	if m == nil {
		return nil
	}
	const maxModels = 6 // two are usual
	out := &modelsPart{
		Strategy:   s.p.text(m.Strategy, maxName),
		Confidence: s.p.text(strconv.FormatFloat(m.Confidence, 'f', 2, 64), maxName),
		Label:      labelWord(m.ConfidenceLabel),
		Decision:   autoDecisionWord(m.AutoDecision),
		More:       max(0, len(m.Verdicts)-maxModels),
		Acts:       s.actsTaken(a),
	}
	for _, v := range m.Verdicts[:min(len(m.Verdicts), maxModels)] {
		out.Verdicts = append(out.Verdicts, modelVerdict{s.cell(v.Model), verdictWord(v.Spec), verdictWord(v.Quality), verdictWord(v.Verdict)})
	}
	out.Asked, out.Costs = s.costs()
	for i := range m.Stages {
		out.Stages = append(out.Stages, s.modelsStage(m, &m.Stages[i]))
	}
	return out
}

// costs returns the number of questions to models, and their cost by stage.
func (s sections) costs() (asked int, costs []safe) {
	type cost struct {
		Of                    safe
		Stage                 bool
		Input, Cached, Output int
		USD                   safe
	}
	var list []*cost
	by, usd := map[string]*cost{}, map[*cost]float64{}
	for _, u := range s.use {
		of, stage := u.Agent, false
		if e := s.r.Manifest.Entry(u.Agent); e != nil && e.Stage != "" {
			of, stage = e.Stage, true
		}
		c := by[of]
		if c == nil {
			c = &cost{Of: s.p.text(of, maxName), Stage: stage}
			by[of] = c
			list = append(list, c)
		}
		asked += u.Asked
		c.Input, c.Cached, c.Output = c.Input+u.Input, c.Cached+u.Cached, c.Output+u.Output
		usd[c] += u.CostUSD
	}
	const maxCosts = 6
	for _, c := range list[:min(len(list), maxCosts)] {
		if usd[c] > 0 {
			c.USD = s.p.text(strconv.FormatFloat(usd[c], 'f', 3, 64), maxName)
		}
		costs = append(costs, say("models cost", *c))
	}
	return asked, costs
}

// modelsStage counts the findings of models in a stage, by model.
type modelsStage struct {
	Stage word
	Rows  []modelsRow // empty if there are no findings
	Lines []safe      // the rows in words
	// Unknown says that no model finished, so an empty list means nothing. Elsewhere says
	// that a model failed the stage because of findings which another stage counts.
	Unknown, Elsewhere bool
}

type modelsRow struct {
	Category word
	Model    safe
	Only     bool // other models did not find them
	Count    int
	Worst    word
	Action   word
}

func (s sections) modelsStage(m *pipeline.ModelsReport, stage *pipeline.ModelsStage) modelsStage {
	out := modelsStage{Stage: pipeline.ReviewStageQuality}
	if stage.Stage == pipeline.ReviewStageSpec {
		out.Stage = pipeline.ReviewStageSpec
	}
	out.Unknown = true
	for _, v := range m.Verdicts {
		of := v.Quality
		if stage.Stage == pipeline.ReviewStageSpec {
			of = v.Spec
		}
		out.Unknown = out.Unknown && of != pipeline.VerdictPass && of != pipeline.VerdictFail
		out.Elsewhere = out.Elsewhere || of == pipeline.VerdictFail
	}
	last := len(m.Verdicts) - 1
	any := false
	for _, c := range stage.Categories {
		row := modelsRow{Only: last > 0, Count: c.Count}
		switch c.Category {
		case pipeline.ModelsAOnly:
			row.Category, row.Model = pipeline.ModelsAOnly, s.cell(m.Verdicts[0].Model)
		case pipeline.ModelsBOnly:
			row.Category, row.Model = pipeline.ModelsBOnly, s.cell(m.Verdicts[max(0, last)].Model)
		case pipeline.ModelsAgreed, pipeline.ModelsContradictions:
			row.Category = word(c.Category)
		default:
			continue
		}
		if last <= 0 && c.Category != pipeline.ModelsAOnly {
			continue // one model has nobody to agree with
		}
		if c.Count > 0 {
			any = true
			row.Worst, row.Action = word(pipeline.SeverityMajor), modelsAction(c.Action)
			if c.Worst.Valid() {
				row.Worst = word(c.Worst)
			}
		}
		out.Rows = append(out.Rows, row)
		out.Lines = append(out.Lines, say("models row", row))
	}
	if !any {
		out.Rows, out.Lines = nil, nil
	}
	return out
}

// modelsAction returns the effect of findings on the gate. An unknown action blocks.
func modelsAction(a pipeline.ModelsAction) word {
	switch a {
	case pipeline.ModelsHolds, pipeline.ModelsNoted:
		return word(a)
	}
	return word(pipeline.ModelsBlocks)
}

// cell returns a name for a table. It replaces pipes, because a pipe ends a cell even in
// code.
func (s sections) cell(name string) safe {
	return s.p.text(strings.ReplaceAll(name, "|", "¦"), maxName)
}

// verdictWord returns a verdict, or VerdictUnknown for anything else.
func verdictWord(v pipeline.Verdict) word {
	switch v {
	case pipeline.VerdictPass, pipeline.VerdictFail, pipeline.VerdictNone:
		return word(v)
	}
	return word(pipeline.VerdictUnknown)
}

// labelWord returns how sure the models are, or "" for an unknown label. The word stands in
// HTML, for which there is no pen.
func labelWord(label string) word {
	switch label {
	case "very high", "high", "medium", "low":
		return word(label)
	}
	return ""
}

// autoDecisionWord returns the decision that is possible without a person. A person takes
// an unknown decision.
func autoDecisionWord(d pipeline.AutoDecision) word {
	switch d {
	case pipeline.AutoApprove, pipeline.AutoApproveWithNotes, pipeline.AutoReject:
		return word(d)
	}
	return word(pipeline.AutoHuman)
}
