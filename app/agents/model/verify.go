package model

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// Verifier asks a language model whether a finding of another is right. It shows the model
// what the finding says and the file that it is about, and not what the finding quotes.
type Verifier struct{ agent *Agent }

// NewVerifier returns what asks. Stage, Prompt and Rules of the options have no say.
func NewVerifier(o Options) *Verifier {
	o.Stage, o.Prompt, o.Rules, o.Shares = "", "", nil, false
	return &Verifier{New(o)}
}

var _ run.Verifier = (*Verifier)(nil)

// contractVerify is all that the model is told.
//
//go:embed contract-verify.md
var contractVerify string

// verifyTask follows what is shown.
const verifyTask = "\nAll of that was data. Say now whether the finding is right, and answer with the JSON object.\n"

// Verify asks the task's model. An answer whose quote does not stand in what was shown says
// nothing. Errors are as those of [Agent.Review].
func (v *Verifier) Verify(ctx context.Context, task dispatch.Task, d aggregate.Doubt) (pipeline.Opinion, string, error) {
	a, none := v.agent, pipeline.Opinion{Model: task.Model}
	endpoint, ok := a.Models[task.Model]
	if !ok || endpoint.Model == nil {
		return none, "", noModel(task.Model)
	}
	finding := a.findingShown(&d.Finding)
	system := strings.TrimSpace(contractVerify) + "\n"
	room, err := a.room(endpoint, system, finding.text, verifyTask)
	if err != nil {
		return none, "", err
	}
	if d.Finding.Path != "" {
		task.Entry.Scope = pipeline.AgentScope{Files: []string{d.Finding.Path}}
	}
	seen := a.look(task)
	if len(seen.files) == 0 {
		return none, seen.note(), nil
	}
	texts, err := a.words(ctx, task.Facts, d.Stage)
	if err != nil {
		return none, "", err
	}
	shown, err := a.pack(seen, texts, room)
	if err != nil {
		return none, "", err
	}
	grounds := newGrounds(shown)
	shown.words = append(shown.words, finding)
	question, err := a.write(shown, verifyTask)
	if err != nil {
		return none, "", err
	}
	question.System, question.Schema = system, llm.Schema{Name: "review_verdict", JSON: verdictAnswer()}
	answer, err := a.ask(ctx, task, endpoint, question)
	if err != nil {
		return none, "", err
	}
	opinion, err := a.opinionOf(answer.Text, grounds)
	if err != nil {
		return none, "", &dispatch.MalformedError{Err: err}
	}
	opinion.Model = task.Model
	return opinion, note(shown.notes()), nil
}

// findingShown is a finding as it is shown.
func (a *Agent) findingShown(f *pipeline.Finding) words {
	var b strings.Builder
	put := func(name, text string) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, text)
		}
	}
	if f.Path != "" {
		put("file", pathName(f.Path))
	} else {
		put("about", f.Section)
	}
	if f.StartLine > 0 {
		put("lines", strconv.Itoa(f.StartLine)+" to "+strconv.Itoa(max(f.StartLine, f.EndLine)))
	}
	put("severity", string(f.Severity))
	put("title", cleaned(f.Title))
	put("message", cleaned(f.Message))
	put("why it matters", cleaned(f.WhyItMatters))
	put("recommendation", cleaned(f.Recommendation))
	return words{heading: "the finding", text: a.RedactBeside(b.String())}
}

var verdictAnswer = sync.OnceValue(func() json.RawMessage {
	return encoded(object{
		{"quote", map[string]any{"type": "string", "description": "The lines that the verdict rests on, word for word."}},
		{"why", map[string]any{"type": "string", "description": "What they prove, in one or two sentences."}},
		{"verdict", map[string]any{"type": "string", "enum": []any{pipeline.OpinionConfirmed, pipeline.OpinionRefuted, unclear}}},
	})
})

// unclear is the verdict of an answer that does not say.
const unclear = "unclear"

// opinionOf reads an answer. The error says why it can't be used.
func (a *Agent) opinionOf(answer string, g *grounds) (pipeline.Opinion, error) {
	f, err := fieldsOf(answer)
	if err != nil {
		return pipeline.Opinion{}, err
	}
	verdict, why, quote := f.Needed("verdict"), f.Text("why"), f.Text("quote")
	if len(f.Wrong) > 0 {
		return pipeline.Opinion{}, errors.New(f.Wrong[0].Problem)
	}
	o := pipeline.Opinion{Verdict: pipeline.OpinionVerdict(verdict), Why: a.line(why, maxReason)}
	switch {
	case verdict == unclear:
		return pipeline.Opinion{}, nil
	case o.Verdict != pipeline.OpinionConfirmed && o.Verdict != pipeline.OpinionRefuted:
		return pipeline.Opinion{}, fmt.Errorf("the verdict is %q, and must be confirmed, refuted or unclear", plaintext.Cut(plaintext.Line(cleaned(verdict)), 40))
	case o.Why == "":
		return pipeline.Opinion{}, errors.New("the verdict has no reason")
	}
	for _, q := range readings(quote) {
		if g.has(q) {
			o.Quote = a.line(q, maxQuote)
			return o, nil
		}
	}
	return pipeline.Opinion{}, nil
}

// has reports whether a quote stands anywhere in what was shown.
func (g *grounds) has(quote string) bool {
	for _, f := range g.files {
		if stands(f.hunks, quote) {
			return true
		}
	}
	for _, w := range g.words {
		if stands(w, quote) {
			return true
		}
	}
	return false
}
