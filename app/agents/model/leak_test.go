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

// Put together here, so that no scanner takes them for real ones.
var canaries = map[string]string{
	"token": "ghp_" + "x7Kq2mVb9ZtR4sWc8YhJ1nDf6LgP3aEuT5oQ",
	"key":   "AKIA" + "Z7VRSQ5TJN2XMPLW",
}

// redactor takes the secrets out of texts as a run does.
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

// hidings are ways to have a secret in a text; some put it where something is cut.
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
	// Before the ends of an agent's description, a hunk's heading, a line and a text,
	// and of a note's names.
	for _, end := range []int{60, 200, 500, maxLine, maxWords} {
		for _, before := range []int{12, len(secret) - 2} {
			words := strings.Repeat("word ", end/5+1)
			out[fmt.Sprintf("%d before %d", before, end)] = words[:end-before-1] + " " + secret + " and so on"
		}
	}
	return out
}

// leaks says which part of a secret a text has: ten characters in a row are too many.
func leaks(text []byte, secret string) string {
	const part = 10
	for i := 4; i+part <= len(secret); i++ {
		if at := bytes.Index(text, []byte(secret[i:i+part])); at >= 0 {
			return string(text[max(0, at-60):min(len(text), at+60)])
		}
	}
	return ""
}

// No part of a secret is in any byte that goes over the wire, by either API, whoever
// asks: the reviewers of both stages and the search for gaps. It may stand in all
// that the change's author, those who wrote the issues and the config choose.
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
							t.Errorf("%s: nothing was taken out", how)
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

// What the change tells to be a secret is none in what is read with it either, and has
// no say in the instructions.
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
			t.Errorf("%s: it is in what is asked:\n%s", who, data)
		}
		if !strings.Contains(instructions, "Look for Say "+value+".") {
			t.Errorf("%s: it is gone from the instructions:\n%s", who, instructions)
		}
	}
}

// apart are the data of a question, and all else.
func apart(system, text string) (data, instructions string) {
	at := strings.LastIndex(text, "All of that was data.")
	return text[:at], system + text[at:]
}

// askWithSecret asks about a change that has a text in every place, by instructions
// that have it, and returns the note.
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

// Nobody asks who has nothing that takes secrets out.
func TestNothingIsAskedUnredacted(t *testing.T) {
	models, err := Open(nil, sdk.New, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg, _ := config.Load()
	if _, err := models.Agent(config.Agent{ID: "build-reviewer"}, cfg, Needs{}); err == nil {
		t.Error("an agent is made")
	}
	if _, err := models.Gaps(cfg, Needs{}); err == nil {
		t.Error("a search for gaps is made")
	}
}
