package gh

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// Other Apps' check runs are the newest ones of each name in each App's suite, whether or not
// they have ended. Ours are not among them.
func TestOtherRuns(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": "a\n"}})
	_, err := w.client.CreateCheck(t.Context(), w.target(p), ports.CheckWrite{Name: "reviewgate", HeadSHA: p.HeadSHA(), Conclusion: "success"})
	w.must(err)
	note := ghtest.Annotation{Path: "a.txt", StartLine: 1, EndLine: 1, Level: "notice", Message: "m"}
	w.repo.Checks.OtherCheck("ci", "lint", p.HeadSHA(), "failure", note)
	again := w.repo.Checks.OtherCheck("ci", "lint", p.HeadSHA(), "success", note, note)
	other := w.repo.Checks.OtherCheck("scanner", "lint", p.HeadSHA(), "timed_out")
	open := w.repo.Checks.StartOtherCheck("ci", "build", p.HeadSHA())
	src := w.client.Source(w.target(p))
	got, err := src.OtherRuns(t.Context(), p.HeadSHA())
	w.must(err)
	want := []ports.ScanRun{
		{ID: open.ID, Name: "build", App: "ci"}, {ID: other.ID, Name: "lint", App: "scanner", Completed: true, Cut: true},
		{ID: again.ID, Name: "lint", App: "ci", Completed: true, Annotations: 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if src.Calls() != 1 {
		t.Errorf("%d calls, want 1", src.Calls())
	}
}

// More check runs than are listed give an error. Otherwise somebody could start many checks
// to hide the findings of others.
func TestTooManyOtherRuns(t *testing.T) {
	sample.Variant(t)
	w := newWorld(t, ghtest.Options{})
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": "a\n"}})
	for i := range maxOtherPages*perPage + 1 {
		w.repo.Checks.OtherCheck("ci", fmt.Sprint("job ", i), p.HeadSHA(), "success")
	}
	var much *ports.TooMuchError
	if runs, err := w.client.Source(w.target(p)).OtherRuns(t.Context(), p.HeadSHA()); !errors.As(err, &much) {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

func TestAnnotationsOfOtherApps(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": "a\n"}})
	var notes []ghtest.Annotation
	for i := range 250 {
		notes = append(notes, ghtest.Annotation{Path: "a.txt", StartLine: i + 1, EndLine: i + 2, Level: "failure", Title: "t", Message: fmt.Sprint("message ", i), RawDetails: "raw"})
	}
	notes[249].Message = strings.Repeat("é", 30_000)
	run := w.repo.Checks.OtherCheck("ci", "lint", p.HeadSHA(), "failure", notes...)
	_, err := w.client.Source(w.target(p)).OtherRuns(t.Context(), p.HeadSHA()) // this call takes the token
	w.must(err)
	src := w.client.Source(w.target(p))
	got, err := src.Annotations(t.Context(), run.ID, 250)
	w.must(err)
	if len(got) != 250 || src.Calls() != 3 {
		t.Fatalf("%d annotations by %d calls, want 250 by 3", len(got), src.Calls())
	}
	want := ports.ScanAnnotation{Path: "a.txt", StartLine: 5, EndLine: 6, Level: "failure", Title: "t", Message: "message 4", RawDetails: "raw"}
	if diff := cmp.Diff(want, got[4]); diff != "" {
		t.Error(diff)
	}
	if n := len(got[249].Message); n > ports.MaxScanText || n < ports.MaxScanText-4 {
		t.Errorf("a long text has %d bytes", n)
	}
	_, err = w.client.Source(w.target(p)).Annotations(t.Context(), run.ID, 200)
	wantHostError(t, err, ports.HostInvalid)
}

func TestAlerts(t *testing.T) {
	permissions := ghtest.DefaultPermissions()
	permissions["security_events"] = "read"
	w := newWorld(t, ghtest.Options{Permissions: permissions})
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"a.txt": "a\n"}})
	alerts := func(want string) []ports.ScanAlert {
		t.Helper()
		list, none, err := w.client.Source(w.target(p)).Alerts(t.Context())
		w.must(err)
		if none != want {
			t.Errorf("no alerts, because %q, want %q", none, want)
		}
		return list
	}
	alerts("code scanning is not enabled for the repository")
	w.repo.EnableCodeScanning()
	alerts("code scanning has analysed nothing here")
	alert := ghtest.Alert{
		Tool: "CodeQL", Rule: "go/x", Description: "Bad", Severity: "warning", SecuritySeverity: "high", Path: "a.txt", StartLine: 1, EndLine: 2,
		Message: "No.", HelpURI: "https://example.com/x",
	}
	made := p.Alerts.Analysed(alert, alert, alert)
	p.Alerts.Fix(made[1].Number)
	p.Alerts.Dismiss("alice", made[2].Number)
	want := []ports.ScanAlert{{
		Number: made[0].Number, Tool: "CodeQL", Rule: "go/x", Title: "Bad", Severity: "warning", SecuritySeverity: "high", Path: "a.txt", StartLine: 1, EndLine: 2,
		Message: "No.", Why: "Bad", HelpURL: "https://example.com/x",
	}}
	if diff := cmp.Diff(want, alerts("")); diff != "" {
		t.Error(diff)
	}
	var refs []string
	for _, c := range w.hub.Calls.All() {
		if strings.HasSuffix(c.Path, "/code-scanning/alerts") {
			refs = append(refs, c.Query)
		}
	}
	if n := len(refs); n != 5 || !slices.ContainsFunc(refs, func(q string) bool { return strings.Contains(q, "ref=refs%2Fpull%2F1%2Fhead") }) {
		t.Errorf("asked with %q", refs)
	}

	// Tools analyse either the merge or the head. The other ref is then unknown.
	for _, unknown := range []string{"merge", "head"} {
		stop := w.hub.On("GET /repos/{owner}/{repo}/code-scanning/alerts", func(x *ghtest.Exchange) {
			if strings.HasSuffix(x.Query.Get("ref"), unknown) {
				x.Fail(404, "no analysis found")
			}
		})
		alerts("")
		stop()
	}

	group := w.target(p)
	group.Kind, group.HeadRef = ports.TargetGroup, "refs/heads/gh-readonly-queue/main/pr-1-abc"
	if list, _, err := w.client.Source(group).Alerts(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("a merge group has its pull request's alerts: %v, %v", list, err)
	}
	w.hub.SetPermissions("acme", ghtest.DefaultPermissions())
	_, _, err := w.client.Source(w.target(p)).Alerts(t.Context())
	wantHostError(t, err, ports.HostForbidden)
}

// An alert that is open on the base but fixed by the pull request does not count. The state
// may be missing where only the pull request has the alert.
func TestAlertStateOnTheRef(t *testing.T) {
	for state, want := range map[string]bool{"open": true, "": true, "fixed": false, "dismissed": false} {
		if open(state) != want {
			t.Errorf("%q is open: %t", state, open(state))
		}
	}
	host := &ports.HostError{Kind: ports.HostForbidden, Err: errors.New("answered 403 Forbidden: Advanced Security must be enabled for this repository to use code scanning")}
	if !notEnabled(host) || notEnabled(&ports.HostError{Kind: ports.HostForbidden, Err: errors.New("Resource not accessible by integration")}) || notEnabled(errors.New("must be enabled")) {
		t.Error("a service that is not enabled was confused with a missing permission")
	}
}
