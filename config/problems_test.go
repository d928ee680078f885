package config

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
)

// layer makes a repository layer from pairs of a name and a text.
func layer(files ...string) Layer {
	l := Layer{Name: LayerRepository, Source: "acme/shop@1f2e3d4"}
	for i := 0; i < len(files); i += 2 {
		l.Files = append(l.Files, File{Path: files[i], Text: []byte(files[i+1])})
	}
	return l
}

func formatted(problems []pipeline.ConfigProblem) []string {
	var lines []string
	for _, p := range problems {
		lines = append(lines, FormatProblem(p))
	}
	return lines
}

// rule is a complete entry without match. More fields are added before its brace.
func rule(id, more string) string {
	return `{"id": "` + id + `", "name": "n", "severity": "info", "agent": "build-reviewer", "category": "c", "description": "d", "detection": "d", "recommendation": "r"` + more + `}`
}

// Each fault is reported at the place that must be changed, and the words say what to write.
func TestProblems(t *testing.T) {
	tests := []struct {
		name string
		file string
		text string
		want []string
	}{
		// These texts are not JSON, or not the JSON that was meant.
		{"empty", FileRules, "  \n", []string{
			`review-rules.json:1:1: the file is empty; remove it, or write an empty list or object into it`,
		}},
		{"comment", FileRules, "[\n  // ours\n]", []string{
			`review-rules.json:2:3: JSON has no comments; remove it, or put the words into a "description"`,
		}},
		{"the target of a link", FileRules, "../../common/review-rules.json", []string{
			`review-rules.json:1:1: this is a symbolic link, or plain text instead of JSON; put the JSON file itself here: links are not followed`,
		}},
		{"trailing comma", FileRules, "[\n  " + rule("a", "") + ",\n]", []string{
			`review-rules.json:2:152: there is a comma after the last entry; remove the comma`,
		}},
		{"single quotes", FileSettings, `{'mode': 'off'}`, []string{
			`review-settings.json:1:2: JSON has no single quotes; write strings in double quotes`,
		}},
		{"missing comma", FileSettings, "{\"mode\": \"off\"\n \"drafts\": \"skip\"}", []string{
			`review-settings.json:2:2: a comma or a closing bracket is missing before this; write one after the previous value`,
		}},
		{"bad escape", FileRules, `[{"id": "build-any-01", "match": {"pattern": "\s"}}]`, []string{
			`review-rules.json:1:48: the backslash before this starts no JSON escape; write two backslashes for one, such as "\\s" in a pattern`,
		}},
		{"other faults beside mistakes in the JSON", FileRules, "[\n  // ours\n  " + rule("a", `, "match": {"pattern": "(\d"}`) + "\n  {'id': \"b\", \"serverity\": \"info\",},\n]", []string{
			`review-rules.json:2:3: JSON has no comments; remove it, or put the words into a "description"`,
			`review-rules.json:3:174: /0/match/pattern: the pattern does not compile: missing closing ): ` + "`(\\d`" + `; write it in RE2 syntax: https://github.com/google/re2/wiki/Syntax`,
			`review-rules.json:3:177: the backslash before this starts no JSON escape; write two backslashes for one, such as "\\s" in a pattern`,
			`review-rules.json:4:3: a comma or a closing bracket is missing before this; write one after the previous value`,
			`review-rules.json:4:4: JSON has no single quotes; write strings in double quotes`,
			`review-rules.json:4:15: /1/serverity: "serverity" is not a field of a rule; did you mean "severity"?`,
			`review-rules.json:4:34: there is a comma after the last entry; remove the comma`,
			`review-rules.json:4:36: there is a comma after the last entry; remove the comma`,
		}},
		{"line break in string", FileRules, "[{\"id\": \"a\n\"}]", []string{
			`review-rules.json:1:11: a string contains a line break or a control character; write \n or \t, and close the string on its own line`,
		}},
		{"cut off", FileRules, `[{"id": "a"`, []string{
			`review-rules.json:1:12: the file ends in the middle of a value; close every string, bracket and brace`,
		}},
		{"trailing data", FileRules, "[]\n[]", []string{
			`review-rules.json:2:1: there is something after the end of the JSON value; keep one value in the file and remove the rest`,
		}},
		{"byte order mark", FileRules, "\xef\xbb\xbf[]", []string{
			`review-rules.json:1:1: the file starts with a byte order mark; save it as UTF-8 without one`,
		}},
		{"latin-1", FileRules, "[{\"id\": \"a\", \"name\": \"caf\xe9\"}]", []string{
			`review-rules.json:1:26: the file is not valid UTF-8 here; save it as UTF-8`,
		}},
		{"duplicate key", FileSettings, "{\"mode\": \"off\",\n \"mode\": \"enforce\", \"check\": {\"name\": \"a\", \"name\": \"b\"}}", []string{
			`review-settings.json:2:2: /mode: "mode" occurs twice in one object; keep one of them`,
			`review-settings.json:2:44: /check/name: "name" occurs twice in one object; keep one of them`,
		}},
		{"huge exponent", FileComposition, `[{"id": "a", "priority": 1e999999999}]`, []string{
			`review-composition.json:1:26: /0/priority: the number is too long or too large; write it in at most 32 characters and with an exponent of at most 300`,
		}},

		// These don't fit the schema.
		{"severity", FileRules, "[\n  " + strings.Replace(rule("a", ""), `"info"`, `"blocker"`, 1) + "\n]", []string{
			`review-rules.json:2:40: /0/severity: "blocker" is not a severity; use critical, major, warning or info`,
		}},
		{"not a list", FileRules, `"rules"`, []string{
			`review-rules.json:1:1: the rules file is a string, but must be a list or an object; put it in square brackets: [...]`,
		}},
		{"unknown field", FileRules, `[` + rule("a", `, "serverity": "info", "owner": "me"`) + `]`, []string{
			`review-rules.json:1:152: /0/serverity: "serverity" is not a field of a rule; did you mean "severity"?`,
			`review-rules.json:1:173: /0/owner: "owner" is not a field of a rule; use agent, category, description, detection, enabled, final, id, linters, match, mode, name, profile, recommendation, reference, severity, severity_in, style or when`,
		}},
		{"unknown wrapper field", FileRules, `{"rules": []}`, []string{
			`review-rules.json:1:2: /rules: "rules" is not a field of a rules file; use $schema, extends or items`,
		}},
		{"extends with a value", FileRules, `{"extends": ["https://example.com"], "items": []}`, []string{
			`review-rules.json:1:14: /extends/0: "https://example.com" is not a layer to extend; use defaults`,
		}},
		{"unknown section", FileSettings, `{"gates": {}, "remember": {}}`, []string{
			`review-settings.json:1:2: /gates: "gates" is not a field of a settings file; did you mean "gate"?`,
			`review-settings.json:1:15: /remember: "remember" is not a field of a settings file; use $schema, check, commands, comment, config_branches, drafts, escalation_webhook, final, final_authority, fix_loop, gate, ignore, issues, labels, limits, memory, mode, model_budget, model_endpoints, models, organisations, probation, probation_bar, profile, repositories, secrets, sessions, synthesis or thresholds`,
		}},
		{"wrong type", FileSettings, `{"limits": {"agent_retries": "2", "agent_concurrency": 1.5}, "check": {"annotations": "yes"}}`, []string{
			`review-settings.json:1:30: /limits/agent_retries: agent_retries is a string, but must be a whole number; write a number such as 10, without quotes and fraction`,
			`review-settings.json:1:56: /limits/agent_concurrency: agent_concurrency is a number, but must be a whole number; write a number such as 10, without quotes and fraction`,
			`review-settings.json:1:87: /check/annotations: annotations is a string, but must be true or false; write true or false, without quotes`,
		}},
		{"out of range", FileSettings, `{"limits": {"agent_timeout_seconds": 0, "agent_concurrency": 65}, "synthesis": {"confidence_gate": 1.2}}`, []string{
			`review-settings.json:1:38: /limits/agent_timeout_seconds: agent_timeout_seconds is 0, which is out of range; use a number from 1 to 1800`,
			`review-settings.json:1:62: /limits/agent_concurrency: agent_concurrency is 65, which is out of range; use a number from 1 to 64`,
			`review-settings.json:1:100: /synthesis/confidence_gate: confidence_gate is 1.2, which is out of range; use a number from 0 to 1`,
		}},
		{"id", FileRules, `[{"id": "no spaces"}, {"id": 7}, {}]`, []string{
			`review-rules.json:1:9: /0/id: "no spaces" is not an id; use letters, digits and . _ / -, starting with a letter or digit, at most 80 characters`,
			`review-rules.json:1:30: /1/id: id is a number, but must be a string; write it in double quotes`,
			`review-rules.json:1:34: /2: "id" is missing; add "id"`,
		}},
		{"incomplete entry", FileRules, `[{"id": "new-rule", "name": "n", "severity": "info", "description": "d"}, {"id": "old-rule", "when": "true"}, {"id": "o", "severity": "info", "match": {"literal": "x"}}]`, []string{
			`review-rules.json:1:2: /0: the rule does not say what to look for; add match, when or detection`,
			`review-rules.json:1:82: /1/id: no lower layer has an entry "old-rule", and this one is not complete; check the id, or complete the entry`,
			`review-rules.json:1:118: /2/id: no lower layer has an entry "o", and this one is not complete; check the id, or complete the entry: add "description"`,
		}},
		{"override of a missing entry", FileComposition, `[{"id": "univarsal", "enabled": false}]`, []string{
			`review-composition.json:1:9: /0/id: no lower layer has an entry "univarsal", and this one is not complete; did you mean "universal"?`,
		}},
		{"override of a missing entry with a similar id", FileRules, `[{"id": "zzzzzzzz", "enabled": false}]`, []string{
			`review-rules.json:1:9: /0/id: no lower layer has an entry "zzzzzzzz", and this one is not complete; check the id, or complete the entry`,
		}},
		{"override of one field of a missing entry", FileRules, `[{"id": "zzzzzzzz", "severity": "info", "match": {"max_per_file": 3}}]`, []string{
			`review-rules.json:1:9: /0/id: no lower layer has an entry "zzzzzzzz", and this one is not complete; check the id, or complete the entry: add "description"`,
		}},
		{"override of a missing mapping", FileDomains, `[{"id": "zzzzzzzz", "type": "domain", "enabled": false}]`, []string{
			`review-domains.json:1:9: /0/id: no lower layer has an entry "zzzzzzzz", and this one is not complete; check the id, or complete the entry`,
		}},
		{"fix loop", FileSettings, `{"fix_loop": {"max_fix_iterations": 6, "fix_timeout_turns": 4}}`, []string{
			`review-settings.json:1:37: /fix_loop/max_fix_iterations: max_fix_iterations must be 1-5, and is 6; use a number from 1 to 5`,
			`review-settings.json:1:61: /fix_loop/fix_timeout_turns: fix_timeout_turns must be 5-30, and is 4; use a number from 5 to 30`,
		}},
		{"issues and labels", FileSettings, `{"issues": {"per_day": 101, "labels": ["a,b"]}, "labels": {"prefix": " x"}}`, []string{
			`review-settings.json:1:24: /issues/per_day: per_day is 101, which is out of range; use a number from 1 to 100`,
			`review-settings.json:1:40: /issues/labels/0: "a,b" is not a label; use printable characters without a comma, 1 to 50 of them, the first no blank`,
			`review-settings.json:1:70: /labels/prefix: " x" is not a start of a label; use printable characters without a comma, 1 to 40 of them, the first no blank. The level follows, as in risk: high. Labels that begin otherwise are never removed`,
		}},
		{"blank texts", FileRules, `[` + strings.NewReplacer(`"name": "n"`, `"name": " "`, `"description": "d"`, `"description": "\t\n"`).Replace(rule("a", "")) + `]`, []string{
			`review-rules.json:1:22: /0/name: name is blank; write something`,
			`review-rules.json:1:106: /0/description: description is blank; write something`,
		}},
		{"reference", FileRules, `[` + rule("a", `, "reference": "http://example.com"`) + `,` + rule("b", `, "reference": "https://me:pw@example.com/x"`) + `,` + rule("c", `, "reference": "javascript:alert(1)"`) + `,` + rule("d", `, "reference": "https://example.com/a#b"`) + `,` + rule("e", `, "reference": "https:///guide"`) + `,` + rule("f", `, "reference": "https:example.com"`) + `]`, []string{
			`review-rules.json:1:165: /0/reference: the reference "http://example.com" is not an https URL; write one such as https://example.com/guide, or remove it`,
			`review-rules.json:1:350: /1/reference: the reference holds a user name or password; remove the part before the @`,
			`review-rules.json:1:544: /2/reference: the reference "javascript:alert(1)" is not an https URL; write one such as https://example.com/guide, or remove it`,
			`review-rules.json:1:920: /4/reference: the reference "https:///guide" is not an https URL; write one such as https://example.com/guide, or remove it`,
			`review-rules.json:1:1101: /5/reference: the reference "https:example.com" is not an https URL; write one such as https://example.com/guide, or remove it`,
		}},
		{"languages", FileRules, `[` + rule("a", `, "match": {"pattern": "x", "languages": ["go", "Golang", "Typescrpt", "Klingon"]}`) + `]`, []string{
			`review-rules.json:1:198: /0/match/languages/1: there is no language "Golang"; did you mean "Go"?`,
			`review-rules.json:1:208: /0/match/languages/2: there is no language "Typescrpt"; did you mean "TypeScript"?`,
			`review-rules.json:1:221: /0/match/languages/3: there is no language "Klingon"; use a name that GitHub shows, such as Go, TypeScript or Python`,
		}},
		{"languages of a signal", FileDomains, `[{"id": "signal-migrations", "languages": ["Pyton"]}]`, []string{
			`review-domains.json:1:44: /0/languages/0: there is no language "Pyton"; did you mean "Python"?`,
		}},
		{"net of a title", FileRules, `[` + rule("a", `, "match": {"pattern": "x", "on": "title", "net": true}`) + `]`, []string{
			`review-rules.json:1:200: /0/match/net: net compares lines, and the rule looks at "title"; remove it, or set "on" to added or removed`,
		}},
		{"linters of a title", FileRules, `[` + rule("a", `, "linters": {"eslint": ["no-eval"]}, "match": {"pattern": "x", "on": "title"}`) + `]`, []string{
			`review-rules.json:1:163: /0/linters: linters is for rules on added lines, and the rule looks at "title"; remove it, or set "on" to added`,
		}},
		{"style", FileRules, `[` + rule("a", `, "style": true, "match": {"literal": "x", "on": "path"}`) + `,` + rule("b", `, "style": true, "match": {"literal": "x"}, "severity_in": {"finance": "major"}`) + `,` +
			rule("c", `, "style": true`) + `,` + strings.Replace(rule("d", `, "style": true, "match": {"literal": "x"}`), `"category": "c"`, `"category": "correctness"`, 1) + `,` +
			strings.Replace(rule("e", `, "style": true, "match": {"literal": "x"}`), `"category": "c"`, `"category": "secrets"`, 1) + `]`, []string{
			"review-rules.json:1:161: /0/style: style is for rules on style, and the rule does not look at added lines; remove it",
			"review-rules.json:1:367: /1/style: style is for rules on style, and the rule can block; remove it",
			"review-rules.json:1:596: /2/style: style is for rules on style, and the rule does not look at added lines; remove it",
			"review-rules.json:1:771: /3/style: style is for rules on style, and the rule is about correctness; remove it",
			"review-rules.json:1:969: /4/style: style is for rules on style, and the rule is about security; remove it",
		}},
		{"linters without a match", FileRules, `[` + rule("a", `, "linters": {"eslint": ["no-eval"]}`) + `]`, []string{
			`review-rules.json:1:163: /0/linters: linters is for rules on added lines, and the rule has no match; remove it, or add a match`,
		}},
		{"linters", FileRules, `[` + rule("a", `, "linters": {"eslin": ["a"], "gosec": [], "ruff": ["B 006"]}, "match": {"literal": "x"}`) + `]`, []string{
			`review-rules.json:1:164: /0/linters/eslin: "eslin" is not a field of a list of linters; did you mean "eslint"?`,
			"review-rules.json:1:189: /0/linters/gosec: gosec is empty; name at least one",
			`review-rules.json:1:202: /0/linters/ruff/0: "B 006" is not a check; use letters, digits and @ _ . : / -, starting with a letter, a digit or @, at most 100 characters`,
		}},
		{"empty description", FileRules, `[` + strings.Replace(rule("a", ""), `"description": "d"`, `"description": ""`, 1) + `]`, []string{
			`review-rules.json:1:106: /0/description: description is empty; write something, or remove the entry`,
		}},
		{"priority", FileComposition, `[{"id": "universal", "priority": 101}]`, []string{
			`review-composition.json:1:34: /0/priority: priority is 101, which is out of range; use a number from 0 to 100`,
		}},
		{"agent kind", FileAgents, `[{"id": "lint", "name": "Lint", "kind": "linter", "description": "d"}]`, []string{
			`review-agents.json:1:41: /0/kind: "linter" is not a kind of agent; use ` + kindNames(LayerRepository),
		}},
		{"trigger type", FileComposition, `[{"id": "finance", "trigger": {"type": "sometimes"}}]`, []string{
			`review-composition.json:1:40: /0/trigger/type: "sometimes" is not a type of trigger; use always, domain, risk, type, path, label, author, service, size, expression, any, all or not`,
		}},
		{"trigger without its field", FileComposition, `[{"id": "finance", "trigger": {"type": "domain"}}]`, []string{
			`review-composition.json:1:31: /0/trigger: "domains" is missing; add "domains"`,
		}},
		{"trigger with a field of another type", FileComposition, `[{"id": "finance", "trigger": {"type": "path", "globs": ["**"], "labels": ["x"]}}]`, []string{
			`review-composition.json:1:65: /0/trigger/labels: "labels" does not belong to type "path"; remove it, or use globs`,
		}},
		{"trigger with unknown field", FileComposition, `[{"id": "finance", "trigger": {"type": "path", "globs": ["**"], "lables": ["x"]}}]`, []string{
			`review-composition.json:1:65: /0/trigger/lables: "lables" is not a field of a trigger; did you mean "labels"?`,
		}},
		{"author trigger", FileComposition, `[{"id": "finance", "trigger": {"type": "author"}}]`, []string{
			`review-composition.json:1:31: /0/trigger: trigger has only a type; add associations, bot or first_time`,
		}},
		{"risk trigger", FileComposition, `[{"id": "finance", "trigger": {"type": "risk", "at_least": "XL"}}]`, []string{
			`review-composition.json:1:60: /0/trigger/at_least: "XL" is not a risk level; use low, medium, high or critical`,
		}},
		{"size trigger", FileComposition, `[{"id": "finance", "trigger": {"type": "size", "at_least": "high"}}]`, []string{
			`review-composition.json:1:60: /0/trigger/at_least: "high" is not a size; use XS, S, M, L or XL`,
		}},
		{"not with two triggers", FileComposition, `[{"id": "finance", "trigger": {"type": "not", "triggers": [{"type": "always"}, {"type": "always"}]}}]`, []string{
			`review-composition.json:1:59: /0/trigger/triggers: triggers has 2 entries, more than the limit of 1; remove some`,
		}},
		{"any without triggers", FileComposition, `[{"id": "finance", "trigger": {"type": "any", "triggers": []}}]`, []string{
			`review-composition.json:1:59: /0/trigger/triggers: triggers is empty; name at least one`,
		}},
		{"nested trigger", FileComposition, `[{"id": "finance", "trigger": {"type": "any", "triggers": [{"type": "label"}]}}]`, []string{
			`review-composition.json:1:60: /0/trigger/triggers/0: "labels" is missing; add "labels"`,
		}},
		{"entry type", FileDomains, `[{"id": "a", "type": "area"}]`, []string{
			`review-domains.json:1:22: /0/type: "area" is not a type of entry; use domain, service, risk or signal`,
		}},
		{"rules of a service", FileDomains, `[{"id": "a", "type": "service", "service": "shop", "description": "d", "globs": ["shop/**"], "rules": ["", 1, "` + strings.Repeat("x", 301) + `"]},
			{"id": "b", "type": "domain", "domain": "b", "description": "d", "globs": ["b/**"], "weight": 1, "rules": ["Be brief."]},
			{"id": "c", "type": "service", "service": "c", "description": "d", "globs": ["c/**"], "rules": [` + strings.Repeat(`"r", `, 20) + `"r"]}]`, []string{
			`review-domains.json:1:104: /0/rules/0: an entry of rules is empty; write something, or remove the entry`,
			`review-domains.json:1:108: /0/rules/1: an entry of rules is a number, but must be a string; write it in double quotes`,
			`review-domains.json:1:111: /0/rules/2: an entry of rules has 301 characters, more than the limit of 300; shorten it`,
			`review-domains.json:2:101: /1/rules: "rules" does not belong to type "domain"; remove it, or use covers, description, domain, enabled, final, globs, id or weight`,
			`review-domains.json:3:99: /2/rules: rules has 21 entries, more than the limit of 20; remove some`,
		}},
		{"field of another type", FileDomains, `[{"id": "a", "type": "service", "service": "shop", "description": "d", "globs": ["shop/**"], "weight": 3}]`, []string{
			`review-domains.json:1:94: /0/weight: "weight" does not belong to type "service"; remove it, or use description, enabled, final, globs, id, rules or service`,
		}},
		{"domain without globs", FileDomains, `[{"id": "a", "type": "domain", "domain": "a", "description": "d", "globs": [], "weight": 3}]`, []string{
			`review-domains.json:1:76: /0/globs: globs is empty; name at least one`,
		}},
		{"another type than the lower layer's entry", FileDomains, `[{"id": "finance", "type": "service"}]`, []string{
			`review-domains.json:1:28: /0/type: "finance" is the id of a domain in a lower layer; choose another id`,
		}},

		// Schemas can't express these.
		{"id twice", FileRules, "[\n" + rule("a", "") + ",\n" + rule("a", "") + "\n]", []string{
			`review-rules.json:3:8: /1/id: the id "a" is used twice in this file, first on line 2; give one of the two another id, or remove it`,
		}},
		{"id twice, and another fault", FileRules, "[\n" + rule("a", "") + ",\n" + rule("a", `, "when": "facts.drafts"`) + "\n]", []string{
			`review-rules.json:3:8: /1/id: the id "a" is used twice in this file, first on line 2; give one of the two another id, or remove it`,
			`review-rules.json:3:165: /1/when: facts has no field "drafts"; did you mean "draft"?`,
		}},
		{"pattern", FileRules, `[` + rule("a", `, "match": {"pattern": "a(b"}`) + `]`, []string{
			"review-rules.json:1:173: /0/match/pattern: the pattern does not compile: missing closing ): `a(b`; write it in RE2 syntax: https://github.com/google/re2/wiki/Syntax",
		}},
		{"lookahead", FileRules, `[` + rule("a", `, "match": {"pattern": "a(?!b)", "not_pattern": "(?<=x)y"}`) + `]`, []string{
			"review-rules.json:1:173: /0/match/pattern: the pattern does not compile: invalid or unsupported Perl syntax: `(?!`; RE2 has no lookaround; use not_pattern for lines to leave out",
			"review-rules.json:1:198: /0/match/not_pattern: the pattern does not compile: invalid named capture: `(?<=x)y`; RE2 has no lookaround; use not_pattern for lines to leave out",
		}},
		{"source without safe_calls", FileRules, `[` + rule("a", `, "match": {"pattern": "a", "source": "b(c"}`) + `]`, []string{
			"review-rules.json:1:161: /0/match: a match has only one of source and safe_calls; name both, or neither",
			"review-rules.json:1:188: /0/match/source: the pattern does not compile: missing closing ): `b(c`; write it in RE2 syntax: https://github.com/google/re2/wiki/Syntax",
		}},
		{"safe_calls that is not a function's name", FileRules, `[` + rule("a", `, "match": {"pattern": "a", "source": "b", "safe_calls": ["escape*"]}`) + `]`, []string{
			`review-rules.json:1:208: /0/match/safe_calls/0: "escape*" is not a value of an entry of safe_calls; use another value`,
		}},
		{"explosive pattern", FileRules, `[` + rule("a", `, "match": {"pattern": "((a{30}){30}){30}"}`) + `]`, []string{
			"review-rules.json:1:173: /0/match/pattern: the pattern does not compile: invalid repeat count: `{30}`; repeat at most 1,000 times, nested repetitions multiplied",
		}},
		{"large pattern", FileRules, `[` + rule("a", `, "match": {"pattern": "(abcdefgh){500}"}`) + `]`, []string{
			`review-rules.json:1:173: /0/match/pattern: the pattern expands to about 5000 instructions, more than the limit of 2000; use smaller repetition counts, or split it into several entries`,
		}},
		{"back reference", FileRules, `[` + rule("a", `, "match": {"pattern": "(a)\\1"}`) + `]`, []string{
			"review-rules.json:1:173: /0/match/pattern: the pattern does not compile: invalid escape sequence: `\\1`; RE2 does not know this escape; back references such as \\1 do not exist",
		}},
		{"neither pattern nor literal", FileRules, `[` + rule("a", `, "match": {"paths": ["**"]}`) + `]`, []string{
			`review-rules.json:1:161: /0/match: a match needs a pattern or a literal; add "pattern" or "literal", or remove "match" from a rule that no machine can check`,
		}},
		{"both pattern and literal", FileRules, `[` + rule("a", `, "match": {"pattern": "a", "literal": "a"}`) + `]`, []string{
			`review-rules.json:1:161: /0/match: a match has both a pattern and a literal; keep one of the two; to lay one over the other of a lower layer, set that to ""`,
		}},
		{"fix", FileRules, `[` + rule("a", `, "match": {"pattern": "(a)", "fix": "$1x and $$ and ${1}"}`) + `]`, []string{
			`review-rules.json:1:187: /0/match/fix: the fix refers to the group "1x", which the pattern does not have; write ${1} for the first group, and $$ for a dollar sign`,
		}},
		{"globs", FileRules, `[` + rule("a", `, "match": {"literal": "a", "paths": ["src/**", "/abs/*.go"], "exclude_paths": ["[z-a]"]}`) + `]`, []string{
			`review-rules.json:1:198: /0/match/paths/1: the glob "/abs/*.go" is refused: pattern starts with "/"; paths are relative to the repository's root, so leave it out`,
			`review-rules.json:1:230: /0/match/exclude_paths/0: the glob "[z-a]" is refused: pattern has the class range z-a, which is empty; write a-z`,
		}},
		{"signal", FileDomains, `[{"id": "s", "type": "signal", "concern": "c", "description": "d", "pattern": "(", "domain": "finanec", "agent": "nobody"}]`, []string{
			"review-domains.json:1:79: /0/pattern: the pattern does not compile: missing closing ): `(`; write it in RE2 syntax: https://github.com/google/re2/wiki/Syntax",
			`review-domains.json:1:94: /0/domain: there is no domain "finanec"; did you mean "finance"?`,
			`review-domains.json:1:114: /0/agent: there is no agent "nobody"; register it in review-agents.json, or use one of those that exist`,
		}},
		{"sensitive path without globs", FileDomains, `[{"id": "r", "type": "risk", "factor": "sensitive_path", "description": "d", "points": 5}]`, []string{
			`review-domains.json:1:2: /0: a factor "sensitive_path" without globs never counts; add "globs"`,
		}},
		{"domains of a rule", FileRules, `[` + rule("a", `, "severity_in": {"finanec": "critical", "auth": "bad"}`) + `]`, []string{
			`review-rules.json:1:168: /0/severity_in/finanec: there is no domain "finanec"; did you mean "finance"?`,
			`review-rules.json:1:199: /0/severity_in/auth: "bad" is not a severity; use critical, major, warning or info`,
		}},
		{"lines elsewhere", FileRules, `[` + rule("a", `, "match": {"literal": "x", "on": "title", "not_in_file": "y", "not_in_change": "("}`) + `]`, []string{
			`review-rules.json:1:208: /0/match/not_in_file: not_in_file is for rules on lines, and the rule looks at "title"; remove it, or set "on" to added or removed`,
			`review-rules.json:1:230: /0/match/not_in_change: not_in_change is for rules on lines, and the rule looks at "title"; remove it, or set "on" to added or removed`,
			"review-rules.json:1:230: /0/match/not_in_change: the pattern does not compile: missing closing ): `(`; write it in RE2 syntax: https://github.com/google/re2/wiki/Syntax",
		}},
		{"days of a rule", FileRules, `[` + rule("a", `, "match": {"literal": "x", "not_before": [{"pattern": "(", "day": "2027-02-30"}]}`) + `]`, []string{
			"review-rules.json:1:205: /0/match/not_before/0/pattern: the pattern does not compile: missing closing ): `(`; write it in RE2 syntax: https://github.com/google/re2/wiki/Syntax",
			`review-rules.json:1:217: /0/match/not_before/0/day: there is no day "2027-02-30"; write a date such as 2027-01-31`,
		}},
		{"agent of a rule", FileRules, `[` + strings.Replace(rule("a", ""), `"build-reviewer"`, `"build-reviwer"`, 1) + `]`, []string{
			`review-rules.json:1:56: /0/agent: there is no agent "build-reviwer"; did you mean "build-reviewer"?`,
		}},
		{"references of a policy", FileComposition, `[{"id": "p", "description": "d", "priority": 1, "trigger": {"type": "all", "triggers": [{"type": "domain", "domains": ["ui", "space"]}, {"type": "service", "services": ["shop"]}]}, "dispatch": {"agents": ["secrets", "linter"]}}]`, []string{
			`review-composition.json:1:126: /0/trigger/triggers/0/domains/1: there is no domain "space"; map globs to it in review-domains.json, or use one of those that exist`,
			`review-composition.json:1:170: /0/trigger/triggers/1/services/0: there is no service "shop"; map globs to it in review-domains.json, or use one of those that exist`,
			`review-composition.json:1:217: /0/dispatch/agents/1: there is no agent "linter"; register it in review-agents.json, or use one of those that exist`,
		}},
		{"trigger glob", FileComposition, `[{"id": "finance", "trigger": {"type": "any", "triggers": [{"type": "path", "globs": ["../x"]}]}}]`, []string{
			`review-composition.json:1:87: /0/trigger/triggers/0/globs/0: the glob "../x" is refused: pattern has the segment "..", which no changed file has; write the path from the repository's root`,
		}},
		{"gate condition", FileSettings, `{"gate": {"conditions": [{"when": "critical > 0", "decision": "fail"}, {"when": "criticals > 0", "decision": "reject"}, {"when": "blockers > 0", "decision": "fail"}]}}`, []string{
			`review-settings.json:1:82: /gate/conditions/1/when: there is nothing called "criticals"; did you mean "critical"?`,
			`review-settings.json:1:110: /gate/conditions/1/decision: "reject" is not a decision; use fail, needs_fixes, pass_with_warnings or pass`,
			`review-settings.json:1:131: /gate/conditions/2/when: there is nothing called "blockers"; the metrics are critical, major, warning, info, findings, new_critical, new_major, new_warning, new_info, new_findings, gaps, uncovered_files, risk_score, min_confidence, agents_failed, incomplete`,
		}},
		{"protected artifact", FileSettings, `{"synthesis": {"protected_artifacts": [""]}}`, []string{
			`review-settings.json:1:40: /synthesis/protected_artifacts/0: an entry of protected_artifacts is empty; write something, or remove the entry`,
		}},
		{"blank label", FileComposition, `[{"id": "p", "description": "d", "priority": 1, "trigger": {"type": "label", "labels": [" "]}, "dispatch": {"agents": ["secrets"]}}]`, []string{
			`review-composition.json:1:89: /0/trigger/labels/0: name is empty; name a label`,
		}},
		{"trigger nested too deep", FileComposition, `[{"id": "p", "description": "d", "priority": 1, "trigger": ` + strings.Repeat(`{"type": "not", "triggers": [`, 8) + `{"type": "always"}` + strings.Repeat("]}", 8) + `, "dispatch": {"agents": ["secrets"]}}]`, []string{
			`review-composition.json:1:292: /0/trigger` + strings.Repeat("/triggers/0", 8) + `: trigger is nested more than 8 deep or has more than 64 parts; split the policy into several`,
		}},
		{"a rule for an agent that runs no rules", FileRules, `[` + strings.Replace(rule("a", `, "match": {"pattern": "x"}`), "build-reviewer", "secrets", 1) + `]`, []string{
			`review-rules.json:1:56: /0/agent: the agent "secrets" is of kind secrets and runs no rules, so the rule "a" never runs; give the rule to an agent of kind rules or llm`,
		}},
		{"the last policy with the trigger always", FileComposition, "[\n  {\"id\": \"universal\", \"enabled\": false},\n  {\"id\": \"secrets\", \"enabled\": false},\n  {\"id\": \"hygiene\", \"enabled\": false}]", []string{
			`review-composition.json:1:1: no policy with the trigger "always" is enforced; keep or add one: {"type": "always"}`,
			`review-composition.json:2:3: /0: no policy dispatches the agent "build-reviewer" any more, so its rules never run; dispatch it from another policy, or switch it off in review-agents.json: {"id": "build-reviewer", "enabled": false}`,
			`review-composition.json:2:3: /0: no policy dispatches the agent "security-reviewer" any more, so its rules never run; dispatch it from another policy, or switch it off in review-agents.json: {"id": "security-reviewer", "enabled": false}`,
			`review-composition.json:4:3: /2: no policy dispatches the agent "pr-hygiene" any more, so its rules never run; dispatch it from another policy, or switch it off in review-agents.json: {"id": "pr-hygiene", "enabled": false}`,
		}},
		{"faults of several kinds", FileRules, "[\n" + strings.Replace(rule("a", `, "match": {"pattern": "("}`), `"info"`, `"P1"`, 1) + ",\n" + strings.Replace(rule("b", ""), `"build-reviewer"`, `"x"`, 1) + "\n]", []string{
			`review-rules.json:2:38: /0/severity: "P1" is not a severity; use critical, major, warning or info`,
			"review-rules.json:2:170: /0/match/pattern: the pattern does not compile: missing closing ): `(`; write it in RE2 syntax: https://github.com/google/re2/wiki/Syntax",
			`review-rules.json:3:55: /1/agent: there is no agent "x"; register it in review-agents.json, or use one of those that exist`,
		}},
		{"unknown file", "review-rule.json", `[]`, []string{
			`review-rule.json: there is no config file of this name; use review-rules.json, review-composition.json, review-agents.json, review-domains.json or review-settings.json, or one of these names with .jsonc, .yaml or .yml`,
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, problems := Load(layer(test.file, test.text))
			if diff := cmp.Diff(test.want, formatted(problems)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if used := c.InForce.Layers[1].Used; used {
				t.Error("the broken layer is used")
			}
		})
	}
}

// Each missing agent is reported once, with some of the entries that still name it.
func TestMissingAgentsAreReportedWithTheirEntries(t *testing.T) {
	_, problems := Load(layer(FileAgents, `{"extends": [], "items": []}`))
	form := regexp.MustCompile(`^review-agents\.json:1:13: /extends: the agent "[a-z-]+" is gone, but entries of lower layers still name it: ` +
		`"[a-z0-9-]+" in review-[a-z]+\.json(, "[a-z0-9-]+" in review-[a-z]+\.json){0,2}( and \d+ more)?; keep it, or switch those entries off too$`)
	lines := formatted(problems)
	for _, l := range lines {
		if !form.MatchString(l) {
			t.Error(l)
		}
	}
	c, _ := Load()
	// Missing agents that ask language models are not reported.
	missed := slices.DeleteFunc(slices.Clone(c.Agents), func(a Agent) bool { return a.Kind == KindLLM })
	if len(lines) != len(missed) {
		t.Errorf("%d problems for %d agents", len(lines), len(missed))
	}
	if all := strings.Join(lines, "\n"); !strings.Contains(all, `"secrets" is gone, but entries of lower layers still name it: "secrets" in review-composition.json;`) {
		t.Error(all)
	}
	rules, named := 0, regexp.MustCompile(`"build-reviewer" is gone.* and (\d+) more;`)
	for _, r := range c.Rules {
		if r.Agent == "build-reviewer" {
			rules++
		}
	}
	m := named.FindStringSubmatch(strings.Join(lines, "\n"))
	if m == nil {
		t.Fatal("the problem of build-reviewer does not count its other entries")
	}
	if more, _ := strconv.Atoi(m[1]); more < rules-3 {
		t.Errorf("the problem counts %d more entries, want at least %d", more, rules-3)
	}
}

// A problem in an expression has the line and column within the expression.
func TestProblemsInExpressions(t *testing.T) {
	tests := []struct {
		file, text string
		want       []string // the places
	}{
		{FileRules, "[" + rule("a", ",\n"+`  "when": "facts.title == \"é\" &&\n  facts.titel == \"\""`) + "]", []string{
			`review-rules.json:2:45: /0/when: `,
		}},
		{FileRules, `[` + strings.Replace(rule("a", `, "when": "facts.nothing"`), `"info"`, `"P1"`, 1) + `]`, []string{
			`review-rules.json:1:39: /0/severity: `,
			`review-rules.json:1:164: /0/when: `,
		}},
		{FileComposition, `[{"id": "p", "description": "d", "priority": 1, "dispatch": {"agents": ["secrets"]}, "trigger": {"type": "any", "triggers": [{"type": "expression", "when": "true && facts.x == 1"}, {"type": "expression", "when": "facts.title"}]}}]`, []string{
			`review-composition.json:1:171: /0/trigger/triggers/0/when: `,
			`review-composition.json:1:219: /0/trigger/triggers/1/when: `,
		}},
	}
	for _, test := range tests {
		_, problems := Load(layer(test.file, test.text))
		got := formatted(problems)
		for i, line := range got {
			if i < len(test.want) && strings.HasPrefix(line, test.want[i]) {
				got[i] = test.want[i]
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("places of problems (-want +got):\n%s", diff)
		}
	}
}

// A policy with the trigger always counts as long as one of its agents is on.
func TestAlwaysPolicyNeedsAnAgent(t *testing.T) {
	_, problems := Load(layer(FileAgents, `[{"id": "build-reviewer", "enabled": false}, {"id": "security-reviewer", "enabled": false}, {"id": "secrets", "enabled": false}, {"id": "pr-hygiene", "enabled": false}]`))
	want := []string{`review-agents.json:1:1: every agent of the policies with the trigger "always" is switched off or in evaluation; leave one on, or let such a policy dispatch another`}
	if diff := cmp.Diff(want, formatted(problems)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// A problem on one line has no characters that hide or reorder it.
func TestFormattedProblemsShowEverything(t *testing.T) {
	got := FormatProblem(pipeline.ConfigProblem{
		File: "a\u202eb.json", Line: 1, Column: 2, Pointer: "/x\u200by\u2066", Problem: "caf\u00e9 \"\u3164\"\x1b[31m\u2800\ufe0f", Remedy: "a\nb \u65e5\u672c",
	})
	if want := `a\u202eb.json:1:2: /x\u200by\u2066: café "\u3164"\x1b[31m\u2800\ufe0f; a\nb 日本`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
