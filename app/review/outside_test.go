package review

import (
	"context"
	"errors"
	"testing"

	"github.com/reviewgate/reviewgate/app/agents/codescanning"
	"github.com/reviewgate/reviewgate/app/agents/model"
	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// hub is a source whose files and people give the answers that are left, one
// after the other.
type hub struct {
	ports.Change
	ports.Discussion
	answers []error
	may     ports.Permission
}

func (h *hub) next() error {
	err := h.answers[0]
	h.answers = h.answers[1:]
	return err
}

func (h *hub) File(context.Context, string, string, int64) ([]byte, error) {
	return []byte("text"), h.next()
}

func (h *hub) Remarks(context.Context, string) ([]ports.Remark, error) { return nil, nil }

func (h *hub) Permission(context.Context, string) (ports.Permission, error) { return h.may, h.next() }

// Trouble that passes is told apart from what waiting doesn't mend, and what
// became of the last attempt counts.
func TestTroubleOfAgents(t *testing.T) {
	host := func(kind ports.HostKind) error {
		return &ports.HostError{Op: "read", Kind: kind, Err: errors.New("no")}
	}
	tests := map[string]struct {
		answers []error
		stopped bool
		puts    bool // the review off
	}{
		"none":                {[]error{nil}, false, false},
		"a failing server":    {[]error{host(ports.HostTransient)}, false, true},
		"a limit":             {[]error{host(ports.HostLimited)}, false, true},
		"no permission":       {[]error{host(ports.HostForbidden)}, false, false},
		"all calls used up":   {[]error{host(ports.HostBudget)}, false, false},
		"no host's":           {[]error{errors.New("odd")}, false, false},
		"passed":              {[]error{host(ports.HostTransient), nil}, false, false},
		"another in the end":  {[]error{host(ports.HostTransient), host(ports.HostForbidden)}, false, false},
		"the time was up":     {[]error{host(ports.HostTransient)}, true, false},
		"it came in the end":  {[]error{nil, host(ports.HostLimited)}, false, true},
		"gone from the head":  {[]error{host(ports.HostNotFound)}, false, false},
		"it came, and passed": {[]error{nil, host(ports.HostLimited), nil}, false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := &hub{answers: tt.answers}
			out := &outside{service: &Service{}, src: ports.PullSource{Change: h, Discussion: h}, trouble: map[string]error{}, seen: map[string]codescanning.Seen{}}
			a := out.agent(run.IOAgent{
				Agent: config.Agent{ID: "reports", Kind: config.KindReport}, Config: &config.Config{}, Redact: func(s string) string { return s },
			})
			task := dispatch.Task{
				Entry: pipeline.ManifestEntry{Agent: "reports", Scope: pipeline.AgentScope{All: true}},
				Facts: &pipeline.PRFacts{Files: pipeline.List[pipeline.File]{{Path: "docs/02-plans/1/review/a-report.md", Status: pipeline.FileModified}}},
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.stopped {
				cancel()
			}
			for _, want := range tt.answers {
				if _, _, err := a.(dispatch.ReportReader).ReviewReports(ctx, task); !errors.Is(err, want) {
					t.Errorf("error %v, want %v", err, want)
				}
			}
			if err := out.mayPass(); (err != nil) != tt.puts {
				t.Errorf("the review is put off: %v", err)
			}
		})
	}
}

// Only agents that read reports reach out.
func TestOtherKindsReachNowhere(t *testing.T) {
	for _, kind := range []string{config.KindRules, config.KindSecrets, ""} {
		if a := new(outside).agent(run.IOAgent{Agent: config.Agent{Kind: kind}}); a != nil {
			t.Errorf("kind %q has an agent", kind)
		}
	}
}

// Who may write is trusted, and who may only triage is not; without an answer
// nobody is.
func TestWhoMayWrite(t *testing.T) {
	for may, want := range map[ports.Permission]bool{
		ports.PermissionAdmin: true, ports.PermissionMaintain: true, ports.PermissionWrite: true,
		ports.PermissionTriage: false, ports.PermissionRead: false, ports.PermissionNone: false, "": false,
	} {
		if got, err := (talk{&hub{may: may, answers: []error{nil}}}).CanWrite(t.Context(), "alice"); got != want || err != nil {
			t.Errorf("%s may write: %t, %v", may, got, err)
		}
	}
	trouble := errors.New("no answer")
	if _, err := (talk{&hub{answers: []error{trouble}}}).CanWrite(t.Context(), "alice"); !errors.Is(err, trouble) {
		t.Errorf("error %v", err)
	}
}

// A file that is not there is an answer, and any other trouble is not.
func TestReadFile(t *testing.T) {
	for kind, fails := range map[ports.HostKind]bool{ports.HostNotFound: false, ports.HostForbidden: true, ports.HostTransient: true} {
		_, found, err := readFile(&hub{answers: []error{&ports.HostError{Kind: kind, Err: errors.New("no")}}})(t.Context(), "h", "a.md", 9)
		if found || (err != nil) != fails {
			t.Errorf("%s: found %t, %v", kind, found, err)
		}
	}
	if text, found, err := readFile(&hub{answers: []error{nil}})(t.Context(), "h", "a.md", 9); string(text) != "text" || !found || err != nil {
		t.Errorf("%q, %t, %v", text, found, err)
	}
}

// A document that GitHub can't give now puts the review off, until each model that is asked
// about it has got it.
func TestTroubleWithADocument(t *testing.T) {
	down := &ports.HostError{Op: "read", Kind: ports.HostTransient, Err: errors.New("no")}
	h := &hub{answers: []error{down, down, nil}}
	out := &outside{service: &Service{}, src: ports.PullSource{Change: h, Discussion: h}, trouble: map[string]error{}}
	a := &reading{out, model.NewDocuments(model.DocumentOptions{
		Options: model.Options{Models: map[string]model.Endpoint{"one": {Model: mute{}}, "two": {Model: mute{}}}, Redact: func(s string) string { return s }},
		Files:   h,
	})}
	task := dispatch.Task{
		Entry: pipeline.ManifestEntry{Agent: "specs", Scope: pipeline.AgentScope{Files: pipeline.List[string]{"SPEC.md"}}},
		Facts: &pipeline.PRFacts{Files: pipeline.List[pipeline.File]{{Path: "SPEC.md", Status: pipeline.FileModified}}},
	}
	for i, step := range []struct {
		model string
		puts  bool
	}{{"one", true}, {"two", true}, {"one", true}, {"two", false}} {
		task.Model = step.model
		_, _, _ = a.ReviewAndNote(t.Context(), task)
		if err := out.mayPass(); (err != nil) != step.puts {
			t.Errorf("step %d: %v", i, err)
		}
	}
}

// mute is a model that does not answer.
type mute struct{}

func (mute) Ask(context.Context, llm.Question) (llm.Answer, error) {
	return llm.Answer{}, errors.New("no answer")
}
