package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/policies"
)

// Warning is something in a valid config that its author may not want.
type Warning struct {
	File    string // the name of the config file
	Problem string
	Remedy  string
}

// String returns the warning on one line.
func (w Warning) String() string { return w.File + ": " + w.Problem + "; " + w.Remedy }

// Warnings lists config that deserves a look: layers that make entries final but leave the gate or
// the mode open, rules that nothing checks, exceptions for every file, and policies that a single path can keep from running.
func (c *Config) Warnings() []Warning {
	var list []Warning
	for i := range c.Floors {
		f := &c.Floors[i]
		var open []string
		for _, name := range []string{"gate", "mode"} {
			if !slices.Contains(f.Config.Settings.Final, name) {
				open = append(open, name)
			}
		}
		if len(open) > 0 {
			final := append(slices.Clone(f.Config.Settings.Final), open...)
			list = append(list, Warning{FileSettings,
				fmt.Sprintf("the %s's layer makes entries final, but not the %s: final entries still block, and the layers above decide everything else", f.Layer, strings.Join(open, " and the ")),
				fmt.Sprintf(`add "final": ["%s"] to the settings of the %s's layer if the layers above are not to change that`, strings.Join(final, `", "`), f.Layer)})
		}
	}
	return slices.Concat(list, c.uncheckedWarnings(), c.emptyWarnings(), c.ignoreWarnings(), c.triggerWarnings())
}

// uncheckedWarnings names the rules of the layers above the defaults that nothing checks.
func (c *Config) uncheckedWarnings() []Warning {
	var ids []string
	for _, r := range c.OwnUnchecked() {
		ids = append(ids, r.ID)
	}
	if len(ids) == 0 {
		return nil
	}
	const most = 10
	names := strings.Join(ids[:min(most, len(ids))], ", ")
	if more := len(ids) - most; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return []Warning{{FileRules,
		"nothing checks these rules, because they have no match or when, and these layers configure no language model to ask: " + names,
		`add "match" or "when", or check with --server DIR if the server's config names a model`}}
}

// emptyWarnings lists config that leaves reviewgate with nothing to do: a gate without conditions,
// no rules, and globs that match no repository.
func (c *Config) emptyWarnings() (list []Warning) {
	if len(c.Settings.Gate.Conditions) == 0 {
		list = append(list, Warning{FileSettings, "gate.conditions is empty, so no finding blocks", `write the conditions that block, or say so by "mode": "advisory"`})
	}
	if len(c.Rules) == 0 {
		list = append(list, Warning{FileRules, "there are no rules, so the agents that read by rules look for nothing", `leave out "extends": [] to keep the shipped rules, or write your own`})
	}
	for _, r := range c.Settings.Repositories {
		for _, g := range r.Globs {
			if MatchesNoRepository(g) {
				list = append(list, Warning{FileSettings, fmt.Sprintf("the glob %s of repositories has no slash, so it matches no repository", shown(g)), "write OWNER/NAME, such as acme/*"})
			}
		}
	}
	return list
}

// MatchesNoRepository reports whether a glob has no slash, which every OWNER/NAME has.
func MatchesNoRepository(glob string) bool {
	return !strings.Contains(glob, "/") && !strings.Contains(glob, "**")
}

// triggerWarnings lists the policies that require an agent and that may no longer hold if one more
// path is in a change. It leaves out the policies of the defaults.
func (c *Config) triggerWarnings() (list []Warning) {
	shipped := map[string]policies.Trigger{}
	for _, p := range all[*Policy](defaults().stack.lists[FileComposition]) {
		shipped[p.ID] = p.Trigger
	}
	for i := range c.Policies {
		p := &c.Policies[i]
		own, known := shipped[p.ID]
		if !p.Dispatch.Required && !known || known && reflect.DeepEqual(own, p.Trigger) || !falls(p.Trigger) {
			continue
		}
		if lost := c.onlyBy(p); len(lost) > 0 {
			list = append(list, Warning{FileComposition,
				fmt.Sprintf("one path in a change can keep the policy %s from holding, and then %s may not look at the whole change", shown(p.ID), strings.Join(lost, ", ")),
				`leave paths out by "ignore" in review-settings.json, and let the policy's trigger hold: {"type": "always"}`})
		}
	}
	return list
}

// onlyBy lists the agents of a policy that no other policy always dispatches.
func (c *Config) onlyBy(p *Policy) []string {
	return slices.DeleteFunc(slices.Clone(p.Dispatch.Agents), func(agent string) bool {
		return slices.ContainsFunc(c.Policies, func(other Policy) bool {
			return other.Trigger.Type == policies.TriggerAlways && slices.Contains(other.Dispatch.Agents, agent) && other.Dispatch.Required
		})
	})
}

// falls reports whether a trigger may no longer hold if one more path is in a change. This is true
// of every expression that reads paths, unless the expression only asks whether something is there.
func falls(t policies.Trigger) bool {
	switch t.Type {
	case policies.TriggerNot:
		return slices.ContainsFunc(t.Triggers, rises)
	case policies.TriggerAny, policies.TriggerAll:
		return slices.ContainsFunc(t.Triggers, falls)
	case policies.TriggerChange:
		return true
	case policies.TriggerExpression:
		return readsPaths(t.When) && !onlyAsksWhetherThere(t.When)
	}
	return false
}

// rises reports whether a trigger may begin to hold if one more path is in a change.
func rises(t policies.Trigger) bool {
	switch t.Type {
	case policies.TriggerAlways, policies.TriggerLabel, policies.TriggerAuthor:
		return false
	case policies.TriggerNot:
		return slices.ContainsFunc(t.Triggers, falls)
	case policies.TriggerAny, policies.TriggerAll:
		return slices.ContainsFunc(t.Triggers, rises)
	case policies.TriggerExpression:
		return readsPaths(t.When)
	}
	return true
}

func readsPaths(when string) bool {
	return slices.ContainsFunc([]string{"files", "totals", "classification"}, func(word string) bool { return strings.Contains(when, word) })
}

// onlyAsksWhetherThere reports whether an expression contains nothing that more files could make
// false.
func onlyAsksWhetherThere(when string) bool {
	return !slices.ContainsFunc([]string{"!", "all(", "exists_one(", "<", "==", "?", "in ", "size(", "[", "filter(", "map("}, func(part string) bool { return strings.Contains(when, part) })
}
