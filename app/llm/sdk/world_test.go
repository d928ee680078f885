package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/app/llm/llmtest"
	"github.com/reviewgate/reviewgate/app/llm/sdk"
	"github.com/reviewgate/reviewgate/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// apis are the protocols. Every test of an answer runs with each of them.
var apis = []string{config.APIAnthropic, config.APIOpenAI}

var verdict = llm.Schema{Name: "verdict", JSON: json.RawMessage(`{
	"type": "object", "additionalProperties": false, "required": ["why", "findings"],
	"properties": {
		"why": {"type": "string", "maxLength": 200, "description": "the reasons, first"},
		"findings": {"type": "array", "maxItems": 50, "items": {
			"type": "object", "additionalProperties": false, "required": ["line", "title"],
			"properties": {"line": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}, "title": {"type": "string", "minLength": 3}}}}
	}}`)}

func question() llm.Question {
	return llm.Question{System: "You review changes to code.", Text: "What is wrong with <a> & \"b\"?", Schema: verdict, MaxTokens: 1000}
}

// world is a server and one model that uses it.
type world struct {
	*testing.T
	server *llmtest.Server
	model  llm.Model
}

func start(t *testing.T, api string, o llmtest.Options, answer func(*llmtest.Request) llmtest.Reply) world {
	t.Helper()
	server := llmtest.Start(t, o, answer)
	return world{T: t, server: server, model: model(t, server.Endpoint(api), server.Key())}
}

// model creates a model whose connections end with the test.
func model(t *testing.T, e config.ModelEndpoint, key string) llm.Model {
	t.Helper()
	wires := transport(t)
	m, err := sdk.NewOver(wires, e, key)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// ask asks with a timeout that nothing here reaches.
func (w world) ask(q llm.Question) (llm.Answer, error) {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return w.model.Ask(ctx, q)
}

// fails asks and returns the error, which must be an *llm.Error.
func (w world) fails(q llm.Question) *llm.Error {
	w.Helper()
	answer, err := w.ask(q)
	if answer != (llm.Answer{}) {
		w.Errorf("an answer came with the error: %+v", answer)
	}
	var e *llm.Error
	if !errors.As(err, &e) {
		w.Fatalf("the error is %v, not an *llm.Error", err)
	}
	return e
}
