package apptest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/agents/model"
	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/app/llm/llmtest"
	"github.com/reviewgate/reviewgate/config"
)

// Dial connects the App of every world, and every child, to language models. Packages with
// tests of models set it to sdk.New in TestMain. Elsewhere models can be configured but do
// not answer, and the test binaries do not link the models' SDKs.
var Dial model.Dial = func(config.ModelEndpoint, string) (llm.Model, error) { return mute{}, nil }

// mute is a model that fails at every question.
type mute struct{}

func (mute) Ask(context.Context, llm.Question) (llm.Answer, error) {
	return llm.Answer{}, errors.New("apptest.Dial is not set")
}

// ShippedModelsOff switches off the policies by which shipped agents would ask models.
const ShippedModelsOff = `{"id": "spec-llm", "enabled": false}, {"id": "universal-llm", "enabled": false},
	{"id": "finance-llm", "enabled": false}, {"id": "ui-llm", "enabled": false}, `

// WithModels makes the App ask two models as a spec reviewer and as a quality reviewer: small
// by OpenAI's API and big by Anthropic's. settings, a JSON object, adds to the server's
// settings.
func WithModels(t *testing.T, settings string, answer func(*llmtest.Request) llmtest.Reply) (*llmtest.Server, func(*World)) {
	models := llmtest.Start(t, llmtest.Options{Models: []string{"small-1", "big-1"}}, answer)
	small, big := models.Endpoint(config.APIOpenAI), models.Endpoint(config.APIAnthropic)
	small.Name, small.KeyEnv = "small", "MODELS_KEY"
	big.Name, big.KeyEnv, big.Model = "big", "MODELS_KEY", "big-1"
	small.InputPrice, small.OutputPrice, big.InputPrice, big.OutputPrice = 1, 2, 3, 15
	all := map[string]any{}
	if err := json.Unmarshal([]byte(settings), &all); err != nil {
		t.Fatal(err)
	}
	all["model_endpoints"] = []config.ModelEndpoint{small, big}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return models, func(w *World) {
		w.Keys = map[string]string{"MODELS_KEY": models.Key()}
		w.Server = config.Layer{Name: config.LayerServer, Source: "/etc/reviewgate", Files: []config.File{
			{Path: config.FileSettings, Text: text},
			{Path: config.FileAgents, Text: []byte(`[
				{"id": "asks-spec", "name": "Spec", "kind": "llm", "description": "d", "llm": {"stage": "spec", "prompt": "spec-reviewer"}},
				{"id": "asks-quality", "name": "Quality", "kind": "llm", "description": "d", "llm": {"prompt": "build-reviewer", "checklist": ["build-reviewer"]}}]`)},
			{Path: config.FileComposition, Text: []byte(`[` + ShippedModelsOff + `{"id": "asked", "description": "d", "priority": 10, "trigger": {"type": "always"},
				"dispatch": {"agents": ["asks-spec", "asks-quality"]}}]`)},
		}}
	}
}

// Found is an answer with findings of one severity about the line that opens the client.
func Found(severity string, titles ...string) llmtest.Reply {
	return FoundWith(0.9, severity, titles...)
}

// FoundWith is Found with another confidence.
func FoundWith(confidence float64, severity string, titles ...string) llmtest.Reply {
	list := []map[string]any{}
	for _, title := range titles {
		list = append(list, map[string]any{
			"path": "store/client.go", "section": "", "start_line": 1, "end_line": 1, "evidence": []string{"return http.DefaultClient.Get(url)"},
			"message": "Nothing ends the request when the caller is gone.", "why_it_matters": "Goroutines pile up.", "recommendation": "Pass a context.",
			"suggested_fix": "", "action": "change", "finding_type": "error", "rule_id": "", "category": "reliability",
			"title": title, "severity": severity, "confidence": confidence,
		})
	}
	text, err := json.Marshal(map[string]any{"findings": list})
	if err != nil {
		panic(err)
	}
	return llmtest.Text(string(text)).Took(llm.Use{Input: 1000, Output: 100})
}

// Unbounded is a change that no rule blocks.
const Unbounded = "package store\n\nimport \"net/http\"\n\nfunc Stock(url string) (*http.Response, error) {\n\treturn http.DefaultClient.Get(url)\n}\n"

// IsSpec reports whether the spec reviewer asks.
func IsSpec(r *llmtest.Request) bool { return strings.Contains(r.Text, "# Specification reviewer\n") }
