package commandrun_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/commands"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/pipeline"
)

// oneSession has the session of the target, or no session.
type oneSession struct {
	ports.Sessions
	row *ports.SessionRow
}

func (s oneSession) Session(context.Context, string) (ports.SessionRow, error) {
	if s.row == nil {
		return ports.SessionRow{}, ports.ErrNotFound
	}
	return *s.row, nil
}

func pausedSession() *ports.SessionRow {
	return &ports.SessionRow{
		Cycle: pipeline.SessionCycle{Number: 4}, Running: true, HeadSHA: "aaa", Pending: 2, SpokeAt: now, FallbackAt: now.Add(time.Minute),
		State: pipeline.SessionState{
			Cycle: 3, Rule: 2, Escalation: &pipeline.SessionPause{Cycle: 2, Rule: 1, Reviewers: pipeline.List[string]{"codex"}},
			Pause:    &pipeline.SessionPause{Cycle: 3, Rule: 2, Reviewers: pipeline.List[string]{"codex", "gemini"}, Clarification: "Settle this."},
			Concerns: pipeline.List[pipeline.SessionConcern]{{Reviewer: "codex", Cycle: 3}, {Reviewer: "gemini", Cycle: 3}},
		},
	}
}

// noticeOf reads the notice of an obeyed command.
func (w *world) noticeOf(t *testing.T) (n render.Notice) {
	t.Helper()
	if err := json.Unmarshal([]byte(w.effect.Notice), &n); err != nil {
		t.Fatalf("notice %q: %v", w.effect.Notice, err)
	}
	return n
}

// The answer names all that was resumed. The prompt for the agents is not repeated in it.
func TestResumeNamesWhatItResumes(t *testing.T) {
	w := &world{permission: ports.PermissionWrite, session: pausedSession()}
	if err := w.say(t, "bob", commands.Resume, ""); err != nil {
		t.Fatal(err)
	}
	if !w.effect.Resume || w.effect.ResumeSession == nil {
		t.Errorf("resumes loop %t, session %+v", w.effect.Resume, w.effect.ResumeSession)
	}
	n, want := w.noticeOf(t), pausedSession().State
	want.Pause.Clarification = ""
	if diff := cmp.Diff(render.Notice{Kind: render.NoticeResumed, By: "bob", Loop: true, Escalation: want.Escalation, Pause: want.Pause}, n); diff != "" {
		t.Errorf("notice (-want +got):\n%s", diff)
	}
}

// A session that was already resumed is not resumed again.
func TestResumeOnlyOnce(t *testing.T) {
	w := &world{permission: ports.PermissionWrite, session: pausedSession()}
	w.session.Resumes = 1 // and the review that takes it into account is still to come
	if err := w.say(t, "bob", commands.Resume, ""); err != nil {
		t.Fatal(err)
	}
	if w.effect.ResumeSession != nil || w.noticeOf(t).Escalation != nil {
		t.Errorf("resumes the session again: %+v", w.effect)
	}
}

func TestStatusOfSession(t *testing.T) {
	paused := pausedSession().State
	paused.Pause.Clarification = ""
	whole := render.SessionStatus{
		Cycle: 4, Running: true, Decided: 3, Rule: 2, Escalation: paused.Escalation, Pause: paused.Pause, Waiting: []string{"gemini"}, Deadline: now,
		Concerned: []string{"codex", "gemini"}, Pending: 2, FallbackAt: now.Add(time.Minute),
	}
	unknown := whole // whose answers are awaited
	unknown.Waiting, unknown.Deadline = nil, time.Time{}
	for name, test := range map[string]struct {
		session *ports.SessionRow
		report  *pipeline.SessionReport
		want    *render.SessionStatus
	}{
		"none":                    {nil, nil, nil},
		"only reviewers asked":    {&ports.SessionRow{}, nil, nil},
		"paused":                  {pausedSession(), &pipeline.SessionReport{Cycle: 4, Waiting: pipeline.List[string]{"gemini"}, Deadline: now}, &whole},
		"report of another cycle": {pausedSession(), &pipeline.SessionReport{Cycle: 3, Waiting: pipeline.List[string]{"gemini"}, Deadline: now}, &unknown},
		"no report":               {pausedSession(), nil, &unknown},
	} {
		t.Run(name, func(t *testing.T) {
			r := shown()
			r.Review.Report.Session = test.report
			w := &world{permission: ports.PermissionWrite, session: test.session, latest: r}
			if err := w.say(t, "bob", commands.Status, ""); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, w.noticeOf(t).Status.Session); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}
