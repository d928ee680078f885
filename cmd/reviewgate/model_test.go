package main

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reviewgate/reviewgate/app/llm/llmtest"
	"github.com/reviewgate/reviewgate/config"
)

// startModel starts a language model that answers every question with a file, and
// writes server's settings that name it: model ANSWER SETTINGS. Its key is in
// MODEL_KEY.
func startModel(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: model ANSWER SETTINGS")
	}
	s, err := llmtest.New(llmtest.Options{}, llmtest.Always(llmtest.Text(ts.ReadFile(args[0]))))
	ts.Check(err)
	ts.Defer(func() { ts.Check(s.Close()) })
	e := s.Endpoint(config.APIOpenAI)
	e.KeyEnv, e.InputPrice, e.OutputPrice = "MODEL_KEY", 1, 2
	ts.Setenv("MODEL_KEY", s.Key())
	text, err := json.Marshal(map[string]any{"model_endpoints": []config.ModelEndpoint{e}})
	ts.Check(err)
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[1])), 0o700))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), text, 0o600))
}
