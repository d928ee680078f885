package render

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); go test -update writes it anew:\n%s", file, diff)
	}
}

// samples are the reviews whose every word is kept in testdata.
var samples = []struct {
	name string
	view func() View
}{
	{"clean", cleanView},
	{"findings", findingsView},
	{"resolved", resolvedView},
	{"incomplete", incompleteView},
	{"broken-config", brokenConfigView},
	{"broken-organisation", brokenOrganisationView},
	{"broken-layers", brokenLayersView},
	{"broken-own-organisation", brokenOwnOrganisationView},
	{"unread-organisation", unreadOrganisationView},
	{"fork", forkView},
	{"gaps", gapsView},
	{"advisory", advisoryView},
	{"shared-head", sharedView},
	{"aside", asideView},
	{"custom-gate", customGateView},
	{"repeated", repeatedView},
	{"proposed", proposedView},
	{"proposed-same", proposedSameView},
	{"proposed-large", proposedLargeView},
	{"proposed-broken", proposedBrokenView},
	{"proposed-unknown", proposedUnknownView},
	{"disagree", disagreeView},
	{"reports", reportsView},
	{"models", modelsView},
	{"held", heldView},
	{"back", backView},
	{"overridden", overriddenView},
	{"overridden-incomplete", overriddenIncompleteView},
	{"rejected", rejectedView},
	{"accepted", acceptedView},
	{"hostile", hostileView},
	{"local", localView},
}

func TestComments(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			golden(t, "comment/"+s.name+".md", Comment(s.view()).Body+"\n")
		})
	}
}

// Of a report that does not fit, the golden file keeps the start and the end.
func TestCommentThatDoesNotFit(t *testing.T) {
	lines := strings.Split(Comment(overflowView(4000)).Body, "\n")
	excerpt := append(append(lines[:24:24], "", "[...]", ""), lines[len(lines)-32:]...)
	golden(t, "comment/overflow.md", strings.Join(excerpt, "\n")+"\n")
}

func TestChecks(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			v := s.view()
			golden(t, "check/"+s.name+".md", conclusionAndOutput(Conclusion(v), Check(v)))
		})
	}
}

func TestTexts(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			golden(t, "text/"+s.name+".txt", Text(s.view(), TextOptions{Width: 100}))
		})
	}
}

func TestLocalMarkdown(t *testing.T) { golden(t, "local.md", Markdown(localView())) }

func TestChecksWithoutVerdict(t *testing.T) {
	started := time.Date(2026, 11, 3, 9, 30, 0, 0, time.UTC)
	var b strings.Builder
	for _, c := range []struct {
		conclusion string
		output     CheckOutput
	}{
		{"in progress", PendingCheck(Pending{HeadSHA: headSHA, StartedAt: started, Reason: "pushed"})},
		{"in progress", PendingCheck(Pending{HeadSHA: headSHA, StartedAt: started})},
		{ConclusionActionRequired, DraftSkipped()},
		{ConclusionFailure, CouldNotComplete("GitHub answered 502 for 30 minutes while the changed files were read", "Wait until githubstatus.com shows no trouble")},
		{ConclusionCancelled, Superseded(headSHA)},
		{ConclusionCancelled, Superseded("")},
		{ConclusionNeutral, SwitchedOff()},
	} {
		b.WriteString(conclusionAndOutput(c.conclusion, c.output) + "\n")
	}
	golden(t, "check/without-verdict.md", b.String())
}

func TestNotices(t *testing.T) {
	golden(t, "notices.txt", strings.Join([]string{
		RefusedPermission("sam"), RefusedRate(1), RefusedRate(20), UnknownCommand("dimsiss"), UnknownCommand("a`b"),
	}, "\n")+"\n")
}

func conclusionAndOutput(conclusion string, o CheckOutput) string {
	var b strings.Builder
	fmt.Fprintf(&b, "conclusion: %s\ntitle: %s\n\n=== summary\n%s\n", conclusion, o.Title, o.Summary)
	if o.Text != "" {
		fmt.Fprintf(&b, "\n=== text\n%s\n", o.Text)
	}
	for i, a := range o.Annotations {
		if i == 10 {
			fmt.Fprintf(&b, "\n=== %d annotations in all\n", len(o.Annotations))
			break
		}
		fmt.Fprintf(&b, "\n=== annotation %s %s:%d-%d\n%s\n%s\n", a.Level, jsonOf(a.Path), a.StartLine, a.EndLine, a.Title, a.Message)
		if a.RawDetails != "" {
			fmt.Fprintf(&b, "--- raw details\n%s\n", a.RawDetails)
		}
	}
	for _, a := range o.Actions {
		fmt.Fprintf(&b, "\n=== action %s: %s: %s\n", a.Identifier, a.Label, a.Description)
	}
	return b.String()
}

func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
