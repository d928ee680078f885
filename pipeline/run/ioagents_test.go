package run

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

const reportPath = "docs/02-plans/1/review/technical-review-report.md"

// reader is an agent of the kind report.
type reader struct{ agentFunc }

func (r reader) Review(ctx context.Context, task dispatch.Task) (dispatch.Answer, error) {
	out, err := r.agentFunc(ctx, task)
	reports := []pipeline.ReviewReportOutcome{{Phase: pipeline.PhasePlan, Place: "docs/02-plans/1/review", Readiness: pipeline.Ready, Rationale: out.Findings[0].Message}}
	return dispatch.Answer{Output: out, Reports: reports}, err
}

func withReport(t *testing.T) *inMemory {
	src := &inMemory{cfg: shipped(t)}
	src.files = []raw.ChangedFile{{Path: reportPath, Status: pipeline.FileModified, Additions: 1, Patch: "@@ -3,0 +4 @@\n+More."}}
	return src
}

// An I/O agent is made for each run, with the config in force and a redactor that knows secrets.
// Its results are in the report.
func TestIOAgents(t *testing.T) {
	token := "ghp_" + "x7Kq2mVb9ZtR4sWc8YhJ1nDf6LgP3aEuT5oQ"
	var created []string
	out, err := newRunner(t, nil).Run(t.Context(), withReport(t), Options{IOAgents: func(o IOAgent) dispatch.Agent {
		created = append(created, o.Agent.ID+" of kind "+o.Agent.Kind)
		return reader{func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) {
			redacted := o.Redact("The token is " + token + ".")
			return pipeline.AgentOutput{Findings: pipeline.List[pipeline.Finding]{{Title: "Blocked", Severity: "major", Message: redacted, Confidence: 1, Path: reportPath}}}, nil
		}}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(created, []string{"review-reports of kind report"}) {
		t.Errorf("made %q", created)
	}
	report := out.Review.Report
	if len(report.ReviewReports) != 1 || len(report.Findings) != 1 || report.Decision != pipeline.DecisionNeedsFixes {
		t.Fatalf("%s with %+v and %+v", report.Decision, report.Findings, report.ReviewReports)
	}
	for _, text := range []string{report.Findings[0].Message, report.ReviewReports[0].Rationale} {
		if strings.Contains(text, token) || !strings.HasPrefix(text, "The token is [redacted:") {
			t.Errorf("the finding's message is %q", text)
		}
	}
}

// If a change has review reports that no agent reads, it does not pass.
func TestReportsThatNoAgentReads(t *testing.T) {
	for name, ioAgents := range map[string]func(IOAgent) dispatch.Agent{
		"no I/O agents": nil,
		"unknown":       func(IOAgent) dispatch.Agent { return nil },
		"failing": func(IOAgent) dispatch.Agent {
			return agentFunc(func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) {
				return pipeline.AgentOutput{}, errors.New("no such host")
			})
		},
	} {
		out, err := newRunner(t, nil).Run(t.Context(), withReport(t), Options{IOAgents: ioAgents})
		if err != nil {
			t.Fatal(err)
		}
		if r := out.Review.Report; !r.Decision.Blocks() || len(r.Incomplete) != 1 {
			t.Errorf("%s: %s with %+v", name, r.Decision, r.Incomplete)
		}
	}
}

// Review reports are not read again for a proposed config.
func TestProposedConfigTakesReportsAsTheyAre(t *testing.T) {
	src := withReport(t)
	src.files = append(src.files, raw.ChangedFile{Path: ".github/reviewgate/review-settings.json", Status: pipeline.FileModified, Additions: 1, Patch: "@@ -1 +1 @@\n-{}\n+{ }"})
	read := 0
	o := Options{Proposed: proposes(map[string]string{config.FileSettings: `{"check": {"annotations": false}}`}), IOAgents: func(IOAgent) dispatch.Agent {
		return reader{func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) {
			read++
			return pipeline.AgentOutput{Findings: pipeline.List[pipeline.Finding]{{Title: "Blocked", Severity: "major", Message: "No.", Confidence: 1, Path: reportPath}}}, nil
		}}
	}}
	out, err := newRunner(t, nil).Run(t.Context(), src, o)
	if err != nil {
		t.Fatal(err)
	}
	if p := out.Review.Report.ProposedConfig; read != 1 || p.Decision != pipeline.DecisionNeedsFixes {
		t.Errorf("read %d times; proposed: %+v", read, p)
	}
}

// Citations are looked up at the reviewed head.
func TestCitedLinesAreRead(t *testing.T) {
	file := func(_ context.Context, commit, path string, _ int64) ([]byte, bool, error) {
		if commit != "h" {
			return nil, false, errors.New("another commit")
		}
		return []byte("one\ntwo"), path == "docs/style.md", nil
	}
	var findings pipeline.List[pipeline.Finding]
	for _, cited := range []string{"docs/style.md", "docs/style.md:2", "docs/style.md:3", "docs/none.md"} {
		findings = append(findings, pipeline.Finding{Title: cited, Severity: "info", Message: "m", Confidence: 1, Path: "src/a.ts", AutoClaim: "as elsewhere", Citation: cited})
	}
	r := newRunner(t, map[string]dispatch.Agent{"build-reviewer": agentFunc(func(context.Context, dispatch.Task) (pipeline.AgentOutput, error) {
		return pipeline.AgentOutput{Findings: findings}, nil
	})})
	src := &inMemory{cfg: shipped(t), files: []raw.ChangedFile{{Path: "src/a.ts", Status: pipeline.FileAdded, Additions: 1, Patch: "@@ -0,0 +1 @@\n+x"}}}
	out, err := r.Run(t.Context(), src, Options{File: file})
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range out.Review.Results {
		var want []string
		if result.Agent == "build-reviewer" {
			want = []string{"docs/style.md", "docs/style.md:2"}
		}
		if !slices.Equal(result.Citations, want) {
			t.Errorf("%s has the citations %q, want %q", result.Agent, result.Citations, want)
		}
	}
}

// Texts that belong to the change contain none of the secrets that were found in it, even if
// nothing else in them shows the secret. Texts that the change must not alter stay as they are.
func TestIOAgentsKnowTheChangesSecrets(t *testing.T) {
	value := "zR8+kQ4x/" + "Tn6Wp1Lv9Yb"
	src := withReport(t)
	src.files = append(src.files, raw.ChangedFile{Path: "login.go", Status: pipeline.FileModified, Additions: 1, Patch: "@@ -3,0 +4 @@\n+password = \"" + value + "\""})
	asked := false
	_, err := newRunner(t, nil).Run(t.Context(), src, Options{IOAgents: func(o IOAgent) dispatch.Agent {
		asked = true
		if got := o.RedactOther("Log in with " + value); got != "Log in with [redacted:generic-api-key]" {
			t.Errorf("the other text is %q", got)
		}
		if got := o.Redact("Rule " + value); got != "Rule "+value {
			t.Errorf("the change altered an instruction to %q", got)
		}
		return nil
	}})
	if err != nil || !asked {
		t.Errorf("asked %t, %v", asked, err)
	}
}
