package model

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/llm/llmtest"
	"github.com/reviewgate/reviewgate/app/llm/sdk"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/secrets"
)

// These are put together here, so that no scanner reports them as real secrets.
var canaries = map[string]string{
	"token": "ghp_" + "x7Kq2mVb9ZtR4sWc8YhJ1nDf6LgP3aEuT5oQ",
	"key":   "AKIA" + "Z7VRSQ5TJN2XMPLW",
}

// redactor removes secrets from texts as a run does.
func redactor(t *testing.T) func(text string) string {
	detector, err := secrets.Default()
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) string {
		facts := pipeline.PRFacts{Body: text}
		detector.Redact(&facts)
		return facts.Body
	}
}

// hidings are texts with a secret. Some put it where a text is cut.
func hidings(secret string) map[string]string {
	out := map[string]string{
		"alone":          secret,
		"in code":        `token := "` + secret + `"`,
		"in JSON":        `{"token": "` + secret + `", "user": "me"}`,
		"in an address":  "https://me:" + secret + "@example.com/?key=" + secret,
		"among others":   "The token is " + secret + ", use it.\nAnd go on.",
		"after a hidden": "\u200b" + secret + "\u202e",
		"in a comment":   "<!-- " + secret + " -->",
		"beside a NUL":   "\x00" + secret + "\x00",
		"beside no text": "\xff" + secret + "\xff",
		"with CRs":       "a\r\n" + secret + "\r\nb\r",
		"in a fence":     "```\n" + secret + "\n```",
		"twice":          secret + " " + secret,
	}
	// The secret is just before the limit of a description, a hunk's heading, a line, a text,
	// or a note's names.
	for _, end := range []int{60, 200, 500, maxLine, maxWords} {
		for _, before := range []int{12, len(secret) - 2} {
			words := strings.Repeat("word ", end/5+1)
			out[fmt.Sprintf("%d before %d", before, end)] = words[:end-before-1] + " " + secret + " and so on"
		}
	}
	return out
}

// leaks returns the part of a secret in a text. Ten of its characters in a row are too many.
func leaks(text []byte, secret string) string {
	const part = 10
	for i := 4; i+part <= len(secret); i++ {
		if at := bytes.Index(text, []byte(secret[i:i+part])); at >= 0 {
			return string(text[max(0, at-60):min(len(text), at+60)])
		}
	}
	return ""
}

// No part of a secret is in any byte that is sent, with either API, by the reviewers of both
// stages or by the gap detector. The secret may be in all texts that the change's author, the
// authors of issues and the config choose.
func TestNoSecretLeaves(t *testing.T) {
	t.Parallel()
	redact := redactor(t)
	for _, api := range []string{config.APIAnthropic, config.APIOpenAI} {
		for which, secret := range canaries {
			for _, who := range []string{pipeline.ReviewStageSpec, pipeline.ReviewStageQuality, pipeline.GapDetector} {
				t.Run(api+"/"+which+"/"+who, func(t *testing.T) {
					t.Parallel()
					server := llmtest.Start(t, llmtest.Options{Key: "sk-of-the-server"}, llmtest.Always(llmtest.Text(`{"findings": [], "gaps": []}`)))
					e := server.Endpoint(api)
					e.KeyEnv = "MODELS_KEY"
					models, err := Open([]config.ModelEndpoint{e}, sdk.New, func(string) string { return server.Key() })
					if err != nil {
						t.Fatal(err)
					}
					for how, text := range hidings(secret) {
						note := askWithSecret(t, who, text, Options{Models: models.endpoints, Needs: Needs{Redact: redact}})
						requests := server.Requests()
						last := requests[len(requests)-1]
						if at := leaks(append(last.Body, note...), secret); at != "" {
							t.Errorf("%s: …%s…", how, at)
						}
						if change, instructions := apart(last.System, last.Text); !strings.Contains(change, "[redacted:") || !strings.Contains(instructions, "[redacted:") {
							t.Errorf("%s: nothing was redacted", how)
						}
					}
					if at := leaks(server.Sent(), secret); at != "" || len(server.Requests()) != len(hidings(secret)) || len(server.Mistakes()) > 0 {
						t.Errorf("sent …%s… in %d requests, and %q", at, len(server.Requests()), server.Mistakes())
					}
				})
			}
		}
	}
}

// A secret of the change is also redacted in everything that is read with it. It does not
// change the instructions.
func TestSecretsOfTheChange(t *testing.T) {
	t.Parallel()
	const value = "correct-horse-9"
	for _, who := range []string{pipeline.ReviewStageSpec, pipeline.ReviewStageQuality, pipeline.GapDetector} {
		m := &scripted{answer: `{"findings": [], "gaps": []}`}
		o := testOptions(m)
		o.RedactBeside = func(s string) string { return strings.ReplaceAll(s, value, "[redacted:change]") }
		askWithSecret(t, who, "Say "+value+".", o)
		data, instructions := apart(m.asked[0].System, m.asked[0].Text)
		if strings.Contains(data, value) || !strings.Contains(data, "[redacted:change]") {
			t.Errorf("%s: the question contains the secret:\n%s", who, data)
		}
		if !strings.Contains(instructions, "Look for Say "+value+".") {
			t.Errorf("%s: the word is missing in the instructions:\n%s", who, instructions)
		}
	}
}

// apart splits a question into its data and the rest.
func apart(system, text string) (data, instructions string) {
	at := strings.LastIndex(text, "All of that was data.")
	return text[:at], system + text[at:]
}

// askWithSecret asks about a change that has a text in every place, with instructions that
// contain it, and returns the note.
func askWithSecret(t *testing.T, who, text string, o Options) (note string) {
	t.Helper()
	facts, issues := planted(text)
	task := testTask(facts)
	for task.Model = range o.Models {
	}
	o.Stage, o.Prompt = who, "Look for "+text
	o.Rules = []config.Rule{{ID: "rule-1", Severity: "major", Name: text, Detection: text}}
	o.Issues = func(context.Context, *pipeline.PRFacts) ([]ports.LinkedIssue, error) { return issues, nil }
	var err error
	if who == pipeline.GapDetector {
		choice := gapChoice()
		choice.Agents[0].Description, choice.Agents[1].ID = text, text
		choice.Manifest.Entries[1].Scope.Files = pipeline.List[string]{text, "dir/" + text}
		task.Entry.Agent = who
		_, note, err = NewGaps(o).Gaps(t.Context(), task, choice)
	} else {
		var answer dispatch.Answer
		answer, err = New(o).Review(t.Context(), task)
		note = answer.Note
	}
	if err != nil {
		t.Fatal(err)
	}
	return note
}

// Without a redactor no agent can be created.
func TestAgentsNeedARedactor(t *testing.T) {
	models, err := Open(nil, sdk.New, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg, _ := config.Load()
	if _, err := models.Agent(config.Agent{ID: "build-reviewer"}, cfg, Needs{}); err == nil {
		t.Error("an agent was created")
	}
	if _, err := models.Gaps(cfg, Needs{}); err == nil {
		t.Error("a gap detector was created")
	}
}
