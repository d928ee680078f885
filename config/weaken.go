package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/policies"
	"github.com/reviewgate/reviewgate/policies/models"
)

// An organisation's layer holds for all of its repositories, and whoever creates the
// repository .github in it writes that layer. So it may make reviews stricter, but
// looser only if the server's settings let the organisation: anything else that would
// loosen them is left out of the layer, and reported.

// mayWeaken reports whether the server lets an organisation, by its login, loosen
// what the layers below say.
func (s *Settings) mayWeaken(organisation string) bool {
	return slices.ContainsFunc(s.Organisations, func(o Organisation) bool {
		return strings.EqualFold(o.Name, organisation) && o.MayWeaken
	})
}

// dropWeakening removes from the layer's files what would loosen the stack below.
func (t *trial) dropWeakening(organisation string) {
	told := &problems{layer: t.layer}
	drop := func(parent *jsontree.Node, key, what string) {
		i := slices.IndexFunc(parent.Members, func(m jsontree.Member) bool { return m.Key == key })
		if i < 0 {
			return
		}
		told.of(parent.Members[i].Value, what+" does not count: it would loosen what the server's config says",
			fmt.Sprintf(`leave it out, or let the organisation: in the server's review-settings.json, "organisations": [{"name": %q, "may_weaken": true}]`, organisation))
		parent.Members = slices.Delete(slices.Clone(parent.Members), i, i+1)
	}
	dropField := func(n *jsontree.Node, field string) {
		path := strings.Split(field, ".")
		for _, step := range path[:len(path)-1] {
			if n = n.Get(step); n == nil {
				return
			}
		}
		drop(n, path[len(path)-1], field)
	}
	for _, file := range listFiles() {
		root := t.roots[file]
		if e := root.Get("extends"); e != nil && len(e.Elems) == 0 {
			drop(root, "extends", "extends")
		}
		for _, n := range itemsOf(root) {
			for _, field := range t.weakened(file, n) {
				dropField(n, field)
			}
		}
	}
	if root := t.roots[FileSettings]; root != nil {
		for _, field := range t.weakenedSettings(root) {
			dropField(root, field)
		}
	}
	t.stack.weakened = told.ordered()
}

// weakened lists the fields in which an entry would loosen the one below it.
func (t *trial) weakened(file string, n *jsontree.Node) (fields []string) {
	id := n.Get("id")
	if id == nil {
		return nil
	}
	below := t.below.lists[file].get(id.Text)
	if below == nil || below.value == nil {
		return nil
	}
	above := newEntry(file, below.node.At("type").Text)
	if json.Unmarshal(n.Overlay(below.node, deepFields(file)...).AppendJSON(nil), above) != nil {
		return nil // reported where it is decoded
	}
	may := stricter(below.value)
	for _, d := range differences(below.value, above) {
		if change, named := may[d.field]; named && change.ok(d.below, d.above) || d.field == "enabled" && d.above == true || wording[d.field] {
			continue
		}
		if d.field == "trigger" && d.above.(policies.Trigger).Type == policies.TriggerAlways {
			continue
		}
		fields = append(fields, d.field)
	}
	return fields
}

// wording are the fields of entries that describe something and decide nothing.
var wording = map[string]bool{
	"name": true, "description": true, "recommendation": true, "reference": true, "category": true, "final": true,
	"capabilities": true, "concern": true, "timeout_seconds": true, "retries": true,
}

// weakenedSettings lists the settings that would be looser than below.
func (t *trial) weakenedSettings(root *jsontree.Node) (fields []string) {
	var above Settings // fresh, so that nothing is written into the lists of the one below
	if json.Unmarshal(root.Overlay(t.below.settings, deepFields(FileSettings)...).AppendJSON(nil), &above) != nil {
		return nil
	}
	for _, d := range settingDifferences(t.below.decoded, above) {
		if !stricterSetting(&t.below.decoded, d) {
			fields = append(fields, d.field)
		}
	}
	return fields
}

// settingDifferences lists the settings that differ, by their path.
func settingDifferences(below, above Settings) (all []difference) {
	b, a := reflect.ValueOf(below), reflect.ValueOf(above)
	for i := range b.NumField() {
		name, _, _ := strings.Cut(b.Type().Field(i).Tag.Get("json"), ",")
		if b.Field(i).Kind() == reflect.Struct {
			all = append(all, differing(name+".", b.Field(i), a.Field(i))...)
			continue
		}
		if x, y := withDefault(name, b.Field(i)), withDefault(name, a.Field(i)); !reflect.DeepEqual(x, y) {
			all = append(all, difference{name, x, y})
		}
	}
	return all
}

// freeSettings are the settings of which no value lets more pass than another: what is
// written and where, how long and how often agents are tried, who is asked. The name of
// a section ends in a dot. A setting that is not listed counts as able to loosen.
var freeSettings = []string{
	"comment.", "issues.", "labels.", "fix_loop.", "limits.", "check.annotations", "synthesis.judgement_categories",
	"models.people", "models.gap_detector", "models.speculative_quality", "models.auto_reject", "final", "final_authority",
}

// stricterSetting reports whether a setting is at least as strict as the one below it.
func stricterSetting(below *Settings, d difference) bool {
	lower := func() bool {
		return reflect.ValueOf(d.above).Convert(reflect.TypeFor[float64]()).Float() < reflect.ValueOf(d.below).Convert(reflect.TypeFor[float64]()).Float()
	}
	order := func(values ...string) bool {
		above := slices.Index(values, d.above.(string))
		return above >= 0 && above >= slices.Index(values, d.below.(string))
	}
	switch d.field {
	case "mode":
		for _, r := range below.Repositories {
			if StricterMode(d.above.(string), r.Mode) != d.above.(string) {
				return false
			}
		}
		return order(modes...)
	case "drafts":
		return order(DraftsSkip, DraftsReview)
	case "gate.conditions":
		return !policies.MayLoosen(d.below.([]policies.GateCondition), d.above.([]policies.GateCondition))
	case "synthesis.confidence_gate", "thresholds.max_critical_issues", "thresholds.max_major_issues":
		return lower()
	case "thresholds.completeness_score", "thresholds.testability_score", "thresholds.clarity_score", "thresholds.confidence_level":
		return !lower()
	case "synthesis.protected_artifacts", "commands.override_teams":
		return holdsAll(d.below.([]string), d.above.([]string))
	case "synthesis.inline_ignore":
		return order(IgnoreAll, IgnoreNotCritical, IgnoreBaseOnly, IgnoreNone)
	case "commands.self_judgement":
		return order(SelfJudgementMaintainers, SelfJudgementNever)
	case "models.hold_for_person":
		return order(models.HoldNever, models.HoldCritical, models.HoldAlways)
	case "models.auto_approve":
		return d.above == false
	}
	return slices.ContainsFunc(freeSettings, func(free string) bool {
		return d.field == free || strings.HasSuffix(free, ".") && strings.HasPrefix(d.field, free)
	})
}

// Weakened lists what in the organisation's layer does not count because it would loosen
// what the server's config says, each with the line that the server's config needs to
// let it count.
func (c *Config) Weakened() []pipeline.ConfigProblem { return slices.Clone(c.weakened) }
