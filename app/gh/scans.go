package gh

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
)

const (
	// maxOtherPages bounds the check runs of a head. GitHub lists 1,000.
	maxOtherPages = 10
	// maxAlertPages bounds the alerts of a ref. GitHub also lists alerts of the
	// repository that the pull request did not cause but still has.
	maxAlertPages = 20
)

// OtherRuns lists the check runs of other Apps on a commit. For each suite and name
// it lists the newest. For more than 1,000 check runs the error is a
// *ports.TooMuchError.
func (s *source) OtherRuns(ctx context.Context, commit string) ([]ports.ScanRun, error) {
	const op = "list the check runs of others"
	r := s.get(op, "/repos/{owner}/{repo}/commits/{ref}/check-runs", s.target.Owner, s.target.Name, commit)
	r.query = url.Values{"filter": {"latest"}}
	all, whole, err := pages[checkList](ctx, s.client, s.target, r, maxOtherPages)
	if err != nil {
		return nil, err
	}
	listed := 0
	for _, page := range all {
		listed += len(page.Runs)
	}
	if !whole || *all[0].Total > listed { // GitHub may end a list without saying so
		return nil, &ports.TooMuchError{What: fmt.Sprintf("this head has more than %d check runs, which are all that is listed", maxOtherPages*perPage)}
	}
	var runs []ports.ScanRun
	for _, page := range all {
		for _, c := range page.Runs {
			if c.GetApp().GetID() == s.client.appID {
				continue
			}
			runs = append(runs, ports.ScanRun{
				ID: c.GetID(), Name: part(c.GetName()), App: part(c.GetApp().GetSlug()),
				Completed: c.GetStatus() == "completed", Cut: ports.CutShort(c.GetConclusion()), Annotations: c.GetOutput().GetAnnotationsCount(),
			})
		}
	}
	return runs, nil
}

// Annotations lists the annotations of a check run, in GitHub's order.
func (s *source) Annotations(ctx context.Context, run int64, most int) ([]ports.ScanAnnotation, error) {
	const op = "list the annotations of a check run"
	r := s.get(op, "/repos/{owner}/{repo}/check-runs/{check_run_id}/annotations", s.target.Owner, s.target.Name, run)
	var list []ports.ScanAnnotation
	// One page at a time: a page may have several megabytes, and most of them are cut
	// off.
	whole, err := walk(ctx, s.client, s.target, r, (most+perPage-1)/perPage, func(page annotationList) bool {
		for _, a := range page {
			list = append(list, ports.ScanAnnotation{
				Path: a.GetPath(), StartLine: a.GetStartLine(), EndLine: a.GetEndLine(), Level: a.GetAnnotationLevel(),
				Title: part(a.GetTitle()), Message: part(a.GetMessage()), RawDetails: part(a.GetRawDetails()),
			})
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	if !whole {
		return nil, tooMany(op, most)
	}
	return list, nil
}

// Alerts lists the open code scanning alerts of the pull request, or of the
// merge group. Some tools analyse the result of the merge, others the head itself.
func (s *source) Alerts(ctx context.Context) (alerts []ports.ScanAlert, none string, err error) {
	refs := []string{s.target.HeadRef}
	if s.target.Kind != ports.TargetGroup {
		refs = []string{fmt.Sprintf("refs/pull/%d/merge", s.target.Number), fmt.Sprintf("refs/pull/%d/head", s.target.Number)}
	}
	known := map[int]bool{}
	analysed := false
	for _, ref := range refs {
		list, off, err := s.alertsOf(ctx, ref)
		if isNotFound(err) { // tools may have analysed only one of the refs
			continue
		}
		if err != nil || off != "" {
			return nil, off, err
		}
		analysed = true
		for _, a := range list {
			if !known[a.Number] {
				known[a.Number] = true
				alerts = append(alerts, a)
			}
		}
	}
	if !analysed {
		none = "code scanning has analysed nothing here"
	}
	return alerts, none, nil
}

// alertsOf lists the open alerts of a ref. If the repository has no code scanning, off
// says so in words. If the ref was not analysed, the error is HostNotFound.
func (s *source) alertsOf(ctx context.Context, ref string) (list []ports.ScanAlert, off string, err error) {
	const op = "list the code scanning alerts"
	r := s.get(op, "/repos/{owner}/{repo}/code-scanning/alerts", s.target.Owner, s.target.Name)
	r.query = url.Values{"ref": {ref}, "state": {"open"}}
	err = walkAll(ctx, s.client, s.target, r, maxAlertPages, func(page alertList) bool {
		for i := range page {
			if a := &page[i]; open(a.GetState()) && open(a.GetMostRecentInstance().GetState()) {
				list = append(list, alert(a))
			}
		}
		return true
	})
	switch {
	case notEnabled(err):
		return nil, "code scanning is not enabled for the repository", nil
	case err != nil:
		return nil, "", err
	}
	return list, "", nil
}

// open reports whether the state of an alert, or of its instance on a ref, is open. An
// alert that the pull request fixes is still open on the base. Alerts that the default
// branch never had may have no state.
func open(state string) bool { return state == "" || state == "open" }

// notEnabled reports whether GitHub has no code scanning for a repository. GitHub says so
// only in the message: the status is that of a missing permission.
func notEnabled(err error) bool {
	var host *ports.HostError
	if !errors.As(err, &host) || host.Kind != ports.HostForbidden {
		return false
	}
	message := strings.ToLower(host.Error())
	return strings.Contains(message, "must be enabled") || strings.Contains(message, "is not enabled")
}

func alert(a *alertAnswer) ports.ScanAlert {
	rule, at := &a.Rule, a.GetMostRecentInstance()
	return ports.ScanAlert{
		Number: a.GetNumber(), Tool: part(a.GetTool().GetName()), Rule: part(rule.GetID()), Title: part(rule.GetDescription()),
		Severity: rule.GetSeverity(), SecuritySeverity: rule.GetSecuritySeverityLevel(),
		Path: at.GetLocation().GetPath(), StartLine: at.GetLocation().GetStartLine(), EndLine: at.GetLocation().GetEndLine(),
		Message: part(at.GetMessage().GetText()), Why: part(rule.GetFullDescription()), HelpURL: part(rule.HelpURI),
	}
}

// part returns the first ports.MaxScanText bytes of a text. It copies them, so that the
// rest can be freed.
func part(s string) string {
	if len(s) <= ports.MaxScanText {
		return s
	}
	return strings.Clone(strings.ToValidUTF8(s[:ports.MaxScanText], ""))
}
