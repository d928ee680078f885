package ghtest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// ref is the ref of the pull request's merge result.
func (al *Alerts) ref() string { return fmt.Sprintf("refs/pull/%d/merge", al.pull.Number) }

func listAlerts(c *call) *Response {
	state, refused := c.oneOf("state", "", "open", "closed", "dismissed", "fixed")
	if refused != nil {
		return refused
	}
	ref := c.req.URL.Query().Get("ref")
	return c.locked(func() *Response {
		scanning := c.repo.scanning
		switch {
		case !scanning.on:
			return refuse(http.StatusForbidden, "Code Security must be enabled for this repository to use code scanning.")
		case len(scanning.analysed) == 0:
			return refuse(http.StatusNotFound, "no analysis found")
		}
		alerts := slices.DeleteFunc(slices.Clone(scanning.alerts), func(a *Alert) bool {
			return ref != "" && a.Ref != ref || state != "" && a.State != state && (state != "closed" || a.State == "open")
		})
		slices.Reverse(alerts) // newest first
		return listed(c, alerts, func(a *Alert) object { return c.s.render.alert(c.repo, a) })
	})
}

// alert writes an alert in the form of lists and events.
func (v *renderer) alert(r *Repo, a *Alert) object {
	url := v.api("/repos/%s/code-scanning/alerts/%d", r.fullName(), a.Number)
	page := v.web("/%s/security/code-scanning/%s", r.fullName(), strconv.Itoa(a.Number))
	var dismissedBy, dismissedAt, reason, fixedAt any
	switch a.State {
	case "dismissed":
		dismissedBy, dismissedAt, reason = v.account(r.owner), stamp(v.s.now()), "false positive"
	case "fixed":
		fixedAt = stamp(v.s.now())
	}
	return object{
		"number": a.Number, "created_at": stamp(a.createdAt), "updated_at": stamp(a.createdAt), "url": url, "html_url": page, "instances_url": url + "/instances",
		"state": a.State, "fixed_at": fixedAt, "dismissed_by": dismissedBy, "dismissed_at": dismissedAt, "dismissed_reason": reason, "dismissed_comment": nil,
		"rule": object{
			"id": a.Rule, "name": a.Rule, "severity": orNil(a.Severity), "security_severity_level": orNil(a.SecuritySeverity), "description": a.Description,
			"full_description": a.Description, "tags": []string{"security"}, "help": nil, "help_uri": a.HelpURI,
		},
		"tool": object{"name": a.Tool, "guid": nil, "version": "2.0.0"},
		"most_recent_instance": object{
			"ref": a.Ref, "analysis_key": ".github/workflows/codeql.yml:analyze", "environment": "{}", "category": ".github/workflows/codeql.yml:analyze",
			"state": a.State, "commit_sha": zeroSHA, "message": object{"text": a.Message}, "classifications": []string{},
			"location": object{"path": a.Path, "start_line": a.StartLine, "end_line": max(a.StartLine, a.EndLine), "start_column": 1, "end_column": 2},
		},
	}
}
