package ghtest

import (
	"fmt"
	"slices"
)

// RequiredCheck is a check that a branch requires before a merge into it. App is the id of
// the only App whose check counts, or 0 for any App.
type RequiredCheck struct {
	Name string
	App  int64
}

// Rule is a rule of a ruleset, in GitHub's words.
type Rule struct {
	Type       string // such as "deletion"
	Parameters map[string]any
}

// Protect requires checks on a branch by branch protection, the older of GitHub's two ways.
// Without checks it ends the protection.
func (set *Settings) Protect(branch string, checks ...RequiredCheck) {
	set.repo.change(func() {
		if set.protected == nil {
			set.protected = map[string][]RequiredCheck{}
		}
		set.protected[branch] = checks
	})
}

// AddRules adds rules of a ruleset to those of a branch.
func (set *Settings) AddRules(branch string, rules ...Rule) {
	set.repo.change(func() {
		if set.rules == nil {
			set.rules = map[string][]Rule{}
		}
		set.rules[branch] = append(set.rules[branch], rules...)
	})
}

// DropRules ends all rulesets on a branch.
func (set *Settings) DropRules(branch string) {
	set.repo.change(func() { delete(set.rules, branch) })
}

// RequireChecks is the rule that requires checks.
func RequireChecks(checks ...RequiredCheck) Rule {
	list := []object{}
	for _, c := range checks {
		o := object{"context": c.Name}
		if c.App != 0 {
			o["integration_id"] = c.App
		}
		list = append(list, o)
	}
	return Rule{Type: "required_status_checks", Parameters: map[string]any{
		"strict_required_status_checks_policy": false, "do_not_enforce_on_create": false, "required_status_checks": list,
	}}
}

// MergeQueue is the rule that requires merges to go through a queue.
func MergeQueue() Rule {
	return Rule{Type: "merge_queue", Parameters: map[string]any{
		"check_response_timeout_minutes": 60, "grouping_strategy": "ALLGREEN", "max_entries_to_build": 5, "max_entries_to_merge": 5,
		"merge_method": "MERGE", "min_entries_to_merge": 1, "min_entries_to_merge_wait_minutes": 5,
	}}
}

// required lists the checks that a branch requires. The lock must be held.
func (set *Settings) required(branch string) []RequiredCheck {
	all := slices.Clone(set.protected[branch])
	for _, rule := range set.rules[branch] {
		if rule.Type != "required_status_checks" {
			continue
		}
		for _, c := range rule.Parameters["required_status_checks"].([]object) {
			app, _ := c["integration_id"].(int64)
			all = append(all, RequiredCheck{Name: c["context"].(string), App: app})
		}
	}
	return all
}

// Mergeable tells whether the base branch's required checks allow the merge of the pull
// request, and otherwise why not. The newest run of each check on the head counts, and only
// if it is the required App's.
func (p *PullRequest) Mergeable() (ok bool, why string) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	for _, want := range p.repo.Settings.required(p.baseRef) {
		var newest *checkRun
		for _, c := range p.repo.Checks.runs {
			app := p.s.state.app.id
			if c.others() {
				app++
			}
			if c.HeadSHA == p.headSHA && c.Name == want.Name && (want.App == 0 || want.App == app) {
				newest = c
			}
		}
		switch {
		case newest == nil:
			return false, fmt.Sprintf("%s: expected, waiting for status to be reported", want.Name)
		case !newest.Completed():
			return false, fmt.Sprintf("%s: %s", want.Name, newest.Status)
		case !slices.Contains([]string{"success", "neutral", "skipped"}, newest.Conclusion):
			return false, fmt.Sprintf("%s: %s", want.Name, newest.Conclusion)
		}
	}
	return true, ""
}

// protection writes branch protection in the form that everybody sees who can read the branch.
func (v *renderer) protection(r *Repo, branch string) object {
	checks := r.Settings.protected[branch]
	level, contexts, list := "off", []string{}, []object{}
	for _, c := range checks {
		level = "non_admins"
		app := any(nil)
		if c.App != 0 {
			app = c.App
		}
		contexts, list = append(contexts, c.Name), append(list, object{"context": c.Name, "app_id": app})
	}
	return object{
		"enabled": len(checks) > 0, "required_status_checks": object{"enforcement_level": level, "contexts": contexts, "checks": list},
	}
}

// listRules lists the rules that apply to a branch, which need not exist.
func listRules(c *call) *Response {
	return c.locked(func() *Response {
		return listed(c, c.repo.Settings.rules[c.params["branch"]], func(rule Rule) object {
			o := object{"type": rule.Type, "ruleset_source_type": "Repository", "ruleset_source": c.repo.fullName(), "ruleset_id": c.repo.id}
			if rule.Parameters != nil {
				o["parameters"] = rule.Parameters
			}
			return o
		})
	})
}
