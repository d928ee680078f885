package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// scripted is a model that gives one answer, and records its questions.
type scripted struct {
	answer string
	use    llm.Use
	err    error

	mu    sync.Mutex
	asked []llm.Question
}

func (s *scripted) Ask(_ context.Context, q llm.Question) (llm.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, q)
	if s.err != nil {
		return llm.Answer{}, s.err
	}
	return llm.Answer{Text: s.answer, Use: s.use}, nil
}

const (
	modelName = "b"
	none      = `{"findings": []}`
)

// testCode is the code of every question in a test.
var testCode = strings.Repeat("c0de5", 4)

// testOptions are the options of an agent of the quality stage with one model.
func testOptions(m *scripted) Options {
	if m.answer == "" {
		m.answer = none
	}
	code, _ := hex.DecodeString(testCode)
	return Options{
		Stage: pipeline.ReviewStageQuality, Prompt: "Look at it.", Needs: Needs{Redact: func(s string) string { return s }},
		Rules: []config.Rule{
			{ID: "rule-1", Severity: "major", Name: "Nothing is divided by zero.", Detection: "Divisions."},
			{ID: "rule-2", Severity: "info", Name: "Names are words", Detection: "Names"},
		},
		Models: map[string]Endpoint{modelName: {Model: m, ModelEndpoint: config.ModelEndpoint{Name: modelName}}},
		Random: bytes.NewReader(bytes.Repeat(code, 100)),
	}
}

// testTask is a task about all files of a change.
func testTask(facts *pipeline.PRFacts) dispatch.Task {
	return dispatch.Task{
		Entry: pipeline.ManifestEntry{Agent: "reviewer", Scope: pipeline.AgentScope{All: true}},
		Model: modelName, Facts: facts, Classification: &pipeline.Classification{},
	}
}

// changed is a modified file whose hunk starts at line 10. Each line has its sign.
func changed(path string, lines ...string) pipeline.File {
	f := pipeline.File{Path: path, Status: pipeline.FileModified}
	h := pipeline.Hunk{OldStart: 10, NewStart: 10}
	for _, l := range lines {
		text := pipeline.Line{Op: pipeline.LineOp(l[:1]), Text: l[1:]}
		if text.Op != pipeline.LineAdded {
			text.Old = h.OldStart + h.OldLines
			h.OldLines++
		} else {
			f.Additions++
		}
		if text.Op != pipeline.LineRemoved {
			text.New = h.NewStart + h.NewLines
			h.NewLines++
		} else {
			f.Deletions++
		}
		h.Lines = append(h.Lines, text)
	}
	f.Hunks = pipeline.List[pipeline.Hunk]{h}
	return f
}

func change(files ...pipeline.File) *pipeline.PRFacts {
	return &pipeline.PRFacts{Title: "A title", Body: "A description", Files: files}
}

// shop is a change of two files with a defect.
func shop() *pipeline.PRFacts {
	return change(
		changed("shop/cart.go",
			" func (c *Cart) Average() int {",
			"-	if len(c.items) == 0 {",
			"-		return 0",
			"-	}",
			" 	total := c.total()",
			"+	return total / len(c.items)",
			" }",
			" ",
			"+func (c *Cart) Empty() bool { return len(c.items) == 0 }"),
		changed("shop/cart_test.go", "+func TestAverage(t *testing.T) {", "+}"),
	)
}

// finding is a model's complete finding about the defect in shop, with changes.
func finding(with map[string]any) string {
	f := map[string]any{
		"title": "The average of an empty cart divides by zero", "severity": "major", "confidence": 0.9,
		"path": "shop/cart.go", "start_line": 12, "end_line": 12, "evidence": []string{"return total / len(c.items)"},
		"message": "An empty cart panics.", "why_it_matters": "The page is lost.", "recommendation": "Return 0 first.",
		"suggested_fix": "", "action": "change", "finding_type": "error", "rule_id": "rule-1", "category": "unhandled-case",
	}
	for k, v := range with {
		f[k] = v
	}
	text, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func answerOf(findings ...string) string {
	return fmt.Sprintf(`{"findings": [%s]}`, strings.Join(findings, ","))
}

// ask reviews a task and returns the one question that was asked.
func ask(t *testing.T, o Options, task dispatch.Task) (q llm.Question, out pipeline.AgentOutput, note string) {
	t.Helper()
	m := o.Models[cmp.Or(task.Model, modelName)].Model.(*scripted)
	before := len(m.asked)
	answer, err := New(o).Review(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.asked) != before+1 {
		t.Fatalf("asked %d questions, want 1", len(m.asked)-before)
	}
	return m.asked[before], answer.Output, answer.Note
}
