package render

import (
	"fmt"
	"math"
	"path"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// modeText is what a person writes into an entry of config.
func modeText(p pen, mode string) safe { return p.code(fmt.Sprintf(`"mode": %q`, mode), maxName) }

// probation names the rules that reviewgate put in evaluation on its own, and says how a person
// answers.
func (r *report) probation() safe {
	rules := r.r.Report.Probation
	if len(rules) == 0 {
		return ""
	}
	const maxRules = 10
	return say("probation", struct {
		N                       int
		Rules                   []safe
		Enforce, Evaluate, File safe
	}{
		len(rules), first(rules, maxRules, func(id string) safe { return r.p.code(id, maxName) }),
		modeText(r.p, config.ModeEnforce), modeText(r.p, config.ModeEvaluate), r.p.code(path.Join(config.RepositoryDir, config.FileRules), maxPath),
	})
}

// issueSample is a judged finding in an issue.
type issueSample struct {
	Number  int
	Place   safe
	Outcome word
}

// ProbationText returns the text of an issue about a rule or an agent that people judge wrong too
// often. bar is the setting. The patch puts it in evaluation. auto says that reviewgate has already done
// that on its own.
func ProbationText(x *ports.Probation, bar float64, patch pipeline.ConfigPatch, auto bool) IssueText {
	p := markdownPen{}
	data := struct {
		Agent, Auto                                bool
		ID, High, Bar, File, Patch, Apply, Enforce safe
		Judged, Right, People                      int
		Samples                                    []issueSample
	}{
		Agent: x.Kind == ports.ProbationAgent, Auto: auto, ID: p.code(x.ID, maxName), Judged: x.Judged, People: x.People,
		Right: int(math.Round(x.Precision * float64(x.Judged))),
		// Rounded up, so that "less than" stays true.
		High: safe(fmt.Sprintf("%.0f", math.Ceil(x.High*100))), Bar: safe(fmt.Sprintf("%.4g", bar*100)),
		File:  p.code(path.Join(config.RepositoryDir, patch.File), maxPath),
		Patch: p.block("json", patchLines(patch.Operations)), Apply: p.code("reviewgate config apply patch.json --file "+patch.File, maxPath), Enforce: modeText(p, config.ModeEnforce),
	}
	for _, s := range x.Samples {
		one := issueSample{Number: s.Number, Outcome: word(s.Outcome)}
		if s.Path != "" {
			one.Place = p.code(placeOf(s.Path, s.Line), maxPath)
		}
		data.Samples = append(data.Samples, one)
	}
	plain := data
	plain.ID = plainPen{}.text(x.ID, maxName)
	return IssueText{Title: title(say("issue probation title", plain)), About: string(say("md issue probation", data))}
}

func placeOf(file string, line int) string {
	if line == 0 {
		return clipPath(file, maxPath)
	}
	return fmt.Sprintf("%s:%d", clipPath(file, maxPath), line)
}
