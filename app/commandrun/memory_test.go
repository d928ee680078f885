package commandrun_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/commands"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/pipeline"
)

// records are a proposed record, one that alice taught on a pull request of hers, and one of the
// organisation.
func records() []ports.MemoryRecord {
	record := func(id int64, author string) ports.MemoryRecord {
		return ports.MemoryRecord{
			ID: id, State: ports.MemoryProposed, Repository: ports.Target{RepoID: target.RepoID, Owner: "acme"}, Models: true, Author: ports.Person{Login: author},
			About: pipeline.FalsePositive{Agent: "quality", Title: "The request is never ended"},
		}
	}
	all := []ports.MemoryRecord{record(12, "carol"), record(13, "Alice"), record(14, "carol")}
	all[1].Own = true
	all[2].Organisation, all[2].Repository.RepoID = true, target.RepoID+1
	return all
}

// answer is the notice about a record.
func answer(t *testing.T, notice string) render.MemoryAnswer {
	t.Helper()
	var n render.Notice
	if err := json.Unmarshal([]byte(notice), &n); err != nil || n.Kind != render.NoticeMemory || n.Memory == nil {
		t.Fatalf("the notice is %q, %v", notice, err)
	}
	return *n.Memory
}

// Records are approved and revoked, whoever taught them, with entries in the audit log.
func TestRememberAndForget(t *testing.T) {
	for name, test := range map[string]struct {
		command commands.Name
		args    string
		state   ports.MemoryState
		want    ports.MemoryState // its new state
		outcome string            // of the answer
	}{
		"approved":                  {commands.Remember, "m-12", ports.MemoryProposed, ports.MemoryActive, "active"},
		"approved after its end":    {commands.Remember, "M-12", ports.MemoryExpired, ports.MemoryActive, "active"},
		"out of quarantine":         {commands.Remember, "M-12", ports.MemoryQuarantined, ports.MemoryActive, "active"},
		"approved twice":            {commands.Remember, "M-12", ports.MemoryActive, "", "known"},
		"revoked":                   {commands.Forget, "M-12", ports.MemoryActive, ports.MemoryRevoked, "forgotten"},
		"a proposal is revoked":     {commands.Forget, "M-12", ports.MemoryProposed, ports.MemoryRevoked, "forgotten"},
		"revoked twice":             {commands.Forget, "M-12", ports.MemoryRevoked, "", "forgotten"},
		"for the organisation":      {commands.Remember, "M-12 organisation", ports.MemoryActive, ports.MemoryActive, "active"},
		"one of the organisation":   {commands.Forget, "M-14", ports.MemoryActive, ports.MemoryRevoked, "forgotten"},
		"approved after it is gone": {commands.Remember, "M-12", ports.MemoryRevoked, "", "revoked"},
	} {
		w := &world{permission: ports.PermissionMaintain, records: records(), admins: []string{"bob"}}
		for i := range w.records {
			w.records[i].State = test.state
		}
		if err := w.say(t, "bob", test.command, test.args); err != nil {
			t.Fatal(err)
		}
		notice := w.effect.Notice
		if w.outcome == "refused" {
			notice = w.refused
		}
		if got := answer(t, notice); got.Outcome != test.outcome {
			t.Errorf("%s: the answer is %+v", name, got)
		}
		if test.want == "" {
			if len(w.effect.Memory) > 0 {
				t.Errorf("%s: changes %+v", name, w.effect.Memory)
			}
			continue
		}
		if len(w.effect.Memory) != 1 {
			t.Fatalf("%s: changes %+v", name, w.effect.Memory)
		}
		c := w.effect.Memory[0]
		if c.From != test.state || c.To != test.want || c.By != "bob" || c.Uncited != (test.state == ports.MemoryQuarantined) {
			t.Errorf("%s: the change is %+v", name, c)
		}
		if a := w.effect.Audit; a == nil || a.Actor != "bob" || a.Action != string(test.command) || a.Subject != ports.MemoryName(c.ID) {
			t.Errorf("%s: the entry of the audit log is %+v", name, a)
		}
	}
	for _, args := range []string{"M-99", "M-14"} { // unknown, and of another repository alone
		w := &world{permission: ports.PermissionAdmin, records: records(), admins: []string{"bob"}}
		w.records[2].Organisation = false
		if err := w.say(t, "bob", commands.Remember, args); err != nil {
			t.Fatal(err)
		}
		if want := (render.Notice{Kind: render.NoticeNoRecord, Text: args}).String(); w.refused != want {
			t.Errorf("%s: %s", args, cmp.Diff(want, w.refused))
		}
	}
}

// modelReview is shown with a model's finding.
func modelReview() *ports.StoredReview {
	r := shown()
	r.Review.Report.Findings = append(r.Review.Report.Findings, pipeline.Finding{
		ID: "00aa", Fingerprints: pipeline.List[string]{"00aa", "00ab"}, Agent: "quality", Model: "big", Title: "The request is never ended", Severity: pipeline.SeverityWarning, Category: "reliability",
		Path: "store/client.go", StartLine: 6, Flagged: pipeline.List[string]{"12345678"},
	})
	return r
}

// What a dismissal teaches depends on its class, on the sender, and on who wrote the change.
func TestDismissalsTeach(t *testing.T) {
	const approvers = `{"memory": {"approvers": ["bob"]}}`
	for name, test := range map[string]struct {
		settings   string
		sender     string
		permission ports.Permission
		hidden     bool // a push was not seen
		args       string
		want       ports.MemoryState // of the new record; empty for none
		outcome    string
		own        bool
	}{
		"by a writer":             {"", "bob", ports.PermissionWrite, false, "false_positive the proxy ends it", ports.MemoryProposed, "proposed", false},
		"by a maintainer":         {"", "bob", ports.PermissionMaintain, false, "false positive: the proxy ends it", ports.MemoryActive, "active", false},
		"by an approver":          {approvers, "bob", ports.PermissionWrite, false, "false-positive the proxy ends it", ports.MemoryActive, "active", false},
		"by a maintaining author": {"", "alice", ports.PermissionAdmin, false, "false_positive mine", ports.MemoryProposed, "proposed", true},
		"by who may be an author": {"", "bob", ports.PermissionMaintain, true, "false_positive mine", ports.MemoryProposed, "proposed", true},
		"of another class":        {"", "bob", ports.PermissionMaintain, false, "wont_fix too old", "", "", false},
		"without a class":         {"", "bob", ports.PermissionMaintain, false, "it is a false positive", "", "", false},
	} {
		w := &world{settings: test.settings, permission: test.permission, pusher: "alice", hidden: test.hidden, reviewed: modelReview()}
		if err := w.say(t, test.sender, commands.Dismiss, "00aa "+test.args); err != nil {
			t.Fatal(err)
		}
		if w.outcome != "obeyed" || len(w.effect.Dismiss) != 2 {
			t.Fatalf("%s: %s, dismissed %+v", name, w.outcome, w.effect.Dismiss)
		}
		if test.want == "" {
			if len(w.effect.Memory) > 0 {
				t.Errorf("%s: changes %+v", name, w.effect.Memory)
			}
			continue
		}
		if len(w.effect.Memory) != 1 || w.effect.Memory[0].New == nil {
			t.Fatalf("%s: changes %+v", name, w.effect.Memory)
		}
		c := w.effect.Memory[0]
		got := *c.New
		votes := []ports.MemoryVote{{Person: ports.Person{Login: test.sender}, Key: target.Key(), Finding: "00aa", Own: test.own, At: now}}
		approver := ports.Person{}
		if test.want == ports.MemoryActive {
			approver = ports.Person{Login: test.sender}
		}
		want := ports.MemoryRecord{
			State: test.want, Repository: ports.Target{Kind: ports.TargetPull, RepoID: 2, Owner: "acme", Name: "shop"}, Models: true,
			About:  pipeline.FalsePositive{Agent: "quality", Category: "reliability", Title: "The request is never ended", Reason: w.effect.Dismiss[0].Reason},
			Cited:  ports.MemoryCitation{Key: target.Key(), Number: 3, Finding: "00aa", BaseRef: "main", Path: "store/client.go", Line: 6, Lines: []string{"12345678"}, End: ports.PullOpen},
			Author: ports.Person{Login: test.sender}, Own: test.own, Authors: []ports.Person{{Login: "alice"}}, Approver: approver, Created: now, Used: now, Votes: votes,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if a := answer(t, c.Say(12)); a.Outcome != test.outcome || a.Record != "M-12" {
			t.Errorf("%s: the answer is %+v", name, a)
		}
		if a := answer(t, c.Say(0)); a.Outcome != "full" {
			t.Errorf("%s: without room the answer is %+v", name, a)
		}
		if w.effect.Dismiss[0].Class != "false_positive" || w.effect.Entry.Judged.Class != "false_positive" {
			t.Errorf("%s: the class is %q", name, w.effect.Dismiss[0].Class)
		}
	}
}

// Another word on the finding takes back the proposal that its dismissal made. What became active
// stays.
func TestRestoreWithdraws(t *testing.T) {
	for _, test := range []struct {
		command commands.Name
		args    string
		state   ports.MemoryState
		want    bool
	}{
		{commands.Restore, "00aa", ports.MemoryProposed, true},
		{commands.Accept, "00aa", ports.MemoryProposed, true},
		{commands.Dismiss, "00aa wont_fix too old", ports.MemoryProposed, true},
		{commands.Restore, "00aa", ports.MemoryActive, false},
		{commands.Restore, dismissed, ports.MemoryProposed, false}, // another finding
	} {
		w := &world{permission: ports.PermissionMaintain, pusher: "alice", reviewed: modelReview(), records: records()[:1]}
		w.records[0].State, w.records[0].Cited = test.state, ports.MemoryCitation{Key: target.Key(), Finding: "00ab"}
		w.records[0].Votes = []ports.MemoryVote{{Key: target.Key(), Finding: "00ab"}}
		w.dismissed = []string{"00aa"}
		if err := w.say(t, "bob", test.command, test.args); err != nil {
			t.Fatal(err)
		}
		revoked := slices.ContainsFunc(w.effect.Memory, func(c ports.MemoryChange) bool { return c.ID == 12 && c.To == ports.MemoryRevoked })
		if w.outcome != "obeyed" || revoked != test.want {
			t.Errorf("%+v: %s, changes %+v", test, w.outcome, w.effect.Memory)
		}
		if active := test.state == ports.MemoryActive; active != slices.ContainsFunc(w.effect.Memory, func(c ports.MemoryChange) bool { return c.Unvote != nil }) {
			t.Errorf("%+v: changes %+v", test, w.effect.Memory)
		}
	}
}

// The authors of a pull request don't approve what anybody taught there, neither on that pull request nor
// on another one. An author may still approve what was taught elsewhere.
func TestAuthorsDoNotApproveWhatWasTaughtOnTheirs(t *testing.T) {
	for name, test := range map[string]struct {
		taughtOn string
		authors  []ports.Person
		sender   string
		hidden   bool // a push was not seen
		want     string
	}{
		"on this one, by its author":     {target.Key(), nil, "alice", false, render.TakesOtherApprover},
		"on this one, by somebody else":  {target.Key(), []ports.Person{{Login: "bob"}}, "bob", false, ""}, // who only merged the base
		"on this one, by who may be one": {target.Key(), nil, "bob", true, render.TakesOtherApprover},
		"on another one of theirs":       {"pull/2/99", []ports.Person{{Login: "bob"}}, "bob", false, render.TakesOtherApprover},
		"on another one of others":       {"pull/2/99", []ports.Person{{Login: "bob"}}, "alice", false, ""},
	} {
		w := &world{permission: ports.PermissionMaintain, pusher: "alice", hidden: test.hidden, records: records()}
		w.records[0].Cited.Key, w.records[0].Authors = test.taughtOn, test.authors
		if err := w.say(t, test.sender, commands.Remember, "M-12"); err != nil {
			t.Fatal(err)
		}
		if got := w.lacks(t); got != test.want {
			t.Errorf("%s: lacks %q, want %q", name, got, test.want)
		}
	}
}

// Without config in force in the organisation's own repository, anybody might have created it. Its
// admins may take back there, and not approve.
func TestOrganisationWithoutConfig(t *testing.T) {
	for command, want := range map[commands.Name]string{commands.Remember: render.TakesOrganisation, commands.Forget: ""} {
		w := &world{permission: ports.PermissionAdmin, records: records(), admins: []string{"bob"}, bare: true}
		if err := w.say(t, "bob", command, "M-14"); err != nil {
			t.Fatal(err)
		}
		if got := w.lacks(t); got != want {
			t.Errorf("%s lacks %q, want %q", command, got, want)
		}
	}
}

// GitHub is asked about the sender at that moment, and trouble there is no answer.
func TestNothingIsTaughtWithoutGitHub(t *testing.T) {
	w := &world{permission: ports.PermissionMaintain, pusher: "alice", reviewed: modelReview(), records: records(), fails: &ports.HostError{Kind: ports.HostTransient, Err: errors.New("502")}}
	for command, args := range map[commands.Name]string{commands.Dismiss: "00aa false_positive no", commands.Remember: "M-12", commands.Forget: "M-12"} {
		if err := w.say(t, "bob", command, args); err == nil || w.outcome != "" || len(w.effect.Memory) > 0 {
			t.Errorf("%s: %v, %s", command, err, w.outcome)
		}
	}
}
