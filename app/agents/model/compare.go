package model

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// Comparer asks a language model which findings at one place are about one thing. It shows
// the model what the reviewers say, and no line of the change, in which the author could
// have written words for it.
type Comparer struct{ agent *Agent }

// NewComparer returns what asks. Stage, Prompt, Rules, Issues and Risk of the options have
// no say.
func NewComparer(o Options) *Comparer {
	o.Stage, o.Prompt, o.Rules, o.Issues, o.Risk = pipeline.ReviewStageQuality, "", nil, nil, nil
	return &Comparer{New(o)}
}

var _ run.Comparer = (*Comparer)(nil)

// contractCompare is all that the model is told.
//
//go:embed contract-compare.md
var contractCompare string

// maxCompared bounds the entries of an answer that are looked at. The question has forty.
const maxCompared = 200

// Characters of a finding that are shown for the comparison.
const (
	maxComparedTitle   = 200
	maxComparedMessage = 700
)

// Compare asks the task's model. Errors are as those of [Agent.Review]. Of a pair
// that the answer leaves out nothing is known.
func (c *Comparer) Compare(ctx context.Context, task dispatch.Task, pairs []aggregate.Pair) ([]pipeline.Comparison, string, error) {
	a := c.agent
	endpoint, ok := a.Models[task.Model]
	if !ok || endpoint.Model == nil {
		return nil, "", noModel(task.Model)
	}
	system := strings.TrimSpace(contractCompare) + "\n"
	room, err := a.room(endpoint, system)
	if err != nil {
		return nil, "", err
	}
	text, shown := a.pairs(pairs, room)
	answer, err := a.ask(ctx, task, endpoint, llm.Question{System: system, Text: text, Schema: comparisonSchema()})
	if err != nil {
		return nil, "", err
	}
	out, err := comparisons(answer.Text, pairs[:shown])
	if err != nil {
		return nil, "", &dispatch.MalformedError{Err: err}
	}
	note := ""
	if left := len(pairs) - len(out); left > 0 {
		note = fmt.Sprintf("compared %d of %s", len(out), count(len(pairs), "pair", "pairs"))
	}
	return out, note, nil
}

// comparedPair is a pair as it is shown.
type comparedPair struct {
	Pair  int             `json:"pair"`
	Place string          `json:"place"`
	One   comparedFinding `json:"one"`
	Other comparedFinding `json:"other"`
}

type comparedFinding struct {
	Lines   string `json:"lines,omitempty"`
	Title   string `json:"title"`
	Message string `json:"message"`
}

// pairs writes as many pairs as there is room for, in tokens, and returns how many.
func (a *Agent) pairs(pairs []aggregate.Pair, room int) (text string, shown int) {
	var b strings.Builder
	b.WriteString("The pairs, as data:\n")
	for i := range pairs {
		p := &pairs[i]
		place := p.One.Path
		if place == "" {
			place = p.One.Section
		}
		line := string(encoded(comparedPair{
			Pair: i + 1, Place: a.RedactBeside(plaintext.Cut(pathName(place), 200)), One: a.compared(&p.One), Other: a.compared(&p.Other),
		})) + "\n"
		if room -= Tokens(line); room < 0 {
			break
		}
		b.WriteString(line)
		shown++
	}
	return b.String(), shown
}

func (a *Agent) compared(f *pipeline.Finding) comparedFinding {
	out := comparedFinding{Title: a.RedactBeside(plaintext.Cut(plaintext.Line(cleaned(f.Title)), maxComparedTitle)), Message: a.RedactBeside(plaintext.Cut(plaintext.Line(cleaned(f.Message)), maxComparedMessage))}
	if f.StartLine > 0 {
		out.Lines = fmt.Sprintf("%d to %d", f.StartLine, f.EndLine)
	}
	return out
}

func comparisonSchema() llm.Schema {
	return llm.Schema{Name: "review_comparisons", JSON: comparisonAnswer()}
}

var comparisonAnswer = sync.OnceValue(func() json.RawMessage {
	return encoded(object{{"pairs", map[string]any{"type": "array", "items": object{
		{"pair", map[string]any{"type": "integer", "description": "The number of the pair."}},
		{"one", map[string]any{"type": "string", "description": "The defect that the first names, in at most ten words."}},
		{"other", map[string]any{"type": "string", "description": "The defect that the second names, in at most ten words."}},
		{"same", map[string]any{"type": "boolean", "description": "Whether they are the same defect."}},
	}}}})
})

// comparisons reads an answer. The error says why it can't be used. A pair about which it
// says two things is left out.
func comparisons(answer string, pairs []aggregate.Pair) ([]pipeline.Comparison, error) {
	list, err := entriesOf(answer, "pairs")
	if err != nil {
		return nil, err
	}
	verdicts := map[int]bool{}
	contradicted := map[int]bool{}
	for i, n := range list {
		if i == maxCompared {
			break
		}
		f := jsontree.FieldsOf(n, "a pair")
		number, same := f.Count("pair", maxNumber), f.Bool("same")
		if len(f.Wrong) > 0 || n.Get("same") == nil || number < 1 || number > len(pairs) {
			continue
		}
		if before, ok := verdicts[number]; ok && before != same {
			contradicted[number] = true
		}
		verdicts[number] = same
	}
	var out []pipeline.Comparison
	for i := range pairs {
		if same, ok := verdicts[i+1]; ok && !contradicted[i+1] {
			out = append(out, pipeline.Comparison{One: pairs[i].OneKey, Other: pairs[i].OtherKey, Same: same})
		}
	}
	if len(out) == 0 && len(pairs) > 0 {
		return nil, fmt.Errorf("it says nothing of %s", count(len(pairs), "pair", "pairs"))
	}
	return out, nil
}
