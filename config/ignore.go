package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// checkIgnored checks the entries of ignore. The agent for secrets can't ignore paths, because
// secrets.allow is for single values.
func (c *valueChecks) checkIgnored(ignore *jsontree.Node, agents *list) {
	for _, e := range elems(ignore) {
		c.checkGlobs(e.Get("paths"))
		for _, id := range elems(e.Get("agents")) {
			if a := agents.get(id.Text); a != nil {
				if v, ok := a.value.(*Agent); ok && v.Kind == KindSecrets {
					c.of(id, "secrets can't be ignored by path", "leave it out; secrets.allow allows single values")
				}
			}
		}
	}
}

// checkIgnored checks that the agents and rules that the layer's entries of ignore name
// exist. It can't check rules of other tools, which are written TOOL/RULE.
func (r *references) checkIgnored(agents target) {
	rules := target{"rule", FileRules, map[string]bool{}, `write it in review-rules.json`}
	for _, e := range r.merged.entries(FileRules) {
		rules.names[e.id] = true
	}
	for i, e := range elems(r.roots[FileSettings].Get("ignore")) {
		by := referrer{FileSettings, fmt.Sprintf("ignore, entry %d", i+1)}
		r.checkNames(e.Get("agents"), agents, by)
		for _, id := range elems(e.Get("rules")) {
			if !strings.Contains(id.Text, "/") {
				r.checkName(id, rules, by)
			}
		}
	}
}

// anyPath lists paths that have nothing in common, so globs that match all of them match
// everything.
var anyPath = []string{"README", "main.go", "src/api/Client.java", ".env", ".github/workflows/ci.yml", "deploy/prod/values.yaml"}

// ignoreWarnings lists the entries of ignore that ignore every file.
func (c *Config) ignoreWarnings() (list []pipeline.ConfigProblem) {
	for i, e := range c.Settings.Ignore {
		paths, err := glob.Compile(e.Paths)
		if err != nil || slices.ContainsFunc(anyPath, func(path string) bool { return !paths.Any(path) }) {
			continue
		}
		what, remedy := "only secrets and final findings count", "name the paths that are meant"
		if len(e.Agents)+len(e.Rules) > 0 {
			what, remedy = "no finding of "+strings.Join(slices.Concat(e.Agents, e.Rules), ", ")+" counts", "name the paths that are meant, or switch the agents or rules off"
		}
		list = append(list, c.warning(fmt.Sprintf("the paths of the entry of ignore with the reason %s match every file, so %s", shown(e.Reason), what), remedy, FileSettings, "ignore "+strconv.Itoa(i)))
	}
	return list
}

// checkDay checks that there is such a day. The schema checks its form.
func (c *valueChecks) checkDay(day *jsontree.Node) {
	if !given(day) || len(day.Text) != len(time.DateOnly) {
		return
	}
	if _, err := time.Parse(time.DateOnly, day.Text); err != nil {
		c.of(day, "there is no day "+shown(day.Text), "write a date such as 2027-01-31")
	}
}

// checkSecrets checks the entries of secrets.allow. A layer that made the agent for
// secrets final decides what a secret is: later layers can't allow any.
func (c *valueChecks) checkSecrets(allow *jsontree.Node, below *list) {
	for _, e := range elems(allow) {
		c.checkGlobs(e.Get("paths"))
		c.checkDay(e.Get("expires"))
	}
	if len(elems(allow)) == 0 {
		return
	}
	for _, e := range below.entries {
		if a, ok := e.value.(*Agent); ok && a.Kind == KindSecrets && e.final != "" {
			c.of(allow, "the agent "+shown(a.ID)+" is "+finalIn(e.final)+", so no later layer allows secrets", "leave it out, or ask for the entry there")
		}
	}
}
