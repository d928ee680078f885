package config

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/policies"
)

// Warnings lists config that is valid but deserves a look: layers that make entries final but leave
// the gate or the mode open, rules that nothing checks, exceptions for every file, and policies that
// a single path or the words of a pull request can keep from running. Each has the place of what it
// is about. If no layer wrote that, it has only the name of the file.
func (c *Config) Warnings() []pipeline.ConfigProblem {
	var list []pipeline.ConfigProblem
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
			list = append(list, c.warning(
				fmt.Sprintf("the %s's layer makes entries final, but not the %s: final entries still block, and later layers decide everything else", f.Layer, strings.Join(open, " and the ")),
				fmt.Sprintf(`add "final": ["%s"] to the settings of the %s's layer if later layers must not change that`, strings.Join(final, `", "`), f.Layer),
				FileSettings, f.Layer))
		}
	}
	return slices.Concat(list, c.uncheckedWarnings(), emptyWarnings(c), c.ignoreWarnings(), typeWarnings(c), c.triggerWarnings())
}

// warning returns a warning with the place of a part of a file; see stack.places.
func (c *Config) warning(problem, remedy, file, part string) pipeline.ConfigProblem {
	w, written := c.places[[2]string{file, part}]
	if !written {
		w.File = c.FileName(file)
	}
	w.Problem, w.Remedy = problem, remedy
	return w
}

// places returns where the layers after the defaults wrote what warnings can be about. The keys are
// a file and a part of it: the id of an entry, "extends", the name of a setting, the name and index
// of an entry of a setting, or the layer whose settings these are.
func (s *stack) places() map[[2]string]pipeline.ConfigProblem {
	out := map[[2]string]pipeline.ConfigProblem{}
	put := func(file, part string, n *jsontree.Node) {
		by := writer(n)
		if by == nil || by.layer == LayerDefaults {
			return
		}
		at := n.Place()
		out[[2]string{file, part}] = pipeline.ConfigProblem{Layer: by.layer, File: at.Document.Name, Line: at.Line, Column: at.Column, Pointer: shortened(at.Pointer)}
	}
	for _, file := range []string{FileRules, FileComposition} {
		put(file, "extends", s.lists[file].dropped)
		for _, e := range s.lists[file].entries {
			put(file, e.id, e.node.At(map[string]string{FileRules: "id", FileComposition: "trigger"}[file]))
		}
	}
	for _, m := range s.settings.Members {
		put(FileSettings, m.Key, m.Value)
		if by := writer(m.Value); by != nil && by.layer != LayerDefaults {
			out[[2]string{FileSettings, by.layer}] = pipeline.ConfigProblem{Layer: by.layer, File: m.Value.Document().Name, Line: 1, Column: 1}
		}
		for i, e := range m.Value.Elems {
			put(FileSettings, m.Key+" "+strconv.Itoa(i), e)
		}
	}
	put(FileSettings, "gate", s.settings.At("gate", "conditions"))
	return out
}

// uncheckedWarnings names the rules of the layers after the defaults that nothing checks.
func (c *Config) uncheckedWarnings() []pipeline.ConfigProblem {
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
	return []pipeline.ConfigProblem{c.warning(
		"nothing checks these rules, because they have no match or when, and these layers configure no language model to ask: "+names,
		`add "match" or "when", or check with --server DIR if the server's config names a model`, FileRules, ids[0])}
}

// emptyWarnings lists config that leaves reviewgate with nothing to do: a gate without conditions,
// no rules, and globs that match no repository.
func emptyWarnings(c *Config) (list []pipeline.ConfigProblem) {
	if len(c.Settings.Gate.Conditions) == 0 {
		list = append(list, c.warning("gate.conditions is empty, so no finding blocks", `write the conditions that block, or say so by "mode": "advisory"`, FileSettings, "gate"))
	}
	if len(c.Rules) == 0 {
		list = append(list, c.warning("there are no rules, so the agents that read by rules look for nothing", `leave out "extends": [] to keep the shipped rules, or write your own`, FileRules, "extends"))
	}
	for i, r := range c.Settings.Repositories {
		for _, g := range r.Globs {
			if MatchesNoRepository(g) {
				list = append(list, c.warning(fmt.Sprintf("the glob %s of repositories has no slash, so it matches no repository", shown(g)), "write OWNER/NAME, such as acme/*", FileSettings, "repositories "+strconv.Itoa(i)))
			}
		}
	}
	return list
}

// MatchesNoRepository reports whether a glob has no slash, which every OWNER/NAME has.
func MatchesNoRepository(glob string) bool {
	return !strings.Contains(glob, "/") && !strings.Contains(glob, "**")
}

// typeWarnings lists the policies whose triggers name types that no change has.
func typeWarnings(c *Config) (list []pipeline.ConfigProblem) {
	types := pipeline.ChangeTypes()
	for i := range c.Policies {
		p := &c.Policies[i]
		for _, name := range typesNamed(p.Trigger) {
			if slices.Contains(types, name) {
				continue
			}
			remedy := "use " + choices(types)
			if near := cmp.Or(map[string]string{"feat": "feature", "bug": "fix"}[name], nearest(name, types)); near != "" {
				remedy = fmt.Sprintf("did you mean %q?", near)
			}
			list = append(list, c.warning(fmt.Sprintf("the trigger of the policy %s names %s, which is not a type of change", shown(p.ID), shown(name)), remedy, FileComposition, p.ID))
		}
	}
	return list
}

// typesNamed returns the types of change in a trigger.
func typesNamed(t policies.Trigger) []string {
	names := slices.Clone(t.Types)
	for _, sub := range t.Triggers {
		names = append(names, typesNamed(sub)...)
	}
	return names
}

// triggerWarnings lists the policies that require an agent, and that may not apply if one more path
// is in a change or if its author words it otherwise. It leaves out the policies of the defaults.
func (c *Config) triggerWarnings() (list []pipeline.ConfigProblem) {
	shipped := map[string]policies.Trigger{}
	for _, p := range all[*Policy](defaults().stack.lists[FileComposition]) {
		shipped[p.ID] = p.Trigger
	}
	for i := range c.Policies {
		p := &c.Policies[i]
		own, known := shipped[p.ID]
		if !p.Dispatch.Required && !known || known && reflect.DeepEqual(own, p.Trigger) {
			continue
		}
		lost := strings.Join(c.onlyBy(p), ", ")
		if lost == "" {
			continue
		}
		if words := wordsRead(p.Trigger); words != "" {
			list = append(list, c.warning(
				fmt.Sprintf("the policy %s reads %s, so the author of a change can keep the policy from applying, and then %s may look at only a part of the change", shown(p.ID), words, lost),
				`let the trigger read paths, domains or services instead, such as {"type": "path", "globs": ["src/**"]}, or always apply the policy: {"type": "always"}`, FileComposition, p.ID))
		}
		if falls(p.Trigger) {
			list = append(list, c.warning(
				fmt.Sprintf("one path in a change can keep the policy %s from applying, and then %s may look at only a part of the change", shown(p.ID), lost),
				`leave paths out by "ignore" in `+c.FileName(FileSettings)+`, and always apply the policy: {"type": "always"}`, FileComposition, p.ID))
		}
	}
	return list
}

// authorsWords are what expressions can read that the author of a change words.
var authorsWords = []struct{ read, named string }{
	{"classification.type", "the type of the change, which its title can decide"},
	{"facts.title", "the title"},
	{"facts.body", "the description"},
	{"facts.head.ref", "the name of the branch"},
	{".message", "the messages of commits"},
}

// wordsRead names what a trigger reads that the author of a change words, or returns "".
func wordsRead(t policies.Trigger) string {
	isAlways := func(sub policies.Trigger) bool { return sub.Type == policies.TriggerAlways }
	switch {
	case t.Type == policies.TriggerChange:
		return authorsWords[0].named
	case t.Type == policies.TriggerAny && slices.ContainsFunc(t.Triggers, isAlways):
		return ""
	}
	for _, w := range authorsWords {
		if strings.Contains(t.When, w.read) {
			return w.named
		}
	}
	for _, sub := range t.Triggers {
		if named := wordsRead(sub); named != "" {
			return named
		}
	}
	return ""
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
// wordsRead finds triggers that read the type of the change.
func falls(t policies.Trigger) bool {
	switch t.Type {
	case policies.TriggerNot:
		return slices.ContainsFunc(t.Triggers, rises)
	case policies.TriggerAny, policies.TriggerAll:
		return slices.ContainsFunc(t.Triggers, falls)
	case policies.TriggerExpression:
		return expressionFalls(t.When)
	}
	return false
}

// rises reports whether a trigger may begin to hold if one more path is in a change.
func rises(t policies.Trigger) bool {
	switch t.Type {
	case policies.TriggerAlways, policies.TriggerLabel, policies.TriggerAuthor, policies.TriggerChange:
		return false
	case policies.TriggerNot:
		return slices.ContainsFunc(t.Triggers, falls)
	case policies.TriggerAny, policies.TriggerAll:
		return slices.ContainsFunc(t.Triggers, rises)
	case policies.TriggerExpression:
		return expressionRises(t.When)
	}
	return true
}

// expressionFalls reports whether one more path can make an expression false.
func expressionFalls(when string) bool {
	if parts, negated := operands(when); negated {
		return expressionRises(parts[0])
	} else if len(parts) > 1 {
		return slices.ContainsFunc(parts, expressionFalls)
	}
	return readsPaths(when) && !onlyAsksWhetherThere(when)
}

// expressionRises reports whether one more path can make an expression true.
func expressionRises(when string) bool {
	if parts, negated := operands(when); negated {
		return expressionFalls(parts[0])
	} else if len(parts) > 1 {
		return slices.ContainsFunc(parts, expressionRises)
	}
	m := allFiles.FindStringSubmatch(when)
	return readsPaths(when) && (m == nil || !asksOneFile(m[1]))
}

// allFiles matches an expression that asks whether all files of the change are of some kind.
var allFiles = regexp.MustCompile(`^\s*facts\.files\.all\(\w+,(.*)\)\s*$`)

// asksOneFile reports whether the condition in parentheses is about nothing but one file.
func asksOneFile(condition string) bool {
	return isBalanced(condition) && !strings.Contains(condition, "facts.") && !readsPaths(condition)
}

// operands splits an expression at the && and || outside of its parentheses and strings. If the
// expression is the negation of one in parentheses or of a call, it returns that one.
func operands(when string) (parts []string, negated bool) {
	when = strings.TrimSpace(when)
	for strings.HasPrefix(when, "(") && strings.HasSuffix(when, ")") && isBalanced(when[1:len(when)-1]) {
		when = strings.TrimSpace(when[1 : len(when)-1])
	}
	code := withoutStrings(when) // of the same length
	open, from, compares := 0, 0, false
	for i := 0; i < len(code); i++ {
		c := code[i]
		switch {
		case strings.IndexByte("([{", c) >= 0:
			open++
		case strings.IndexByte(")]}", c) >= 0:
			open--
		case open == 0 && c == '?':
			return []string{when}, false
		case open == 0 && strings.IndexByte("=<>", c) >= 0:
			compares = true
		case open == 0 && (c == '&' || c == '|') && strings.HasPrefix(code[i+1:], string(c)):
			parts = append(parts, when[from:i])
			from, i = i+2, i+1
		}
	}
	if parts = append(parts, when[from:]); len(parts) == 1 && !compares && strings.HasPrefix(when, "!") {
		return []string{when[1:]}, true
	}
	return parts, false
}

func readsPaths(when string) bool {
	when = strings.ReplaceAll(when, "classification.type", "")
	return slices.ContainsFunc([]string{"files", "totals", "classification"}, func(word string) bool { return strings.Contains(when, word) })
}

// anyFile matches an expression that asks whether the change has a file of some kind, in one of three
// ways.
var anyFile = regexp.MustCompile(`^\s*(?:facts\.files\.exists|!\s*facts\.files\.all|facts\.files\.filter)\(\w+,(.*?)\)(?:\.size\(\)\s*>=?\s*\d+)?\s*$`)

// withoutStrings replaces the strings of an expression by spaces.
func withoutStrings(when string) string {
	code := []byte(when)
	quote := byte(0)
	for i := 0; i < len(code); i++ {
		c := code[i]
		switch {
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote == 0:
			continue
		case c == quote:
			quote = 0
		case c == '\\' && i+1 < len(code):
			code[i] = ' '
			i++
		}
		code[i] = ' '
	}
	return string(code)
}

// isBalanced reports whether a part of an expression closes each parenthesis that it opens.
func isBalanced(part string) bool {
	open := 0
	for _, c := range withoutStrings(part) {
		switch c {
		case '(':
			open++
		case ')':
			open--
		}
		if open < 0 {
			return false
		}
	}
	return open == 0
}

// moreThan matches the question whether a list has more than some entries.
var moreThan = regexp.MustCompile(`\.size\(\)\s*>=?\s*\d`)

// onlyAsksWhetherThere reports whether an expression contains nothing that more files could make
// false.
func onlyAsksWhetherThere(when string) bool {
	if m := anyFile.FindStringSubmatch(when); m != nil && asksOneFile(m[1]) {
		return true
	}
	when = moreThan.ReplaceAllString(when, "")
	return !slices.ContainsFunc([]string{"!", "all(", "exists_one(", "<", "==", "?", "in ", "size(", "[", "filter(", "map("}, func(part string) bool { return strings.Contains(when, part) })
}
