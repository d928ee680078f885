package commandrun_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/commandrun"
	"github.com/reviewgate/reviewgate/app/commands"
	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/memory"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/app/retry"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/learning"
)

var (
	now    = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	target = ports.Target{Kind: ports.TargetPull, RepoID: 2, Owner: "acme", Name: "shop", Number: 3, HeadSHA: "aaa"}
)

// The findings of the newest review.
const (
	minor     = "0001"
	critical  = "0002"
	dismissed = "0003"
	accepted  = "0004"
	acceptedC = "0005" // critical
	ignored   = "0006" // critical; a comment asks to ignore it
)

// world is a pull request by alice, on GitHub and in the store.
type world struct {
	ports.Commands
	ports.History
	ports.Targets
	ports.Layers
	ports.PullReader
	ports.PeopleReader
	ports.CommentWriter
	ports.Learning
	ports.Memory
	command    ports.Command
	done       bool
	settings   string
	permission ports.Permission // of the sender
	team       []string         // the members of acme/leads
	hidden     bool             // a push was not seen
	pusher     string           // who sent the last push
	hour       ports.CommandCount
	effect     ports.Effect
	ask        *ports.ReviewAsk
	refused    string // the notice
	outcome    string
	reactions  []string
	looked     int // times that GitHub was asked for a permission
	fails      error
	awaiting   []ports.Command     // that a review must answer
	reviewed   *ports.StoredReview // instead of shown
	records    []ports.MemoryRecord
	admins     []string // of the organisation's own repository
	bare       bool     // that repository has no config in force
	dismissed  []string // besides those of Taught
	session    *ports.SessionRow
	latest     *ports.StoredReview // instead of shown
}

func (w *world) MemoryRecords(context.Context, ports.MemoryFilter) ([]ports.MemoryRecord, error) {
	return w.records, nil
}

func (w *world) MemoryRecord(_ context.Context, id int64) (ports.MemoryRecord, error) {
	for _, r := range w.records {
		if r.ID == id {
			return r, nil
		}
	}
	return ports.MemoryRecord{}, ports.ErrNotFound
}

// noReviews is a store without earlier reviews.
type noReviews struct{ ports.Backtests }

func (noReviews) ChooseAllReviews(context.Context, ports.Target, bool, time.Time, int) (ports.ChosenReviews, error) {
	return ports.ChosenReviews{}, nil
}

func (w *world) Command(context.Context, ports.CommentPlace, int64) (ports.Command, bool, error) {
	return w.command, w.done, nil
}

func (w *world) CommandsSince(context.Context, ports.Command, time.Time) (ports.CommandCount, error) {
	return w.hour, nil
}

func (w *world) Obey(_ context.Context, _ ports.Command, e ports.Effect, ask *ports.ReviewAsk) error {
	w.outcome, w.effect, w.ask = "obeyed", e, ask
	return nil
}

func (w *world) Refuse(_ context.Context, _ ports.Command, outcome, why string) error {
	w.outcome, w.refused = outcome, why
	return nil
}

func (w *world) FinishCommand(_ context.Context, _ ports.CommentPlace, _ int64, outcome string) error {
	w.outcome = outcome
	return nil
}

func (w *world) Pushes(context.Context, ports.Target) ([]ports.Push, error) {
	push := func(head, before, sender string) ports.Push {
		return ports.Push{Target: ports.Target{HeadSHA: head}, Before: before, Sender: sender}
	}
	all := []ports.Push{push("000", "", "alice"), push("aaa", "000", w.pusher)}
	if w.hidden {
		all = all[:1]
	}
	return all, nil
}

func (w *world) Taught(context.Context, string, string, string) (pipeline.Memory, error) {
	m := pipeline.Memory{
		Dismissed: pipeline.List[pipeline.Dismissal]{{Fingerprint: dismissed}},
		Accepted:  pipeline.List[pipeline.Acceptance]{{Fingerprint: accepted}, {Fingerprint: acceptedC}},
	}
	for _, id := range w.dismissed {
		m.Dismissed = append(m.Dismissed, pipeline.Dismissal{Fingerprint: id})
	}
	return m, nil
}

func shown() *ports.StoredReview {
	r := &ports.StoredReview{Key: target.Key(), HeadSHA: "aaa"}
	r.Review.Facts.Base.Ref = "main"
	for _, id := range []string{minor, critical, dismissed, accepted, acceptedC, ignored} {
		f := pipeline.Finding{ID: id, Severity: pipeline.SeverityWarning}
		if slices.Contains([]string{critical, acceptedC, ignored}, id) {
			f.Severity = pipeline.SeverityCritical
		}
		if id == ignored {
			f.Reasons = []pipeline.Reason{{Kind: pipeline.ReasonIgnoreWaits, Text: "it is a test"}}
		}
		r.Review.Report.Findings = append(r.Review.Report.Findings, f)
	}
	return r
}

func (w *world) ReviewAsOf(context.Context, string, time.Time) (*ports.StoredReview, error) {
	if w.reviewed != nil {
		return w.reviewed, nil
	}
	return shown(), nil
}

func (w *world) LatestReview(context.Context, string) (*ports.StoredReview, error) {
	if w.latest != nil {
		return w.latest, nil
	}
	return shown(), nil
}

// ReviewOfHead has no review of the previous head, so every push may have changed
// something.
func (*world) ReviewOfHead(context.Context, string, string, string) (*ports.StoredReview, error) {
	return nil, nil
}

func (*world) Target(context.Context, string) (ports.TargetState, error) {
	s := ports.TargetState{Target: target, Wanted: 1, Done: 1}
	s.FixLoop.Halted = true // so that it can be resumed
	return s, nil
}

// Logs has no logs.
func (*world) Logs(context.Context, ports.LogFilter) iter.Seq2[[]learning.Entry, error] {
	return func(func([]learning.Entry, error) bool) {}
}

func (*world) RepositoryNames(context.Context, int64) ([]string, error) { return nil, nil }

func (w *world) GoodLayer(_ context.Context, _ int64, layer string) (*ports.GoodLayer, error) {
	if layer == ports.OrganisationLayer(target.Installation, target.Owner) && len(w.admins) > 0 && !w.bare {
		return &ports.GoodLayer{Files: []ports.ConfigBlob{{Layer: config.LayerOrganisation, Path: config.FileSettings, Text: []byte(`{}`)}}}, nil
	}
	if w.settings == "" || layer != config.LayerRepository {
		return nil, nil
	}
	return &ports.GoodLayer{Files: []ports.ConfigBlob{{Layer: layer, Path: config.FileSettings, Text: []byte(w.settings)}}}, nil
}

func (*world) Pull(context.Context, ports.Target) (ports.PullState, error) {
	return ports.PullState{HeadSHA: "aaa", BaseRef: "main"}, nil
}

func (w *world) Permission(_ context.Context, t ports.Target, login string) (ports.Permission, error) {
	w.looked++
	if t.Name == ports.OrganisationRepo {
		if slices.Contains(w.admins, login) {
			return ports.PermissionAdmin, w.fails
		}
		return ports.PermissionWrite, w.fails
	}
	return w.permission, w.fails
}

func (w *world) TeamMember(_ context.Context, _ ports.Target, team, login string) (bool, error) {
	return team == "acme/leads" && slices.Contains(w.team, login), nil
}

func (w *world) React(_ context.Context, _ ports.Target, _ ports.CommentPlace, _ int64, reaction string) error {
	if w.fails != nil {
		return w.fails
	}
	w.reactions = append(w.reactions, reaction)
	return nil
}

func (w *world) AwaitingCommands(context.Context, string, int64) ([]ports.Command, error) {
	return w.awaiting, nil
}

// runner runs commands in the world.
func (w *world) runner() *commandrun.Runner {
	return &commandrun.Runner{
		Configs: &inforce.Configs{Layers: w, Loader: config.NewLoader(1)}, Commands: w, History: w, Targets: w, PullReader: w, PeopleReader: w, CommentWriter: w,
		Keeper: &memory.Keeper{
			Memory: w, Redact: func(s string) string { return s }, Now: func() time.Time { return now },
			Tester: &memory.Tester{Backtests: noReviews{}, Now: func() time.Time { return now }},
		},
		Learning: w, Sessions: oneSession{row: w.session}, Retry: retry.Policy{Base: time.Second}, Now: func() time.Time { return now },
		Person: func(login string, _ int64) string { return "hash of " + login },
	}
}

// say makes somebody comment "/review" with a name and arguments.
func (w *world) say(t *testing.T, sender string, name commands.Name, args string) error {
	t.Helper()
	w.command = ports.Command{Place: ports.PlaceConversation, CommentID: 7, Target: target, Sender: sender, Author: "alice", Name: string(name), Args: args, ReceivedAt: now}
	return w.runner().Work(t.Context(), ports.CommandJob{Place: w.command.Place, CommentID: w.command.CommentID}, 1)
}

// lacks is the right that the sender lacks according to the refusal, or empty if the command
// was obeyed.
func (w *world) lacks(t *testing.T) string {
	t.Helper()
	if w.outcome == "obeyed" {
		return ""
	}
	for _, lacks := range []string{
		render.TakesAuthor, render.TakesWrite, render.TakesMaintain, render.TakesOwn, render.TakesOther, render.TakesUnknownPusher, render.TakesCritical,
		render.TakesApprover, render.TakesOtherApprover, render.TakesOrganisation,
	} {
		n := render.Notice{Kind: render.NoticePermission, By: w.command.Sender, Command: commands.Name(w.command.Name), Wrong: lacks}
		if w.refused == n.String() {
			return lacks
		}
	}
	t.Fatalf("the command's outcome is %q: %s", w.outcome, w.refused)
	return ""
}

// Who may give a command depends on the sender's permission, on the author of the pull
// request, and on the finding.
func TestWhoMayGiveWhichCommand(t *testing.T) {
	const (
		author, write, maintain = render.TakesAuthor, render.TakesWrite, render.TakesMaintain
		own, crit               = render.TakesOwn, render.TakesCritical
		approver                = render.TakesApprover
	)
	permissions := []ports.Permission{ports.PermissionRead, ports.PermissionWrite, ports.PermissionMaintain}
	for _, test := range []struct {
		name commands.Name
		args string
		// The rights that are missing with read, write and maintain permission.
		others, authors [3]string
	}{
		{commands.Review, "", [3]string{author, "", ""}, [3]string{"", "", ""}},
		{commands.Full, "", [3]string{write, "", ""}, [3]string{write, "", ""}},
		{commands.Agent, "secrets", [3]string{write, "", ""}, [3]string{write, "", ""}},
		{commands.Resume, "", [3]string{write, "", ""}, [3]string{write, "", ""}},
		{commands.Explain, "", [3]string{author, "", ""}, [3]string{"", "", ""}},
		{commands.Status, "", [3]string{author, "", ""}, [3]string{"", "", ""}},
		{commands.Help, "", [3]string{author, "", ""}, [3]string{"", "", ""}},
		{commands.Override, "it is fine", [3]string{maintain, maintain, ""}, [3]string{maintain, maintain, ""}},
		{commands.Reject, "it is not", [3]string{maintain, maintain, ""}, [3]string{maintain, maintain, ""}},
		{commands.Dismiss, minor + " it is fine", [3]string{write, "", ""}, [3]string{own, own, ""}},
		{commands.Dismiss, critical + " it is fine", [3]string{write, crit, ""}, [3]string{own, own, ""}},
		{commands.Accept, minor, [3]string{write, "", ""}, [3]string{own, own, ""}},
		{commands.Accept, critical, [3]string{write, "", ""}, [3]string{own, own, ""}},
		{commands.Accept, ignored, [3]string{write, crit, ""}, [3]string{own, own, ""}},
		{commands.Remember, "M-12", [3]string{approver, approver, ""}, [3]string{approver, approver, ""}},
		{commands.Forget, "M-12", [3]string{approver, approver, ""}, [3]string{approver, approver, ""}},
		{commands.Remember, "M-13", [3]string{approver, approver, ""}, [3]string{approver, approver, render.TakesOtherApprover}},
		{commands.Forget, "M-13", [3]string{approver, approver, ""}, [3]string{approver, approver, ""}},
		{commands.Remember, "M-12 organisation", [3]string{approver, approver, render.TakesOrganisation}, [3]string{approver, approver, render.TakesOrganisation}},
		{commands.Forget, "M-14", [3]string{approver, approver, render.TakesOrganisation}, [3]string{approver, approver, render.TakesOrganisation}},
		{commands.Restore, dismissed, [3]string{write, "", ""}, [3]string{write, "", ""}},
		{commands.Restore, accepted, [3]string{write, "", ""}, [3]string{write, own, ""}},
		{commands.Restore, acceptedC, [3]string{write, crit, ""}, [3]string{write, crit, ""}},
	} {
		for i, permission := range permissions {
			for sender, want := range map[string]string{"bob": test.others[i], "alice": test.authors[i]} {
				w := &world{permission: permission, pusher: "alice", records: records()}
				if err := w.say(t, sender, test.name, test.args); err != nil {
					t.Fatal(err)
				}
				if got := w.lacks(t); got != want {
					t.Errorf("%s may %s: /review %s %s lacks %q, want %q", sender, permission, test.name, test.args, got, want)
				}
			}
		}
	}
}

// The settings may give more rights to teams, and take rights from authors.
func TestSettingsSayWhoMayGiveCommands(t *testing.T) {
	const never, teams = `{"commands": {"self_judgement": "never"}}`, `{"commands": {"override_teams": ["acme/leads"]}}`
	const approvers = `{"memory": {"approvers": ["Wes", "acme/leads"]}}`
	for name, test := range map[string]struct {
		settings   string
		sender     string
		permission ports.Permission
		command    commands.Name
		args       string
		want       string // the missing right
	}{
		"authors never dismiss on their own":  {never, "alice", ports.PermissionAdmin, commands.Dismiss, minor + " fine", render.TakesOther},
		"authors never accept on their own":   {never, "alice", ports.PermissionAdmin, commands.Accept, minor, render.TakesOther},
		"authors never override on their own": {never, "alice", ports.PermissionAdmin, commands.Override, "fine", render.TakesOther},
		"authors may reject their own":        {never, "alice", ports.PermissionAdmin, commands.Reject, "no", ""},
		"others who maintain may override":    {never, "bob", ports.PermissionMaintain, commands.Override, "fine", ""},
		"others who write still may not":      {never, "bob", ports.PermissionWrite, commands.Override, "fine", render.TakesMaintain},
		"a team overrides":                    {teams, "lea", ports.PermissionWrite, commands.Override, "fine", ""},
		"a team dismisses what is critical":   {teams, "lea", ports.PermissionWrite, commands.Dismiss, critical + " fine", ""},
		"a non-member does not override":      {teams, "bob", ports.PermissionWrite, commands.Override, "fine", render.TakesMaintain},
		"a team that may not write":           {teams, "lea", ports.PermissionRead, commands.Dismiss, minor + " fine", render.TakesWrite},
		"an approver approves":                {approvers, "wes", ports.PermissionWrite, commands.Remember, "M-12", ""},
		"a team approves":                     {approvers, "lea", ports.PermissionWrite, commands.Forget, "M-12", ""},
		"an approver that may not write":      {approvers, "wes", ports.PermissionTriage, commands.Remember, "M-12", render.TakesApprover},
		"another organisation's team":         {`{"memory": {"approvers": ["umbrella/leads"]}}`, "lea", ports.PermissionWrite, commands.Remember, "M-12", render.TakesApprover},
		"an approver may not override":        {approvers, "wes", ports.PermissionWrite, commands.Override, "fine", render.TakesMaintain},
		"a team that overrides approves":      {teams, "lea", ports.PermissionWrite, commands.Remember, "M-12", ""},
		"an approver of what they taught":     {`{"memory": {"approvers": ["alice"]}}`, "alice", ports.PermissionWrite, commands.Remember, "M-13", render.TakesOtherApprover},
		"a team may do no more by default":    {`{}`, "lea", ports.PermissionWrite, commands.Override, "fine", render.TakesMaintain},
	} {
		w := &world{settings: test.settings, permission: test.permission, team: []string{"lea"}, pusher: "alice", records: records()}
		if err := w.say(t, test.sender, test.command, test.args); err != nil {
			t.Fatal(err)
		}
		if got := w.lacks(t); got != test.want {
			t.Errorf("%s: lacks %q, want %q", name, got, test.want)
		}
	}
}

// A person who sent a push is an author. If a push was not seen, anybody may have sent it.
func TestPushesMakeAuthors(t *testing.T) {
	for name, test := range map[string]struct {
		pusher string
		hidden bool
		want   [2]string // the rights missing with write and maintain permission
	}{
		"alice pushed":        {"alice", false, [2]string{"", ""}},
		"bob pushed":          {"Bob", false, [2]string{render.TakesOwn, ""}},
		"a push was not seen": {"alice", true, [2]string{render.TakesUnknownPusher, ""}},
	} {
		for i, permission := range []ports.Permission{ports.PermissionWrite, ports.PermissionMaintain} {
			w := &world{permission: permission, pusher: test.pusher, hidden: test.hidden}
			if err := w.say(t, "bob", commands.Dismiss, minor+" it is fine"); err != nil {
				t.Fatal(err)
			}
			if got := w.lacks(t); got != test.want[i] {
				t.Errorf("%s, bob may %s: lacks %q, want %q", name, permission, got, test.want[i])
			}
		}
	}
}

// A command's effect and the audit log name the sender. No agent runs because of a person's
// decision.
func TestEffectsOfCommands(t *testing.T) {
	// What the commands add to the log. The acceptance is of an ignore comment, and says nothing of
	// the finding.
	judged := func(id string, verdict learning.Judgement, class learning.DismissalClass) *learning.Entry {
		return &learning.Entry{Kind: learning.KindJudged, Judged: &learning.Judged{
			Findings: pipeline.List[string]{id}, Verdict: verdict, Class: class, Person: "hash of bob",
		}}
	}
	decided := func(action learning.Action) *learning.Entry {
		return &learning.Entry{Kind: learning.KindDecided, Decided: &learning.Decided{Action: action, HeadSHA: "aaa", BaseRef: "main", Person: "hash of bob"}}
	}
	entries := map[commands.Name]*learning.Entry{
		commands.Restore: judged(dismissed, learning.Restored, ""), commands.Dismiss: judged(minor, learning.Dismissed, learning.Other),
		commands.Override: decided(learning.Overrode), commands.Reject: decided(learning.Rejected),
	}
	for name, test := range map[string]struct {
		command commands.Name
		args    string
		effect  ports.Effect
		rerun   *ports.Rerun
		subject string // of the entry in the audit log
	}{
		"review":  {commands.Review, "", ports.Effect{}, &ports.Rerun{}, ""},
		"full":    {commands.Full, "", ports.Effect{}, &ports.Rerun{Full: true}, ""},
		"agent":   {commands.Agent, "secrets", ports.Effect{}, &ports.Rerun{Agents: []string{"secrets"}}, ""},
		"help":    {commands.Help, "", ports.Effect{Notice: render.Notice{Kind: render.NoticeHelp}.String()}, nil, ""},
		"restore": {commands.Restore, dismissed, ports.Effect{HeadSHA: "aaa", BaseRef: "main", Restore: []string{dismissed}}, &ports.Rerun{Decide: true}, dismissed},
		"dismiss": {commands.Dismiss, minor + " it is fine", ports.Effect{HeadSHA: "aaa", BaseRef: "main", Dismiss: []pipeline.Dismissal{
			{Fingerprint: minor, Class: "other", Reason: "it is fine", By: "bob", Override: true, Surroundings: pipeline.SurroundingsUnknown},
		}}, &ports.Rerun{Decide: true}, minor},
		"accept": {commands.Accept, ignored, ports.Effect{HeadSHA: "aaa", BaseRef: "main", Accept: []pipeline.Acceptance{
			{Fingerprint: ignored, By: "bob", Ignore: "it is a test", Surroundings: pipeline.SurroundingsUnknown},
		}}, &ports.Rerun{Decide: true}, ignored},
		"override": {commands.Override, "it is fine", ports.Effect{HeadSHA: "aaa", BaseRef: "main", ByHand: &pipeline.HandDecision{
			Action: pipeline.HandOverride, By: "bob", Reason: "it is fine", At: now,
		}}, &ports.Rerun{Decide: true}, ""},
		"reject": {commands.Reject, "it is not", ports.Effect{HeadSHA: "aaa", BaseRef: "main", ByHand: &pipeline.HandDecision{
			Action: pipeline.HandReject, By: "bob", Reason: "it is not", At: now,
		}}, &ports.Rerun{Decide: true}, ""},
		"resume": {commands.Resume, "", ports.Effect{Resume: true, Notice: `{"kind":"resumed","by":"bob","loop":true}`}, &ports.Rerun{Decide: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{permission: ports.PermissionMaintain, pusher: "alice"}
			if err := w.say(t, "bob", test.command, test.args); err != nil {
				t.Fatal(err)
			}
			if decides := test.rerun != nil && test.rerun.Decide; decides {
				a := w.effect.Audit
				if a == nil || a.Actor != "bob" || a.Action != string(test.command) || a.Subject != test.subject || a.HeadSHA != "aaa" || !a.At.Equal(now) {
					t.Errorf("the audit log has %+v", a)
				}
				w.effect.Audit = nil
			}
			if entry := entries[test.command]; entry != nil {
				entry.Event, entry.At, entry.Repository, entry.Number = "command issue_comment 7", now, "acme/shop", 3
				test.effect.Entry = entry
			}
			if diff := cmp.Diff(test.effect, w.effect); diff != "" {
				t.Errorf("effect (-want +got):\n%s", diff)
			}
			var rerun *ports.Rerun
			if w.ask != nil {
				rerun = &w.ask.Rerun
			}
			if diff := cmp.Diff(test.rerun, rerun); diff != "" {
				t.Errorf("rerun (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"eyes"}, w.reactions); diff != "" {
				t.Errorf("reactions (-want +got):\n%s", diff)
			}
		})
	}
}

// Reviews by command are limited, and so is the work for refusals. Other people's commands
// do not delay a person's decision.
func TestCommandsPerHourAreLimited(t *testing.T) {
	const own = `{"limits": {"commands_per_hour": 2}}`
	rate := render.Notice{Kind: render.NoticeRate, Command: commands.Full, Limit: 2}.String()
	for name, test := range map[string]struct {
		settings   string
		hour       ports.CommandCount
		permission ports.Permission
		command    commands.Name
		args       string
		outcome    string
		rate       bool // the notice says that there were too many commands
		looked     int  // times that GitHub was asked for the permission
	}{
		"there is room":             {own, ports.CommandCount{Obeyed: 1}, ports.PermissionWrite, commands.Full, "", "obeyed", false, 1},
		"there is no room":          {own, ports.CommandCount{Obeyed: 2}, ports.PermissionWrite, commands.Full, "", "refused", true, 1},
		"a decision does not wait":  {own, ports.CommandCount{Obeyed: 2}, ports.PermissionMaintain, commands.Override, "fine", "obeyed", false, 1},
		"refusals are bounded":      {own, ports.CommandCount{TurnedDown: 4}, ports.PermissionRead, commands.Full, "", "ignored", false, 1},
		"they hold up no command":   {own, ports.CommandCount{TurnedDown: 4}, ports.PermissionWrite, commands.Full, "", "obeyed", false, 1},
		"one sender's are bounded":  {own, ports.CommandCount{BySender: 5}, ports.PermissionWrite, commands.Full, "", "ignored", false, 0},
		"reviews are switched off":  {`{"mode": "off"}`, ports.CommandCount{}, ports.PermissionAdmin, commands.Status, "", "ignored", false, 0},
		"a review where it is off":  {`{"mode": "off"}`, ports.CommandCount{}, ports.PermissionAdmin, commands.Full, "", "obeyed", false, 1},
		"a refusal where it is off": {`{"mode": "off"}`, ports.CommandCount{}, ports.PermissionRead, commands.Full, "", "ignored", false, 1},
	} {
		w := &world{settings: test.settings, hour: test.hour, permission: test.permission, pusher: "alice"}
		if err := w.say(t, "bob", test.command, test.args); err != nil {
			t.Fatal(err)
		}
		if w.outcome != test.outcome || (w.refused == rate) != test.rate || w.looked != test.looked {
			t.Errorf("%s: %s, %q, GitHub was asked %d times", name, w.outcome, w.refused, w.looked)
		}
		if off := test.settings != own || test.outcome == "ignored"; (len(w.reactions) == 0) != off {
			t.Errorf("%s: reactions %v", name, w.reactions)
		}
	}
}

func TestFinishedCommandIsNotObeyedAgain(t *testing.T) {
	w := &world{done: true, permission: ports.PermissionAdmin}
	if err := w.say(t, "bob", commands.Full, ""); err != nil || w.outcome != "" || w.looked > 0 || len(w.reactions) > 0 {
		t.Errorf("outcome %q, reactions %v, error %v", w.outcome, w.reactions, err)
	}
}

// Nobody is refused because GitHub does not say what they may do.
func TestCommandWaitsForGitHub(t *testing.T) {
	w := &world{fails: &ports.HostError{Op: "read the permission", Kind: ports.HostTransient, Err: errors.New("bad gateway")}}
	if err := w.say(t, "bob", commands.Full, ""); err == nil || !retry.Temporary(err) || w.outcome != "" || len(w.reactions) > 0 {
		t.Errorf("outcome %q, reactions %v, error %v", w.outcome, w.reactions, err)
	}
}

// Somebody with write permission who is not an author of the change can resume a paused session. The
// answer names what was resumed. An author without the permission maintain resumes only the fix loop.
func TestResumeOfASession(t *testing.T) {
	paused := func(change func(*ports.SessionRow)) ports.SessionRow {
		row := ports.SessionRow{Key: target.Key(), State: pipeline.SessionState{Cycle: 2, Rule: 1, Escalation: &pipeline.SessionPause{Cycle: 2, Rule: 1, Reviewers: pipeline.List[string]{"codex"}}}}
		if change != nil {
			change(&row)
		}
		return row
	}
	for name, tt := range map[string]struct {
		sender     string
		permission ports.Permission
		pusher     string
		row        ports.SessionRow
		refused    bool
	}{
		"a writer":              {"bob", ports.PermissionWrite, "alice", paused(nil), false},
		"a reader":              {"bob", ports.PermissionRead, "alice", paused(nil), true},
		"the opener":            {"alice", ports.PermissionWrite, "alice", paused(nil), false},
		"the pusher":            {"bob", ports.PermissionWrite, "bob", paused(nil), false},
		"a maintaining author":  {"alice", ports.PermissionMaintain, "alice", paused(nil), false},
		"resumed already":       {"bob", ports.PermissionWrite, "alice", paused(func(r *ports.SessionRow) { r.Resumes = 1 }), false},
		"an author, no session": {"alice", ports.PermissionWrite, "alice", ports.SessionRow{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{permission: tt.permission, pusher: tt.pusher}
			if tt.row.Key != "" {
				w.session = &tt.row
			}
			if err := w.say(t, tt.sender, commands.Resume, ""); err != nil {
				t.Fatal(err)
			}
			if (w.refused != "") != tt.refused {
				t.Fatalf("refused %q, outcome %s", w.refused, w.outcome)
			}
			if tt.refused {
				return
			}
			// An author without the right to judge their own change resumes only the fix loop.
			session := tt.row.State.Paused() && tt.row.Resumes == 0 && (tt.sender != tt.pusher || tt.permission == ports.PermissionMaintain)
			if saw := w.effect.ResumeSession; (saw != nil) != session || !w.effect.Resume || session && (saw.By != tt.sender || saw.Escalation == nil || saw.Escalation.Cycle != 2) {
				t.Errorf("effect %+v", w.effect)
			}
			if strings.Contains(w.effect.Notice, "codex") != session {
				t.Errorf("answer %s", w.effect.Notice)
			}
		})
	}
}
