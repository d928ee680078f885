package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reviewgate/reviewgate/app/llm/llmtest"
	"github.com/reviewgate/reviewgate/config"
)

// startModel starts one language model for each ANSWER file, which it gives as the answer to
// every question. It writes a server's SETTINGS that name the models: model ANSWER... SETTINGS.
// Their keys are in MODEL_KEY, MODEL_KEY_2 and so on.
func startModel(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: model ANSWER... SETTINGS")
	}
	var endpoints []config.ModelEndpoint
	answers, settings := args[:len(args)-1], ts.MkAbs(args[len(args)-1])
	for i, answer := range answers {
		s, err := llmtest.New(llmtest.Options{}, llmtest.Always(llmtest.Text(ts.ReadFile(answer))))
		ts.Check(err)
		ts.Defer(func() { ts.Check(s.Close()) })
		e := s.Endpoint(config.APIOpenAI)
		e.KeyEnv, e.InputPrice, e.OutputPrice = "MODEL_KEY", 1, 2
		if i > 0 {
			e.Name, e.KeyEnv = fmt.Sprintf("%s-%d", e.Name, i+1), fmt.Sprintf("MODEL_KEY_%d", i+1)
		}
		ts.Setenv(e.KeyEnv, s.Key())
		endpoints = append(endpoints, e)
	}
	text, err := json.Marshal(map[string]any{"model_endpoints": endpoints})
	ts.Check(err)
	ts.Check(os.MkdirAll(filepath.Dir(settings), 0o700))
	ts.Check(os.WriteFile(settings, text, 0o600))
}
