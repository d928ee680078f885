package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// object is a JSON object of a config file.
type object = map[string]any

func encoded(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // v is made of maps, lists, strings and numbers
	}
	return b
}

// layerOfObjects writes a layer from entries by file, in their order.
func layerOfObjects(name string, files map[string][]object) Layer {
	l := Layer{Name: name}
	for _, file := range FileNames() {
		switch entries := files[file]; {
		case len(entries) == 0:
		case file == FileSettings:
			l.Files = append(l.Files, File{Path: file, Text: encoded(entries[0])})
		default:
			l.Files = append(l.Files, File{Path: file, Text: encoded(entries)})
		}
	}
	return l
}

func pick[T any](t *rapid.T, what string, from ...T) T {
	return rapid.SampledFrom(from).Draw(t, what)
}

// some draws a few of the values and keeps their order.
func some(t *rapid.T, what string, from ...string) []string {
	list := []string{}
	for _, s := range from {
		if rapid.Bool().Draw(t, what) {
			list = append(list, s)
		}
	}
	return list
}

// fields keeps each of an entry's fields or drops it, at random.
func fields(t *rapid.T, all object) object {
	kept := object{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if rapid.Bool().Draw(t, name+"?") {
			kept[name] = all[name]
		}
	}
	return kept
}

// randomRule draws what one layer has of a rule: all fields, or some.
func randomRule(t *rapid.T, id string, whole bool) object {
	match := object{
		"pattern": pick(t, "pattern", `\bx+y\b`, `(a|b)c{2,9}`, `é "quoted" \\`, `<b>&amp;`), "paths": some(t, "paths", "src/**", "*.go", "{a,b}/**/*.ts"),
		"languages": some(t, "languages", "Go", "Python", "C++"), "max_per_file": rapid.IntRange(0, 9).Draw(t, "max"), "tests": rapid.Bool().Draw(t, "tests"),
		"on": pick(t, "on", OnAdded, OnRemoved, OnPath, OnBody),
	}
	r := object{
		"name": pick(t, "name", "n", "another name"), "severity": pick(t, "severity", "critical", "major", "warning", "info"),
		"agent": pick(t, "agent", "build-reviewer", "pr-hygiene", "finance-sme"), "category": "c", "description": pick(t, "description", "d", "é\n\"d\""),
		"detection": "d", "recommendation": "r",
	}
	if whole {
		r["match"] = match
	} else {
		r["match"] = fields(t, match)
		r = fields(t, r)
	}
	if rapid.Bool().Draw(t, "switch") {
		r["enabled"] = rapid.Bool().Draw(t, "enabled")
	}
	r["id"] = id
	return r
}

func randomPolicy(t *rapid.T, id string, whole bool) object {
	dispatch := object{
		"agents": append(some(t, "agents", "secrets", "finance-sme"), "build-reviewer"), "required": rapid.Bool().Draw(t, "required"),
		"on_failure": pick(t, "on_failure", "block", "warn"), "scope": pick(t, "scope", ScopeAll, ScopeMatched),
	}
	p := object{
		"description": pick(t, "description", "d", "why"), "priority": rapid.IntRange(0, 100).Draw(t, "priority"),
		"trigger": pick(t, "trigger",
			object{"type": "always"}, object{"type": "path", "globs": []string{"src/**"}},
			object{"type": "expression", "when": "facts.draft"},
			object{"type": "any", "triggers": []object{{"type": "domain", "domains": []string{"ui", "api"}, "match": "all"}, {"type": "risk", "at_least": "high"}}}),
	}
	if whole {
		p["dispatch"] = dispatch
	} else {
		p["dispatch"] = fields(t, dispatch)
		p = fields(t, p)
	}
	p["id"] = id
	return p
}

func randomSettings(t *rapid.T) object {
	return fields(t, object{
		"mode": pick(t, "mode", ModeEnforce, ModeAdvisory, ModeOff), "drafts": pick(t, "drafts", DraftsReview, DraftsSkip),
		"gate":     fields(t, object{"conditions": []object{{"when": "critical > 0", "decision": pick(t, "decision", "fail", "needs_fixes")}}}),
		"check":    fields(t, object{"name": pick(t, "check", "a", "b c"), "annotations": rapid.Bool().Draw(t, "annotations")}),
		"sessions": fields(t, object{"fallback": rapid.IntRange(0, 1440).Draw(t, "fallback"), "deadline": rapid.IntRange(1, 1440).Draw(t, "deadline")}),
		"limits":   fields(t, object{"agent_retries": rapid.IntRange(0, 5).Draw(t, "retries"), "agent_concurrency": rapid.IntRange(1, 64).Draw(t, "concurrency")}),
	})
}

// randomLayers draws layers. The first has each entry whole, and the others override fields of some
// entries.
func randomLayers(t *rapid.T) []map[string][]object {
	ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,3}[0-9]{3}`), 1, 6, rapid.ID[string]).Draw(t, "ids")
	var layers []map[string][]object
	for i := range rapid.IntRange(1, 3).Draw(t, "layers") {
		files := map[string][]object{}
		for _, id := range ids {
			if i == 0 || rapid.Bool().Draw(t, "has "+id) {
				files[FileRules] = append(files[FileRules], randomRule(t, id, i == 0))
			}
			if i == 0 || rapid.Bool().Draw(t, "has "+id) {
				files[FileComposition] = append(files[FileComposition], randomPolicy(t, id, i == 0))
			}
		}
		if settings := randomSettings(t); len(settings) > 0 {
			files[FileSettings] = []object{settings}
		}
		layers = append(layers, files)
	}
	return layers
}

// namesOfLayers are the layers over the defaults.
var namesOfLayers = []string{LayerServer, LayerOrganisation, LayerRepository}

// entriesOf lists the entries in force by file and id, as JSON.
func entriesOf(c *Config) map[string]map[string]string {
	out := map[string]map[string]string{}
	for file, entries := range c.inForce() {
		out[file] = map[string]string{}
		for id, e := range entries {
			out[file][id] = string(encoded(e))
		}
	}
	out[FileSettings] = map[string]string{"": string(encoded(c.Settings))}
	return out
}

// Within a layer, the order of files has no effect. The order of entries only decides the order of
// new entries in the config.
func TestOrderWithinALayerDoesNotMatter(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		var straight, files, shuffled []Layer
		for i, objects := range randomLayers(t) {
			l := layerOfObjects(namesOfLayers[i], objects)
			straight = append(straight, l)
			l.Files = rapid.Permutation(l.Files).Draw(t, "files")
			files = append(files, l)
			for _, file := range listFiles() {
				if len(objects[file]) > 0 {
					objects[file] = rapid.Permutation(objects[file]).Draw(t, "entries")
				}
			}
			shuffled = append(shuffled, layerOfObjects(namesOfLayers[i], objects))
		}
		want, problems := Load(straight...)
		if len(problems) > 0 {
			t.Fatal(formatted(problems))
		}
		got, _ := Load(files...)
		if diff := cmp.Diff(entriesInOrder(want), entriesInOrder(got)); diff != "" || got.InForce.Version != want.InForce.Version {
			t.Fatalf("with the files in another order (-straight +shuffled):\n%s", diff)
		}
		got, _ = Load(shuffled...)
		if diff := cmp.Diff(entriesOf(want), entriesOf(got)); diff != "" {
			t.Fatalf("with the entries in another order (-straight +shuffled):\n%s", diff)
		}
	})
}

func entriesInOrder(c *Config) string {
	return string(encoded([]any{c.Rules, c.Policies, c.Agents, c.Domains, c.Services, c.Risk, c.Signals, c.Settings}))
}

// The last layer that sets a field wins. Fields are the members of an entry, of a rule's match and
// of a policy's dispatch.
func TestLastLayerWinsFieldByField(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		drawn := randomLayers(t)
		var layers []Layer
		model := map[string]map[string]object{FileRules: {}, FileComposition: {}}
		settings := object{}
		for i, files := range drawn {
			layers = append(layers, layerOfObjects(namesOfLayers[i], files))
			for file, entries := range model {
				for _, e := range files[file] {
					entries[e["id"].(string)] = overlaid(entries[e["id"].(string)], e, "match", "dispatch")
				}
			}
			for _, s := range files[FileSettings] {
				settings = overlaid(settings, s, "gate", "check", "limits", "sessions")
			}
		}
		c, problems := Load(layers...)
		if len(problems) > 0 {
			t.Fatal(formatted(problems))
		}
		got := c.inForce()
		for file, entries := range model {
			for id, e := range entries {
				if e["enabled"] == false {
					if got[file][id] != nil {
						t.Fatalf("%s of %s is in force", id, file)
					}
					continue
				}
				var value any = &Rule{Enabled: true}
				if file == FileComposition {
					value = &Policy{Enabled: true}
				}
				if err := json.Unmarshal(encoded(e), value); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(value, got[file][id]); diff != "" {
					t.Fatalf("%s of %s (-model +config):\n%s", id, file, diff)
				}
			}
		}
		want := mustDefaults().Settings
		if err := json.Unmarshal(encoded(settings), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, c.Settings); diff != "" {
			t.Fatalf("settings (-model +config):\n%s", diff)
		}
	})
}

func mustDefaults() *Config {
	c, _ := Load()
	// The shared defaults must not be changed by unmarshalling over them.
	c.Settings.Gate.Conditions = slices.Clone(c.Settings.Gate.Conditions)
	return c
}

func overlaid(below, above object, deep ...string) object {
	out := maps.Clone(below)
	if out == nil {
		out = object{}
	}
	for name, v := range above {
		lower, both := out[name].(object)
		if own, ok := v.(object); ok && both && slices.Contains(deep, name) {
			v = overlaid(lower, own)
		}
		out[name] = v
	}
	return out
}

// A layer that is left out changes nothing: the layers below and above it give the same config as
// without it.
func TestBrokenLayerChangesNothing(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		drawn := randomLayers(t)
		broken := named(layer(FileSettings, `{"mode": "on"}`, FileRules, `[{"id": "build-any-01", "enabled": false}]`), LayerRepository)
		var layers, with []Layer
		at := rapid.IntRange(0, len(drawn)-1).Draw(t, "after")
		for i, files := range drawn {
			layers = append(layers, layerOfObjects(namesOfLayers[i], files))
			with = append(with, layers[i])
			if i == at {
				with = append(with, broken)
			}
		}
		want, _ := Load(layers...)
		got, problems := Load(with...)
		if len(problems) == 0 {
			t.Fatal("the broken layer has no problem")
		}
		if diff := cmp.Diff(entriesInOrder(want), entriesInOrder(got)); diff != "" {
			t.Fatalf("config (-without +with the broken layer):\n%s", diff)
		}
		if got.InForce.Version != want.InForce.Version {
			t.Fatal(fmt.Sprint("version ", got.InForce.Version, " is not ", want.InForce.Version))
		}
	})
}
