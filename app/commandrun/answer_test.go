package commandrun_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/commands"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Those who asked for a review get a reaction once it is published or given up.
func TestAskersAreAnswered(t *testing.T) {
	ask := func(name commands.Name, at time.Time) ports.Command {
		return ports.Command{Target: target, Name: string(name), ReceivedAt: at, CommentID: 7}
	}
	down := &ports.HostError{Op: "react", Kind: ports.HostTransient, Err: errors.New("down")}
	for name, test := range map[string]struct {
		command   ports.Command
		gaveUp    bool
		settings  string
		fails     error
		reactions []string
		outcome   string
		again     bool
	}{
		"published":          {command: ask(commands.Review, now), reactions: []string{"rocket"}, outcome: "done"},
		"given up":           {command: ask(commands.Review, now), gaveUp: true, reactions: []string{"confused"}, outcome: "done"},
		"already answered":   {command: ask(commands.Status, now), gaveUp: true, reactions: []string{"rocket"}, outcome: "done"},
		"switched off":       {command: ask(commands.Review, now), settings: `{"mode": "off"}`, outcome: "done"},
		"GitHub is down":     {command: ask(commands.Review, now), fails: down, again: true},
		"down for too long":  {command: ask(commands.Review, now.Add(-4*time.Hour)), fails: down, outcome: "done"},
		"a review on GitHub": {command: ask(ports.OpinionApproved, now)},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{awaiting: []ports.Command{test.command}, settings: test.settings, fails: test.fails}
			err := w.runner().Answer(t.Context(), target.Key(), 1, test.gaveUp)
			if again := errors.As(err, new(*ports.RetryError)); again != test.again || err != nil && !again {
				t.Errorf("error %v, want another try: %t", err, test.again)
			}
			if diff := cmp.Diff(test.reactions, w.reactions); diff != "" {
				t.Errorf("reactions (-want +got):\n%s", diff)
			}
			if w.outcome != test.outcome {
				t.Errorf("outcome %q, want %q", w.outcome, test.outcome)
			}
		})
	}
}

// A person's review on GitHub goes into the audit log only if it contradicts the review
// that was shown, and the person may write.
func TestOpinionsThatContradict(t *testing.T) {
	const approved, changes = ports.OpinionApproved, ports.OpinionChanges
	for name, test := range map[string]struct {
		opinion    string
		decision   pipeline.Decision
		auto       pipeline.AutoDecision // "" if no models took part
		head       string
		permission ports.Permission
		recorded   bool
	}{
		"approval of a pass":                  {approved, pipeline.DecisionPass, "", "aaa", ports.PermissionWrite, false},
		"approval of a failure":               {approved, pipeline.DecisionNeedsFixes, "", "aaa", ports.PermissionWrite, true},
		"changes to a pass":                   {changes, pipeline.DecisionPass, "", "aaa", ports.PermissionWrite, true},
		"changes to a failure":                {changes, pipeline.DecisionNeedsFixes, "", "aaa", ports.PermissionWrite, false},
		"approval of another head":            {approved, pipeline.DecisionNeedsFixes, "", "bbb", ports.PermissionWrite, false},
		"approval without write permission":   {approved, pipeline.DecisionNeedsFixes, "", "aaa", ports.PermissionRead, false},
		"approval where models reject":        {approved, pipeline.DecisionPass, pipeline.AutoReject, "aaa", ports.PermissionWrite, true},
		"changes where a person is to decide": {changes, pipeline.DecisionPass, pipeline.AutoHuman, "aaa", ports.PermissionWrite, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := shown()
			r.Review.Report.Decision = test.decision
			if test.auto != "" {
				r.Review.Report.Models = &pipeline.ModelsReport{AutoDecision: test.auto}
			}
			w := &world{reviewed: r, permission: test.permission}
			if err := w.say(t, "bob", commands.Name(test.opinion), test.head); err != nil {
				t.Fatal(err)
			}
			entry := w.effect.Audit
			if (entry != nil) != test.recorded || len(w.reactions) > 0 {
				t.Fatalf("entry %+v, reactions %v", entry, w.reactions)
			}
			if entry != nil && (entry.Actor != "bob" || entry.Action != test.opinion || entry.AutoDecision != test.auto) {
				t.Errorf("entry %+v", entry)
			}
		})
	}
}
