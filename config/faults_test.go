package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// fault is one way to spoil an entry. seed spoils a valid entry; at is the pointer within it where
// the problem must be reported.
type fault struct {
	file string
	name string
	kind string // of entry, for review-domains.json
	at   string
	seed func(e object)
}

func set(path string, v any) func(object) {
	return func(e object) {
		steps := strings.Split(path, ".")
		for _, s := range steps[:len(steps)-1] {
			e = e[s].(object)
		}
		e[steps[len(steps)-1]] = v
	}
}

func without(name string) func(object) { return func(e object) { delete(e, name) } }

// instead replaces the whole entry.
func instead(other object) func(object) {
	return func(e object) {
		clear(e)
		maps.Copy(e, other)
	}
}

func both(seeds ...func(object)) func(object) {
	return func(e object) {
		for _, s := range seeds {
			s(e)
		}
	}
}

var entryFaults = []fault{
	{FileRules, "severity", "", "/severity", set("severity", "P1")},
	{FileRules, "unknown agent", "", "/agent", set("agent", "nobody-at-all")},
	{FileRules, "empty description", "", "/description", set("description", "")},
	{FileRules, "blank recommendation", "", "/recommendation", set("recommendation", " \n")},
	{FileRules, "no description", "", "/id", without("description")},
	{FileRules, "nothing to look for", "", "", both(without("detection"), without("match"))},
	{FileRules, "unknown field", "", "/serverity", set("serverity", "info")},
	{FileRules, "field of the wrong type", "", "/name", set("name", 7)},
	{FileRules, "category", "", "/category", set("category", "Not A Name")},
	{FileRules, "id", "", "/id", func(e object) { e["id"] = e["id"].(string) + " !" }},
	{FileRules, "pattern", "", "/match/pattern", set("match.pattern", "a(b")},
	{FileRules, "lookaround", "", "/match/not_pattern", set("match.not_pattern", "(?<!x)y")},
	{FileRules, "large pattern", "", "/match/pattern", set("match.pattern", "(abcdefgh){900}")},
	{FileRules, "pattern and literal", "", "/match", set("match.literal", "x")},
	{FileRules, "neither pattern nor literal", "", "/match", set("match", object{"on": OnAdded})},
	{FileRules, "fix", "", "/match/fix", set("match.fix", "$7")},
	{FileRules, "glob", "", "/match/paths/1", set("match.paths", []string{"src/**", "{a,b"})},
	{FileRules, "glob to leave out", "", "/match/exclude_paths/0", set("match.exclude_paths", []string{"../x"})},
	{FileRules, "language", "", "/match/languages/0", set("match.languages", []string{"Gopher"})},
	{FileRules, "what to match", "", "/match/on", set("match.on", "everything")},
	{FileRules, "count", "", "/match/max_per_file", set("match.max_per_file", -1)},
	{FileRules, "reference", "", "/reference", set("reference", "ftp://example.com")},
	{FileRules, "expression", "", "/when", both(without("match"), set("when", "facts.nothing_of_it == 1"))},
	{FileRules, "net of a title", "", "/match/net", both(set("match.on", "title"), set("match.net", true))},
	{FileRules, "misspelt rule of the defaults", "", "/id", instead(object{"id": "build-any-1", "severity": "info"})},
	{FileRules, "rule of no layer", "", "/id", instead(object{"id": "zzzzzzzz", "enabled": false})},
	{FileRules, "final rule switched off", "", "/enabled", instead(object{"id": "f-rule", "enabled": false})},
	{FileRules, "final", "", "/final", set("final", true)},

	{FileComposition, "misspelt policy of the defaults", "", "/id", instead(object{"id": "univarsal", "priority": 1})},
	{FileComposition, "final policy", "", "/priority", instead(object{"id": "f-policy", "priority": 1})},
	{FileComposition, "priority", "", "/priority", set("priority", 101)},
	{FileComposition, "type of trigger", "", "/trigger/type", set("trigger", object{"type": "sometimes"})},
	{FileComposition, "trigger without its field", "", "/trigger", set("trigger", object{"type": "label"})},
	{FileComposition, "trigger with another's field", "", "/trigger/labels", set("trigger", object{"type": "always", "labels": []string{"x"}})},
	{FileComposition, "domain", "", "/trigger/domains/1", set("trigger", object{"type": "domain", "domains": []string{"ui", "no-domain-at-all"}})},
	{FileComposition, "service", "", "/trigger/services/0", set("trigger", object{"type": "service", "services": []string{"no-service"}})},
	{FileComposition, "risk level", "", "/trigger/at_least", set("trigger", object{"type": "risk", "at_least": "XL"})},
	{FileComposition, "expression that is no condition", "", "/trigger/triggers/0/when", set("trigger", object{"type": "not", "triggers": []object{{"type": "expression", "when": "facts.title"}}})},
	{FileComposition, "glob of a trigger", "", "/trigger/globs/0", set("trigger", object{"type": "path", "globs": []string{"a/[z-a]"}})},
	{FileComposition, "unknown agent of a policy", "", "/dispatch/agents/0", set("dispatch.agents", []string{"nobody-at-all"})},
	{FileComposition, "no agents", "", "/dispatch/agents", set("dispatch.agents", []string{})},
	{FileComposition, "scope", "", "/dispatch/scope", set("dispatch.scope", "some")},
	{FileComposition, "what a failure does", "", "/dispatch/on_failure", set("dispatch.on_failure", "ignore")},

	{FileComposition, "model of a policy", "", "/dispatch/models/0", set("dispatch.models", []string{"bigg"})},
	{FileComposition, "models for a final agent", "", "/dispatch/models", both(set("dispatch.agents", []string{"m-agent"}), set("dispatch.models", []string{"cheap"}))},

	{FileAgents, "agent of a final rule", "", "/enabled", instead(object{"id": "f-agent", "enabled": false})},
	{FileAgents, "agent that is a program", "", "/kind", set("kind", "command")},
	{FileAgents, "kind of agent", "", "/kind", set("kind", "oracle")},
	{FileAgents, "retries", "", "/retries", set("retries", 99)},
	{FileAgents, "scale", "", "/scale", set("scale", "stars")},
	{FileAgents, "glob of reports", "", "/reports/plan/0", both(set("kind", KindReport), set("reports", object{"plan": []string{"{a"}}))},
	{FileAgents, "comments with reports", "", "/reports/comments", both(set("kind", KindReport), set("reports", object{"comments": "trusted"}))},
	{FileAgents, "App by its name", "", "/scanning/apps/0", both(set("kind", KindCodeScanning), set("scanning", object{"apps": []string{"GitHub Actions"}}))},
	{FileAgents, "filter", "", "/scanning/filter", both(set("kind", KindCodeScanning), set("scanning", object{"filter": "changed"}))},
	{FileAgents, "scanning of rules", "", "/scanning", both(set("kind", KindRules), set("scanning", object{"alerts": true}))},
	{FileAgents, "reports of rules", "", "/reports", both(set("kind", KindRules), set("reports", object{"comments": true}))},

	{FileAgents, "llm section of rules", "", "/llm", both(set("kind", KindRules), set("llm", object{"stage": "spec"}))},
	{FileAgents, "stage", "", "/llm/stage", both(set("kind", KindLLM), set("llm", object{"stage": "speed", "prompt": "build-reviewer"}))},
	{FileAgents, "prompt that is nowhere", "", "/llm/prompt", both(set("kind", KindLLM), set("llm", object{"prompt": "nobodys-prompt"}))},
	{FileAgents, "prompt with a path", "", "/llm/prompt", both(set("kind", KindLLM), set("llm", object{"prompt": "../review-rules"}))},
	{FileAgents, "no prompt", "", "/kind", both(without("llm"), set("kind", KindLLM))},
	{FileAgents, "checklist of nobody", "", "/llm/checklist/1", both(set("kind", KindLLM), set("llm", object{"prompt": "build-reviewer", "checklist": []string{"build-reviewer", "nobody-at-all"}}))},
	{FileAgents, "model that is not there", "", "/llm/models/0", both(set("kind", KindLLM), set("llm", object{"prompt": "build-reviewer", "models": []string{"no-model"}}))},
	{FileAgents, "remote reviewer", "", "/kind", set("kind", KindWebhook)},
	{FileAgents, "section of a remote reviewer", "", "/webhook", set("webhook", object{"url": "https://example.com", "secret_env": "SECRET"})},
	{FileAgents, "session of rules", "", "/session", both(set("kind", KindRules), set("session", true))},
	{FileAgents, "id of the gap detector", "", "/id", set("id", pipeline.GapDetector)},
	{FileAgents, "stage of a final agent", "", "/llm/stage", instead(object{"id": "m-agent", "llm": object{"stage": "quality"}})},

	{FileDomains, "id of another type of entry", "", "/type", instead(object{"id": "finance", "type": "service"})},
	{FileDomains, "type of entry", "domain", "/type", set("type", "area")},
	{FileDomains, "domain without globs", "domain", "/globs", set("globs", []string{})},
	{FileDomains, "weight", "domain", "/weight", set("weight", 1000)},
	{FileDomains, "name of a domain", "domain", "/domain", set("domain", "Not A Name")},
	{FileDomains, "field of another type", "service", "/weight", set("weight", 1)},
	{FileDomains, "sensitive paths without globs", "risk", "", set("factor", RiskSensitivePath)},
	{FileDomains, "risk factor", "risk", "/factor", set("factor", "moon")},
	{FileDomains, "domain that is covered", "risk", "/covers", set("covers", "no-domain-at-all")},
	{FileDomains, "pattern of a signal", "signal", "/pattern", set("pattern", "*")},
	{FileDomains, "agent of a signal", "signal", "/agent", set("agent", "nobody-at-all")},
	{FileDomains, "language of a signal", "signal", "/languages/0", set("languages", []string{"Gopher"})},
	{FileDomains, "part of a line", "signal", "/within/0", set("within", []string{"comment"})},
	{FileDomains, "name of a concern", "signal", "/name", set("name", " ")},
}

// Each fault is in a different place of the settings, so that all of them can occur together.
var settingsFaults = []fault{
	{FileSettings, "mode", "", "/mode", set("mode", "on")},
	{FileSettings, "section", "", "/gates", set("gates", object{})},
	{FileSettings, "condition", "", "/gate/conditions/0/when", set("gate", object{"conditions": []object{{"when": "blockers > 0", "decision": "fail"}}})},
	{FileSettings, "glob of the settings", "", "/synthesis/protected_artifacts/0", set("synthesis", object{"protected_artifacts": []string{"{a"}})},
	{FileSettings, "attempts", "", "/fix_loop/max_fix_iterations", set("fix_loop", object{"max_fix_iterations": 6})},
	{FileSettings, "name of the check", "", "/check/name", set("check", object{"name": "a\nb"})},
	{FileSettings, "fraction", "", "/limits/agent_retries", set("limits", object{"agent_retries": 1.5})},
	{FileSettings, "modes of repositories", "", "/repositories", set("repositories", []object{})},
	{FileSettings, "branches", "", "/config_branches", set("config_branches", []string{"release/*"})},
	{FileSettings, "reviewers", "", "/models/reviewers/1", set("models", object{"reviewers": []string{"big", "cheep"}})},
	{FileSettings, "deadline of sessions", "", "/sessions/deadline", set("sessions", object{"deadline": 0})},
	{FileSettings, "focus of sessions", "", "/sessions/focus_areas/0", set("sessions", object{"focus_areas": []string{" "}})},
	{FileSettings, "escalation", "", "/escalation_webhook", set("escalation_webhook", object{"url": "https://example.com", "secret_env": "S"})},
	{FileSettings, "endpoints", "", "/model_endpoints", set("model_endpoints", []object{})},
	{FileSettings, "label of what was escalated", "", "/labels/escalated", set("labels", object{"escalated": "yes"})},
	{FileSettings, "final settings", "", "/final", set("final", []string{"mode"})},
}

// validEntry draws a valid entry that a fault will spoil.
func validEntry(t *rapid.T, file, kind, id string) object {
	switch file {
	case FileRules:
		r := randomRule(t, id, true)
		delete(r, "enabled")
		return r
	case FileComposition:
		return randomPolicy(t, id, true)
	case FileAgents:
		a := object{"id": id, "name": "A", "kind": pick(t, "kind", slices.DeleteFunc(everyKind(), func(kind string) bool { return kind == KindWebhook })...), "description": "d"}
		if a["kind"] == KindLLM {
			a["llm"] = object{"prompt": pick(t, "prompt", "build-reviewer", "spec-reviewer"), "stage": pick(t, "stage", "spec", "quality"), "models": some(t, "models", "cheap", "big")}
		}
		return a
	}
	words := pick(t, "description", "d", "why")
	switch kind {
	case "service":
		return object{"id": id, "type": kind, "service": "shop", "description": words, "globs": []string{"shop/**"}}
	case "risk":
		return object{"id": id, "type": kind, "factor": RiskFork, "description": words, "points": 1}
	case "signal":
		return object{"id": id, "type": kind, "concern": "c", "name": "C", "description": words, "pattern": "x", "domain": "ui", "agent": "build-reviewer"}
	}
	return object{"id": id, "type": "domain", "domain": "shop", "description": words, "globs": []string{"shop/**"}, "weight": 1}
}

// Every fault is reported at its place, however many there are together, and nothing else is
// reported. TestProblemsAcrossLayers covers what a layer breaks as a whole (the last always policy,
// the last policy of an agent): this is not reported if the layer's policies have faults.
func TestValidationFindsEverySeededFault(t *testing.T) {
	everyFault := slices.Concat(entryFaults, settingsFaults)
	sample.Check(t, func(t *rapid.T) {
		seeded := rapid.SliceOfNDistinct(rapid.SampledFrom(everyFault), 1, 12, func(f fault) string { return f.file + f.name }).Draw(t, "faults")
		files := map[string][]object{}
		want := map[string]bool{}    // the places of the faults
		spoiled := map[string]bool{} // the numbers of the entries
		for i, f := range seeded {
			if f.file == FileSettings {
				if len(files[f.file]) == 0 {
					files[f.file] = []object{randomSettings(t)}
				}
				f.seed(files[f.file][0])
				want[f.file+f.at], spoiled[f.file] = true, true
				continue
			}
			// Valid entries stand between the spoilt ones.
			for n := range rapid.IntRange(0, 2).Draw(t, "sound") {
				files[f.file] = append(files[f.file], validEntry(t, f.file, "domain", fmt.Sprint("sound-", i, "-", n)))
			}
			e := validEntry(t, f.file, f.kind, fmt.Sprint("spoilt-", i))
			f.seed(e)
			at := fmt.Sprint(f.file, "/", len(files[f.file]))
			files[f.file] = append(files[f.file], e)
			want[at+f.at], spoiled[at] = true, true
		}
		if rapid.Bool().Draw(t, "twins") {
			files[FileRules] = append(files[FileRules], randomRule(t, "twin", true), randomRule(t, "twin", true))
			at := fmt.Sprint(FileRules, "/", len(files[FileRules])-1)
			want[at+"/id"], spoiled[at] = true, true
		}
		_, problems := Load(fast, layerOfObjects(LayerRepository, files))
		for _, p := range problems {
			entry := p.File
			if p.File != FileSettings {
				entry += "/" + strings.Split(p.Pointer+"/", "/")[1]
			}
			if !spoiled[entry] {
				t.Fatalf("a valid entry is reported: %s", FormatProblem(p))
			}
			if p.Line == 0 || p.Remedy == "" {
				t.Fatalf("the problem lacks a place or a remedy: %s", FormatProblem(p))
			}
			delete(want, p.File+p.Pointer)
		}
		if len(want) > 0 {
			t.Fatalf("faults at %v are not reported among:\n%s", slices.Sorted(maps.Keys(want)), strings.Join(formatted(problems), "\n"))
		}
	})
}

// Each fault alone is reported too, because the property may not draw all of them.
func TestEachSeededFault(t *testing.T) {
	for i, f := range slices.Concat(entryFaults, settingsFaults) {
		t.Run(f.name, func(t *testing.T) {
			e, want := object{}, f.at
			if f.file != FileSettings {
				e = rapid.Custom(func(t *rapid.T) object { return validEntry(t, f.file, f.kind, "spoilt") }).Example(i)
				want = "/0" + f.at
			}
			f.seed(e)
			_, problems := Load(fast, layerOfObjects(LayerRepository, map[string][]object{f.file: {e}}))
			for _, p := range problems {
				if p.File == f.file && p.Pointer == want {
					return
				}
			}
			t.Errorf("no problem is reported at %s of %s among:\n%s", want, f.file, strings.Join(formatted(problems), "\n"))
		})
	}
}
