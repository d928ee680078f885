package sdk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/app/llm/llmtest"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

func transport(t *testing.T) *http.Transport {
	wires := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(wires.CloseIdleConnections)
	return wires
}

func TestAsk(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			text := `{"why": "größer, ` + strings.Repeat("and so on ", 200) + `", "findings": []}`
			w := start(t, api, llmtest.Options{}, llmtest.Always(llmtest.Text(text).Took(llm.Use{Input: 900, Cached: 600, Output: 40})))
			answer, err := w.ask(question())
			if err != nil {
				t.Fatal(err)
			}
			if answer.Text != text {
				t.Errorf("the text is %q", answer.Text)
			}
			if want := (llm.Use{Input: 900, Cached: 600, Output: 40}); answer.Use != want {
				t.Errorf("the use is %+v, not %+v", answer.Use, want)
			}
			r := w.server.Requests()[0]
			q := question()
			if r.Model != "stand-in" || r.System != q.System || r.Text != q.Text || r.MaxTokens != q.MaxTokens || r.Format != "json_schema" {
				t.Errorf("the question was %+v", r)
			}
			if api == config.APIAnthropic && (!r.Stream || !r.Caches) {
				t.Error("the question was not streamed, or its beginning was not marked for the cache")
			}
			if api == config.APIOpenAI && (r.Limit != "max_completion_tokens" || r.Name != "verdict") {
				t.Errorf("the name of the limit was %s, and that of the schema %s", r.Limit, r.Name)
			}
		})
	}
}

// The schema is sent with its order of fields, and without keywords that APIs refuse.
func TestSchema(t *testing.T) {
	for _, api := range apis {
		w := start(t, api, llmtest.Options{}, llmtest.Always(llmtest.Text("{}")))
		if _, err := w.ask(question()); err != nil {
			t.Fatalf("%s: %v", api, err)
		}
		var sent struct {
			Properties json.RawMessage `json:"properties"`
		}
		if err := json.Unmarshal(w.server.Requests()[0].Schema, &sent); err != nil {
			t.Fatal(err)
		}
		want := `{"why":{"type":"string","description":"the reasons, first"},"findings":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["line","title"],"properties":{"line":{"anyOf":[{"type":"integer"},{"type":"null"}]},"title":{"type":"string"}}}}}`
		if string(sent.Properties) != want {
			t.Errorf("%s: the schema's properties are\n%s, not\n%s", api, sent.Properties, want)
		}
	}
}

// Questions that every API refuses are detected before they are sent.
func TestInvalidQuestions(t *testing.T) {
	for name, spoil := range map[string]func(*llm.Question){
		"no text":            func(q *llm.Question) { q.Text = "" },
		"no tokens":          func(q *llm.Question) { q.MaxTokens = 0 },
		"no schema":          func(q *llm.Question) { q.Schema.JSON = nil },
		"schema of a string": func(q *llm.Question) { q.Schema.JSON = json.RawMessage(`{"type": "string"}`) },
		"name":               func(q *llm.Question) { q.Schema.Name = "a b" },
		"open object":        func(q *llm.Question) { q.Schema.JSON = json.RawMessage(`{"type":"object","properties":{}}`) },
		"optional": func(q *llm.Question) {
			q.Schema.JSON = json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"a":{"type":"string"}}}`)
		},
		"optional, deep": func(q *llm.Question) {
			q.Schema.JSON = json.RawMessage(`{"type":"object","additionalProperties":false,"required":["a"],"properties":{"a":{"type":"array","items":{"anyOf":[{"type":"object","additionalProperties":false,"properties":{"b":{}}}]}}}}`)
		},
		"too deep": func(q *llm.Question) {
			q.Schema.JSON = json.RawMessage(`{"type":"object","items":` + strings.Repeat(`{"items":`, 40) + "{}" + strings.Repeat("}", 41))
		},
	} {
		for _, api := range apis {
			w := start(t, api, llmtest.Options{}, llmtest.Always(llmtest.Text("{}")))
			q := question()
			spoil(&q)
			if e := w.fails(q); e.Kind != llm.Invalid {
				t.Errorf("%s, %s: %v", name, api, e)
			}
			if sent := w.server.Sent(); len(sent) > 0 {
				t.Errorf("%s, %s: the question was sent: %q", name, api, sent)
			}
		}
	}
}

// Thinking is not part of an answer, and several text blocks are joined.
func TestBlocks(t *testing.T) {
	w := start(t, config.APIAnthropic, llmtest.Options{}, func(r *llmtest.Request) llmtest.Reply {
		if r.N == 1 {
			return llmtest.Blocks(llmtest.Block{Type: "thinking", Text: "Let me see. It says {"}, llmtest.Block{Type: "text", Text: `{"why":`}, llmtest.Block{Type: "text", Text: `"both"}`})
		}
		return llmtest.Blocks(llmtest.Block{Type: "text", Text: "{}"}, llmtest.Block{Type: "tool_use", Text: "shell"})
	})
	answer, err := w.ask(question())
	if err != nil || answer.Text != `{"why":"both"}` {
		t.Errorf("%q, %v", answer.Text, err)
	}
	if e := w.fails(question()); e.Kind != llm.Malformed {
		t.Errorf("a call of a tool gave: %v", e)
	}
}

// The cached part of a question is reported when it is asked the second time.
func TestCached(t *testing.T) {
	for _, api := range apis {
		w := start(t, api, llmtest.Options{}, llmtest.Always(llmtest.Text("{}")))
		first, err := w.ask(question())
		if err != nil {
			t.Fatal(err)
		}
		second, err := w.ask(question())
		if err != nil {
			t.Fatal(err)
		}
		if first.Use.Cached != 0 || second.Use.Cached == 0 || second.Use.Input != first.Use.Input {
			t.Errorf("%s: the use is %+v, then %+v", api, first.Use, second.Use)
		}
		if stored := first.Use.Stored > 0; stored != (api == config.APIAnthropic) || second.Use.Stored != 0 {
			t.Errorf("%s: the stored part is wrong: %+v, then %+v", api, first.Use, second.Use)
		}
	}
}

// The shared part of questions is cached as well, and a model reports when an answer starts.
func TestShared(t *testing.T) {
	for _, api := range apis {
		w := start(t, api, llmtest.Options{}, llmtest.Always(llmtest.Text("{}")))
		begun := 0
		q := question()
		q.Shared = strings.Repeat("The change.\n", 100)
		q.Begun = func() { begun++ }
		first, err := w.ask(q)
		if err != nil {
			t.Fatal(err)
		}
		q.Text = "Another task."
		second, err := w.ask(q)
		if err != nil {
			t.Fatal(err)
		}
		r := w.server.Requests()[1]
		if r.Text != q.Shared+q.Text {
			t.Errorf("%s: the server got %q", api, r.Text)
		}
		if api == config.APIOpenAI {
			continue // this API chooses what it caches, and reports nothing before its answer
		}
		if r.Shared != q.Shared || first.Use.Stored < len(q.Shared)/4 || second.Use.Cached < len(q.Shared)/4 || second.Use.Stored != 0 {
			t.Errorf("the cached part was %.20q, and the use is %+v, then %+v", r.Shared, first.Use, second.Use)
		}
		if begun != 2 {
			t.Errorf("%d answers started", begun)
		}
	}
}

// Impossible counts are ignored, so that budgets never grow.
func TestCounts(t *testing.T) {
	for _, api := range apis {
		w := start(t, api, llmtest.Options{}, llmtest.Always(llmtest.Text("{}").Took(llm.Use{Input: -5, Cached: 7, Stored: 1 << 60, Output: 1 << 60})))
		answer, err := w.ask(question())
		if err != nil {
			t.Fatal(err)
		}
		u := answer.Use
		if u.Input < 0 || u.Cached+u.Stored > u.Input || u.Cached < 0 || u.Stored < 0 || u.Output < 0 || u.Output > 1<<30 || u.Total() < 0 {
			t.Errorf("%s: the use is %+v", api, u)
		}
	}
}

// A long answer is read like any other, although the SDK alone would refuse to wait for it.
func TestLongAnswer(t *testing.T) {
	text := `{"why": "` + strings.Repeat("long ", sample.Size(20_000, 100_000)) + `"}`
	for _, api := range apis {
		w := start(t, api, llmtest.Options{}, llmtest.Always(llmtest.Text(text)))
		q := question()
		q.MaxTokens = 128_000
		answer, err := w.ask(q)
		if err != nil || answer.Text != text {
			t.Errorf("%s: %d bytes, %v", api, len(answer.Text), err)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	for _, api := range apis {
		w := start(t, api, llmtest.Options{Lacks: []string{"json_schema", "max_completion_tokens", "output_config"}}, func(r *llmtest.Request) llmtest.Reply {
			return llmtest.Text(fmt.Sprintf(`{"why": %q}`, r.Text))
		})
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				q := question()
				q.Text = fmt.Sprint("question ", i)
				answer, err := w.ask(q)
				if err != nil || answer.Text != fmt.Sprintf(`{"why": %q}`, q.Text) {
					t.Errorf("%s: %q, %v", api, answer.Text, err)
				}
			})
		}
		wg.Wait()
	}
}

// The context limits the time, whenever it ends.
func TestTime(t *testing.T) {
	for _, api := range apis {
		for name, reply := range map[string]llmtest.Reply{
			"before the answer": llmtest.Slow(),
			"drop by drop":      llmtest.Dripping(),
			"in its middle":     llmtest.Stalled(llmtest.Text(strings.Repeat("slow ", 100))),
		} {
			w := start(t, api, llmtest.Options{}, llmtest.Always(reply))
			ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
			_, err := w.model.Ask(ctx, question())
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s, %s: %v", api, name, err)
			}
			ctx, cancel = context.WithCancel(context.Background())
			time.AfterFunc(50*time.Millisecond, cancel)
			if _, err := w.model.Ask(ctx, question()); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %s: %v", api, name, err)
			}
			cancel()
		}
	}
}

// The question's bytes arrive unchanged, whatever they are.
func TestBytes(t *testing.T) {
	q := question()
	q.Text = "a\x00b\u202ec </diff> \u2028 \"}] 🎉 \\u0041 \r\n"
	for _, api := range apis {
		w := start(t, api, llmtest.Options{}, llmtest.Always(llmtest.Text("{}")))
		if _, err := w.ask(q); err != nil {
			t.Fatal(err)
		}
		if got := w.server.Requests()[0].Text; got != q.Text {
			t.Errorf("%s: the server got %q, not %q", api, got, q.Text)
		}
		if !bytes.Contains(w.server.Sent(), []byte("🎉")) {
			t.Errorf("%s: the request is not recorded", api)
		}
	}
}
