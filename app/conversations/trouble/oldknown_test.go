package trouble

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// knows opens the database, which upgrades it, and fails unless the store knows what the old
// server stored.
func (o *old) knows(version oldVersion) {
	o.Helper()
	s, err := store.Open(o.Context(), o.DB, store.Options{Unsynced: true})
	if err != nil {
		o.Fatalf("upgrade the database: %v", err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			o.Error(err)
		}
	}()
	o.knowsTargets(s, version)
	o.knowsWrites(s)
	o.knowsPeople(s, version)
	o.knowsTheRest(s, version)
}

func (o *old) knowsTargets(s *store.Store, version oldVersion) {
	o.Helper()
	for name, ok := range map[string]func(t ports.TargetState) bool{
		"insecure": func(t ports.TargetState) bool { return t.Wanted == 2 && t.Done == 1 && !t.AskedAt.IsZero() },
		"late":     func(t ports.TargetState) bool { return t.Wanted == 2 && t.Done == 1 },
		"pushed":   func(t ports.TargetState) bool { return t.Wanted == 2 && t.Done == 2 },
		"rejected": func(t ports.TargetState) bool { return t.FixLoop.Name() == "escalated" && t.Resumes == 0 },
		"noticed":  func(t ports.TargetState) bool { return len(t.Notices) == 1 },
		"scanned": func(t ports.TargetState) bool {
			return len(t.Scans.Agents) == 1 && len(t.Scans.Agents[0].Annotated) == 1
		},
		"closed":  func(t ports.TargetState) bool { return t.Closed },
		"refused": func(t ports.TargetState) bool { return t.GaveUp },
		"muted":   func(t ports.TargetState) bool { return t.GaveUp && t.Result != "" && t.Overdue == (ports.Overdue{}) },
		"stuck": func(t ports.TargetState) bool {
			return t.Attempts == 3 && !t.FailedSince.IsZero() && t.Result == "" && t.Overdue == ports.Overdue{Generation: 2, Attempts: 1}
		},
		"checknot":  func(t ports.TargetState) bool { return t.Wanted == 1 && t.Done == 0 && t.Attempts == 1 },
		"reading":   func(t ports.TargetState) bool { return t.Wanted == 1 && t.Done == 0 && t.Attempts == 0 },
		"dismissed": func(t ports.TargetState) bool { return t.Wanted == t.Done },
		"quarantined": func(t ports.TargetState) bool {
			return (t.Quarantine.Deaths == 1 && t.Quarantine.Next.Year() == 2100) == version.hasDeaths
		},
	} {
		t, err := s.Target(o.Context(), o.key(name))
		if err != nil || !ok(t) || t.Owner != "acme" || t.Name != "shop" {
			o.Errorf("%s: %v: %+v", name, err, t)
		}
	}
	if _, err := s.Target(o.Context(), o.key("old")); !errors.Is(err, ports.ErrNotFound) {
		o.Errorf("a deleted target: %v", err)
	}
	all, err := s.Unanswered(o.Context(), o.GH.InstallationID("acme"))
	if err != nil || len(all) != 1 || all[0].Key() != o.key("muted") {
		o.Errorf("unanswered are %v (%v), want the one whose check could not be written", all, err)
	}
}

// knowsWrites compares the stored writes of the App with GitHub.
func (o *old) knowsWrites(s *store.Store) {
	o.Helper()
	newest := func(kind ports.WriteKind, subject string) ports.Write {
		o.Helper()
		w, err := s.NewestWrite(o.Context(), kind, subject)
		if err != nil {
			o.Fatal(err)
		}
		if w == nil {
			return ports.Write{}
		}
		return *w
	}
	for name, pr := range o.pulls {
		if strings.HasPrefix(name, "check") || name == "old" || name == "muted" || name == "refused" {
			continue // has no check, or one that the store does not know
		}
		run := slices.Concat([]ghtest.CheckRun{{}}, pr.CheckRuns())[len(pr.CheckRuns())]
		w := newest(ports.WriteCheck, fmt.Sprintf("%d/%s", pr.Repo().ID(), pr.HeadSHA()))
		if w.RemoteID != run.ID || w.ExternalID != run.ExternalID || w.State == ports.WriteCompleted && !run.Completed() {
			o.Errorf("%s: the check is stored as %+v, and is %d, %s, %s", name, w, run.ID, run.ExternalID, run.Status)
		}
		if w := newest(ports.WriteComment, o.key(name)); w.RemoteID > 0 && w.RemoteID != pr.AppComments()[0].ID {
			o.Errorf("%s: the comment is stored as %d, and is %d", name, w.RemoteID, pr.AppComments()[0].ID)
		}
		if w := newest(ports.WriteReview, o.key(name)); w.RemoteID > 0 && w.RemoteID != pr.Reviews.OfApp()[len(pr.Reviews.OfApp())-1].ID {
			o.Errorf("%s: the review is stored as %d, which is not the newest", name, w.RemoteID)
		}
	}
	for name, want := range map[string]struct {
		kind  ports.WriteKind
		state ports.WriteState
		says  string // verdict, base branch, people asked, people being asked
	}{
		"approved":     {ports.WriteReview, ports.WriteOpen, "APPROVE main [] []"},
		"pushed":       {ports.WriteReview, ports.WriteCompleted, "APPROVE main [] []"},
		"backport":     {ports.WriteReview, ports.WriteOpen, "APPROVE release/1 [] []"},
		"rejected":     {ports.WriteReview, ports.WriteCompleted, "REQUEST_CHANGES main [] []"},
		"approvingnot": {ports.WriteReview, ports.WriteIntended, "APPROVE main [] []"},
		"approving":    {ports.WriteReview, ports.WriteIntended, "APPROVE main [] []"},
		"unclear":      {ports.WriteRequests, ports.WriteCompleted, "[wes] []"},
		"askingnot":    {ports.WriteRequests, ports.WriteIntended, "[] [wes]"},
		"asking":       {ports.WriteRequests, ports.WriteIntended, "[] [wes]"},
		"commentnot":   {ports.WriteComment, ports.WriteIntended, "[] []"},
		"commentthere": {ports.WriteComment, ports.WriteIntended, "[] []"},
	} {
		w := newest(want.kind, o.key(name))
		if w.State != want.state {
			o.Errorf("%s: the %s is %s, want %s", name, want.kind, w.State, want.state)
		}
		if says := strings.TrimSpace(fmt.Sprintf("%s %s %s %s", w.Verdict, w.BaseRef, w.Asked, w.Asking)); says != want.says || w.Digest != "" != (w.Kind == ports.WriteComment && w.State != ports.WriteIntended) {
			o.Errorf("%s: the %s says %s, want %s; digest %q", name, want.kind, says, want.says, w.Digest)
		}
	}
	for _, name := range []string{"checknot", "checkthere"} {
		if w := newest(ports.WriteCheck, fmt.Sprintf("%d/%s", o.Repo.ID(), o.pulls[name].HeadSHA())); w.State != ports.WriteIntended {
			o.Errorf("%s: the check is %s", name, w.State)
		}
	}
	o.knowsChecks(newest)
}

// knowsChecks fails unless the store knows what checks said, and what was being sent to them.
// A cancelled check is not an answer for its head.
func (o *old) knowsChecks(newest func(ports.WriteKind, string) ports.Write) {
	o.Helper()
	for name, want := range map[string]struct {
		conclusion string
		state      ports.WriteState
	}{
		"approved": {"success", ports.WriteCompleted}, "rejected": {"failure", ports.WriteCompleted},
		"sending": {"action_required", ports.WriteOpen}, "sent": {"action_required", ports.WriteOpen}, "writing": {"action_required", ports.WriteOpen},
		"reading": {"", ports.WriteOpen},
	} {
		w := newest(ports.WriteCheck, fmt.Sprintf("%d/%s", o.Repo.ID(), o.pulls[name].HeadSHA()))
		sending := w.State == ports.WriteOpen && want.conclusion != ""
		if w.Conclusion != want.conclusion || w.State != want.state || isDigest(w.Sending) != sending || isDigest(w.Digest) != (w.State == ports.WriteCompleted) {
			o.Errorf("%s: the check is stored as %+v", name, w)
		}
	}
	const overtaken = "c33c1ad675d487b09608fee01e731ade9790ed6b" // its first head
	w := newest(ports.WriteCheck, fmt.Sprintf("%d/%s", o.Repo.ID(), overtaken))
	if runs := o.Repo.Checks.On(overtaken); len(runs) != 1 || w.RemoteID != runs[0].ID || w.Conclusion != runs[0].Conclusion || w.Conclusion != "cancelled" || !isDigest(w.Digest) {
		o.Errorf("the cancelled check is stored as %+v, and is %+v", w, runs)
	}
}

// isDigest reports whether the whole text is a digest.
func isDigest(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }

// knowsPeople fails unless the store knows what people decided.
func (o *old) knowsPeople(s *store.Store, version oldVersion) {
	o.Helper()
	actions := map[string]string{"dismissed": "dismiss", "accepted": "accept", "overridden": "override"}
	for name, action := range actions {
		m, err := s.Taught(o.Context(), o.key(name), o.pulls[name].HeadSHA(), "main")
		if err != nil || len(m.Dismissed) == 1 != (name == "dismissed") || len(m.Accepted) == 1 != (name == "accepted") || m.ByHand != nil != (name == "overridden") {
			o.Errorf("%s: %+v (%v)", name, m, err)
		}
		log, err := s.Audit(o.Context(), o.key(name), 10)
		if err != nil || len(log) != 1 || log[0].Action != action || log[0].Actor != "carol" {
			o.Errorf("%s: the audit log has %+v (%v)", name, log, err)
		}
	}
	asked := o.pulls["insecure"].Comments()
	c, done, err := s.Command(o.Context(), ports.PlaceConversation, asked[len(asked)-1].ID)
	if err != nil || done || c.Name != "status" || c.Sender != "alice" {
		o.Errorf("the waiting command is %+v, done %v (%v)", c, done, err)
	}
	pushes, err := s.Pushes(o.Context(), ports.Target{Kind: ports.TargetPull, RepoID: o.Repo.ID(), Number: o.pulls["pushed"].Number})
	if err != nil || len(pushes) == 2 != version.hasPushes {
		o.Errorf("pushes %+v (%v)", pushes, err)
	}
}

func (o *old) knowsTheRest(s *store.Store, version oldVersion) {
	o.Helper()
	for name, decision := range map[string]pipeline.Decision{
		"approved": pipeline.DecisionPass, "insecure": pipeline.DecisionNeedsFixes, "rejected": pipeline.DecisionFail, "dismissed": pipeline.DecisionPass,
	} {
		r, err := s.LatestReview(o.Context(), o.key(name))
		if err != nil || r == nil || r.Review.Report.Decision != decision || len(r.Config) == 0 || len(r.Review.Facts.Files) == 0 {
			o.Errorf("%s: %v, want a whole review that decided %s", name, err, decision)
		}
	}
	for name, kind := range map[string]pipeline.ReasonKind{"accepted": pipeline.ReasonAccepted, "unclear": pipeline.ReasonHeld} {
		r, err := s.LatestReview(o.Context(), o.key(name))
		if err != nil || r == nil || len(r.Review.Report.Findings) != 1 || !r.Review.Report.Findings[0].HasReason(kind) {
			o.Errorf("%s: its finding is not known as %q (%v)", name, kind, err)
		}
	}
	if r, err := s.UnpublishedReview(o.Context(), o.key("insecure")); err != nil || r == nil || r.Generation != 2 {
		o.Errorf("the review to be published: %v (%v)", r != nil, err)
	}
	for layer, text := range map[string]string{"repository": `"tech_debt": true`, "repository:release/1": `"tech_debt": false`} {
		good, err := s.GoodLayer(o.Context(), o.Repo.ID(), layer)
		if err != nil || good == nil || !slices.ContainsFunc(good.Files, func(f ports.ConfigBlob) bool { return strings.Contains(string(f.Text), text) }) {
			o.Errorf("the layer %s lacks %s (%v)", layer, text, err)
		}
	}
	if branch, err := s.ConfigBranch(o.Context(), o.key("backport")); err != nil || branch != "release/1" {
		o.Errorf("the branch of backport is %q (%v)", branch, err)
	}
	for repo, name := range map[string]string{"acme/shop": "acme/shop", "acme/bank": "acme/bank"} {
		names, err := s.RepositoryNames(o.Context(), o.GH.Repo(repo).ID())
		if err != nil || slices.Equal(names, []string{name}) != version.hasNames {
			o.Errorf("the names of %s are %q (%v)", repo, names, err)
		}
	}
	debt, err := s.LiveDeferred(o.Context(), o.Repo.ID())
	if err != nil || len(debt) != 2 || debt[0].State != ports.DeferredOpen || debt[0].Number != o.Repo.Issues.All()[0].Number || debt[1].State != ports.DeferredIntended {
		o.Errorf("deferred is %+v (%v)", debt, err)
	}
	if at, err := s.Mark(o.Context(), "delivery log"); err != nil || at.IsZero() {
		o.Errorf("the delivery log was read until %s (%v)", at, err)
	}
	lost, err := s.LostDeliveries(o.Context(), s.Now(), 10)
	if err != nil || len(lost) == 1 != version.hasMissing {
		o.Errorf("lost deliveries %+v (%v)", lost, err)
	}
}
