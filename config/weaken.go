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

// An organisation's layer applies to all of its repositories, and whoever creates its
// repository .github writes that layer. So the layer may make reviews stricter, but looser
// only if the server's settings allow it. Otherwise the parts that would loosen reviews are
// dropped and reported.

// mayWeaken reports whether the server lets an organisation, by its login, loosen
// what the layers below say.
func (s *Settings) mayWeaken(organisation string) bool {
	return slices.ContainsFunc(s.Organisations, func(o Organisation) bool {
		return strings.EqualFold(o.Name, organisation) && o.MayWeaken
	})
}

// weakening drops the parts of an organisation's layer that would loosen the stack below.
type weakening struct {
	below   *stack
	roots   layerRoots
	dropped *problems
	remedy  string
}

const whyDropped = " does not count: it would loosen what the server's config says"

// dropWeakening drops the parts of the layer that would loosen the stack below.
func (t *trial) dropWeakening(organisation string) {
	w := &weakening{t.below, t.roots, &problems{layer: t.layer}, fmt.Sprintf(
		`leave it out, or let the organisation: in the server's review-settings.json, "organisations": [{"name": %q, "may_weaken": true}]`, organisation)}
	for _, file := range listFiles() {
		w.dropFields(file)
	}
	for _, name := range t.prompts {
		if below := t.below.prompts[name]; len(below) > 0 { // which could talk the agent out of its task
			t.stack.prompts[name] = below
			w.dropped.whole(promptPath(name), "the prompt"+whyDropped, w.remedy)
		}
	}
	w.dropHiding()
	if root := t.roots[FileSettings]; root != nil {
		for _, field := range w.weakenedSettings(root) {
			if section, _, _ := strings.Cut(field, "."); slices.Contains(serverOnly, section) {
				field = section
			}
			w.drop(root, field)
		}
	}
	t.stack.weakened = w.dropped.ordered()
}

// drop removes a field of an object. The field may be in a part, such as match.pattern.
func (w *weakening) drop(n *jsontree.Node, field string) {
	path := strings.Split(field, ".")
	for _, step := range path[:len(path)-1] {
		if n = n.Get(step); n == nil {
			return
		}
	}
	i := slices.IndexFunc(n.Members, func(m jsontree.Member) bool { return m.Key == path[len(path)-1] })
	if i >= 0 {
		w.dropped.of(n.Members[i].Value, field+whyDropped, w.remedy)
		n.Members = slices.Delete(slices.Clone(n.Members), i, i+1)
	}
}

// dropFields removes the fields of a file and its entries that would loosen.
func (w *weakening) dropFields(file string) {
	root := w.roots[file]
	if e := root.Get("extends"); e != nil && len(e.Elems) == 0 {
		w.drop(root, "extends")
	}
	for _, n := range itemsOf(root) {
		for _, field := range w.weakened(file, n) {
			w.drop(n, field)
		}
		if w.handsOver(file, n) {
			w.drop(n, "final")
		}
	}
}

// dropHiding removes the entries of the domains' file that hide files from something below.
func (w *weakening) dropHiding() {
	list := w.roots[FileDomains]
	if list != nil && list.Kind != jsontree.Array {
		list = list.Get("items")
	}
	if list == nil {
		return
	}
	list.Elems = slices.DeleteFunc(slices.Clone(list.Elems), func(n *jsontree.Node) bool {
		hides := w.hides(n)
		if hides {
			w.dropped.of(n, "the "+nounOf(w.merged(n))+whyDropped, w.remedy)
		}
		return hides
	})
}

// weakened lists the fields in which an entry would loosen the one below it.
func (w *weakening) weakened(file string, n *jsontree.Node) (fields []string) {
	id := n.Get("id")
	if id == nil {
		return nil
	}
	below := w.below.lists[file].get(id.Text)
	if below == nil || below.value == nil {
		return w.weakenedByNew(file, n)
	}
	above := newEntry(file, below.node.At("type").Text)
	if json.Unmarshal(n.Overlay(below.node, deepFields(file)...).AppendJSON(nil), above) != nil {
		return nil // reported where it is decoded
	}
	may := stricter(below.value)
	for _, d := range differences(below.value, above) {
		if change, named := may[d.field]; named && change.ok(d.below, d.above) || d.field == "enabled" && d.above == true && !w.takesConcern(below.value) || d.field == "mode" && d.above == ModeEnforce || describes(below.value, d.field) {
			continue
		}
		if limit, timed := w.limit(d.field); timed && orElse(d.field, d.above, limit) >= orElse(d.field, d.below, limit) {
			continue
		}
		if d.field == "trigger" && d.above.(policies.Trigger).Type == policies.TriggerAlways {
			continue
		}
		fields = append(fields, d.field)
	}
	if p, ok := below.value.(*Policy); ok {
		for _, field := range w.swapping(p, above.(*Policy)) {
			if !slices.Contains(fields, field) {
				fields = append(fields, field)
			}
		}
	}
	return fields
}

// weakenedByNew lists the fields in which an entry that no layer below has would
// loosen others.
func (w *weakening) weakenedByNew(file string, n *jsontree.Node) []string {
	above := newEntry(file, n.At("type").Text)
	if json.Unmarshal(n.AppendJSON(nil), above) != nil {
		return nil // reported where it is decoded
	}
	if p, ok := above.(*Policy); ok && p.Enabled && len(p.Dispatch.Models) > 0 && w.asksModels(p.Dispatch.Agents) {
		return []string{"dispatch.models"}
	}
	return nil
}

// swapping lists the fields by which a policy with models would make agents of the layers
// below ask these models instead: a policy's models come before an agent's own.
func (w *weakening) swapping(below, above *Policy) (fields []string) {
	if !above.Enabled || len(below.Dispatch.Models) == 0 {
		return nil // models of its own are dropped already
	}
	added := slices.DeleteFunc(slices.Clone(above.Dispatch.Agents), func(id string) bool { return slices.Contains(below.Dispatch.Agents, id) })
	if w.asksModels(added) {
		fields = append(fields, "dispatch.agents")
	}
	if !w.asksModels(below.Dispatch.Agents) {
		return fields
	}
	if !below.Enabled {
		fields = append(fields, "enabled")
	}
	if below.Mode == ModeEvaluate && above.Mode != ModeEvaluate {
		fields = append(fields, "mode")
	}
	if !reflect.DeepEqual(below.Trigger, above.Trigger) {
		fields = append(fields, "trigger")
	}
	return fields
}

// handsOver reports whether an entry makes one of a layer below final while the layer names
// people who may dismiss final findings. These people need only write permission, not
// maintain, so they may dismiss findings of the layer's own entries only. A rule with an id
// of the agent for secrets does not count as the layer's own.
func (w *weakening) handsOver(file string, n *jsontree.Node) bool {
	if !isTrue(n.Get("final")) || len(elems(w.roots[FileSettings].Get("final_authority"))) == 0 {
		return false
	}
	id := n.At("id").Text
	below := w.below.lists[file].get(id)
	return below != nil && below.final == "" || file == FileRules && strings.HasPrefix(id, pipeline.SecretRulePrefix)
}

// asksModels reports whether one of the agents is of a layer below and asks models.
func (w *weakening) asksModels(agents []string) bool {
	return slices.ContainsFunc(agents, func(id string) bool {
		e := w.below.lists[FileAgents].get(id)
		if e == nil {
			return false
		}
		a, ok := e.value.(*Agent)
		return ok && a.Kind == KindLLM
	})
}

// hides reports whether an entry of the domains' file could keep policies, rules or signals
// below from looking at files, or could lower the risk of a change. A trigger or an
// expression may not hold for mapped files or for a riskier change, and a signal skips the
// files of its domain, since it takes them for covered.
func (w *weakening) hides(n *jsontree.Node) bool {
	above := w.merged(n)
	var was any
	if below := w.below.lists[FileDomains].get(n.At("id").Text); below != nil && below.value != nil && reflect.TypeOf(below.value) == reflect.TypeOf(above) {
		if was = below.value; !slices.ContainsFunc(differences(was, above), func(d difference) bool { return !describes(was, d.field) }) {
			return false
		}
	}
	switch v := above.(type) {
	case *DomainMapping:
		was, _ := was.(*DomainMapping)
		return v.Enabled && (w.hidesMapped("domain", v.Domain) || w.coversMore(v, was))
	case *ServiceMapping:
		return v.Enabled && w.hidesMapped("service", v.Service)
	case *RiskFactor:
		was, _ := was.(*RiskFactor)
		covers := v.Covers != "" && (was == nil || !was.Enabled || was.Points == 0 || !slices.Equal(was.Globs, v.Globs))
		return v.Enabled && (w.readsRisk() || covers && w.maps(v.Covers))
	}
	return false
}

// merged returns an entry of the domains' file laid over the one below it, or nil if it
// can't be decoded, which mergeList reports.
func (w *weakening) merged(n *jsontree.Node) any {
	if below := w.below.lists[FileDomains].get(n.At("id").Text); below != nil && below.node != nil {
		n = n.Overlay(below.node)
	}
	above := newEntry(FileDomains, n.At("type").Text)
	if json.Unmarshal(n.AppendJSON(nil), above) != nil {
		return nil
	}
	return above
}

// hidesMapped reports whether a policy, rule or signal below might no longer look at files
// that are mapped to the domain or service.
func (w *weakening) hidesMapped(kind, name string) bool {
	var seen []string // agents that look at such files anyway
	for _, p := range all[*Policy](w.below.lists[FileComposition]) {
		if !p.Enabled {
			continue
		}
		if readsElsewhere(p.Trigger, name, false) {
			return true
		}
		if evaluated(p) {
			continue // its agents don't look at the files of enforced reviews
		}
		always := p.Trigger.Type == policies.TriggerAlways && p.Dispatch.Scope != ScopeMatched
		if always || p.Trigger.Type == policies.TriggerDomain && slices.Equal(p.Trigger.Domains, []string{name}) || p.Trigger.Match != "all" && slices.Contains(p.Trigger.Domains, name) {
			seen = append(seen, p.Dispatch.Agents...)
		}
	}
	for _, r := range all[*Rule](w.below.lists[FileRules]) {
		if r.Enabled && readsMappings(r.When) {
			return true
		}
	}
	if kind == "domain" && w.readsRisk() {
		return true
	}
	return kind == "domain" && slices.ContainsFunc(all[*Signal](w.below.lists[FileDomains]), func(s *Signal) bool {
		return s.Enabled && s.Domain == name && !slices.Contains(seen, s.Agent)
	})
}

// readsElsewhere reports whether a trigger may no longer hold for files that are mapped to
// the domain or service. not is set within a trigger that negates.
func readsElsewhere(t policies.Trigger, name string, not bool) bool {
	not = not || t.Type == policies.TriggerNot
	return not && (slices.Contains(t.Domains, name) || slices.Contains(t.Services, name)) || readsMappings(t.When) ||
		slices.ContainsFunc(t.Triggers, func(sub policies.Trigger) bool { return readsElsewhere(sub, name, not) })
}

// readsMappings reports whether an expression reads values that mappings change: the domains
// and services, their number, the unclassified files, and the risk.
func readsMappings(expression string) bool {
	return slices.ContainsFunc([]string{"domains", "services", "breadth", "unclassified", "risk"}, func(name string) bool { return strings.Contains(expression, name) })
}

// readsRisk reports whether a policy or rule below may look at less of a riskier change.
func (w *weakening) readsRisk() bool {
	return slices.ContainsFunc(all[*Policy](w.below.lists[FileComposition]), func(p *Policy) bool { return p.Enabled && fallsWithRisk(p.Trigger, false, false) }) ||
		slices.ContainsFunc(all[*Rule](w.below.lists[FileRules]), func(r *Rule) bool { return r.Enabled && strings.Contains(r.When, "risk") })
}

// fallsWithRisk reports whether a trigger may not hold, or may match fewer files, if a
// change is riskier. If all of several triggers must hold, one that holds for the whole
// change because of its risk names no files, so only the files of the others are matched.
func fallsWithRisk(t policies.Trigger, not, all bool) bool {
	not = not || t.Type == policies.TriggerNot
	return t.Type == policies.TriggerRisk && not || strings.Contains(t.When, "risk") || slices.ContainsFunc(t.Triggers, func(sub policies.Trigger) bool {
		return fallsWithRisk(sub, not || all && t.Type == policies.TriggerAny, all || t.Type == policies.TriggerAll)
	})
}

// coversMore reports whether a mapping lowers the weight of domains below: files of a domain
// that it covers count for its own domain, and a covered domain does not count as touched.
func (w *weakening) coversMore(above, was *DomainMapping) bool {
	weight := 0 // of the domain so far
	var covered []string
	for _, m := range all[*DomainMapping](w.below.lists[FileDomains]) {
		if m.Enabled && m.Domain == above.Domain {
			weight = max(weight, m.Weight)
			covered = append(covered, m.Covers)
		}
	}
	if weight == 0 && above.Weight > 0 && slices.ContainsFunc(covered, w.maps) {
		return true // its weight makes the domain begin to cover them
	}
	return w.maps(above.Covers) && (was == nil || !was.Enabled || !slices.Equal(was.Globs, above.Globs))
}

// maps reports whether a layer below maps files to a domain.
func (w *weakening) maps(domain string) bool {
	return domain != "" && slices.ContainsFunc(all[*DomainMapping](w.below.lists[FileDomains]), func(m *DomainMapping) bool {
		return m.Enabled && m.Domain == domain
	})
}

// describes reports whether a field of an entry only describes it, without effect on
// decisions. Most texts of a rule have an effect: a finding that recommends to delete a
// protected file is set aside, findings are compared by their words, several categories may
// have to fail, and models read a rule's name. The search for gaps chooses agents by their
// descriptions, and each concern is looked for once in a file.
func describes(entry any, field string) bool {
	switch field {
	case "final", "reference":
		return true
	case "name", "capabilities":
		_, is := entry.(*Rule)
		return !is
	case "rules": // in words, for language models
		_, is := entry.(*ServiceMapping)
		return is
	case "description":
		switch entry.(type) {
		case *Rule, *Agent:
			return false
		}
		return true
	}
	return false
}

// limit returns the timeout or the number of retries of agents that do not set their own.
// With less an agent may not finish, and then a change passes if the agent is not required.
func (w *weakening) limit(field string) (n int, timed bool) {
	switch limits := &w.below.decoded.Limits; field {
	case "timeout_seconds":
		return limits.AgentTimeoutSeconds, true
	case "retries":
		return limits.AgentRetries, true
	}
	return 0, false
}

// takesConcern reports whether a signal, once enabled, could send its agent to files instead
// of another signal's: each concern is looked for once in a file, by the first signal.
func (w *weakening) takesConcern(value any) bool {
	s, ok := value.(*Signal)
	return ok && slices.ContainsFunc(all[*Signal](w.below.lists[FileDomains]), func(other *Signal) bool {
		return other.Enabled && other.Concern == s.Concern && other.Agent != s.Agent
	})
}

// orElse returns the number of a field, or another one if the field is left out.
func orElse(field string, value any, otherwise int) int {
	if n, given := value.(int); given && (n != 0 || field == "retries") {
		return n
	}
	return otherwise
}

// weakenedSettings lists the settings that would be looser than below.
func (w *weakening) weakenedSettings(root *jsontree.Node) (fields []string) {
	var above Settings // fresh, so that nothing is written into the lists of the one below
	if json.Unmarshal(root.Overlay(w.below.settings, deepFields(FileSettings)...).AppendJSON(nil), &above) != nil {
		return nil
	}
	for _, d := range differences(&w.below.decoded, &above) {
		if d.field != "mode" && !stricterSetting(&w.below.decoded, d) {
			fields = append(fields, d.field)
		}
	}
	// The same mode may be looser, too: a mode in this layer overrules the server's modes
	// by repository.
	if root.Get("mode") != nil && !stricterSetting(&w.below.decoded, difference{"mode", w.below.decoded.Mode, above.Mode}) {
		fields = append(fields, "mode")
	}
	for _, field := range w.movedLabels(above.Labels) {
		if root.Get("labels").Get(strings.TrimPrefix(field, "labels.")) != nil {
			fields = append(fields, field)
		}
	}
	return fields
}

// movedLabels lists the settings by which reviewgate would add or remove other labels than
// by the settings below, if a policy or rule below reads these labels. A trigger may no
// longer hold, whether a label appears or disappears.
func (w *weakening) movedLabels(above LabelSettings) []string {
	below := w.below.decoded.Labels
	moved := map[string][]string{} // by setting, the labels
	if above.Risk != below.Risk || above.Risk && above.Prefix != below.Prefix {
		for _, level := range []pipeline.RiskLevel{pipeline.RiskLow, pipeline.RiskMedium, pipeline.RiskHigh, pipeline.RiskCritical} {
			moved["risk"] = append(moved["risk"], above.Prefix+string(level), below.Prefix+string(level))
		}
	}
	if above.Escalated != below.Escalated {
		moved["escalated"] = []string{"review-escalated"}
	}
	read := func(labels []string) bool {
		return len(labels) > 0 && (slices.ContainsFunc(all[*Policy](w.below.lists[FileComposition]), func(p *Policy) bool { return p.Enabled && readsLabels(p.Trigger, labels) }) ||
			slices.ContainsFunc(all[*Rule](w.below.lists[FileRules]), func(r *Rule) bool { return r.Enabled && strings.Contains(r.When, "labels") }))
	}
	var fields []string
	if read(moved["risk"]) {
		fields = append(fields, "labels.risk", "labels.prefix")
	}
	if read(moved["escalated"]) {
		fields = append(fields, "labels.escalated")
	}
	return fields
}

// readsLabels reports whether a trigger reads one of the labels, or may.
func readsLabels(t policies.Trigger, labels []string) bool {
	return strings.Contains(t.When, "labels") ||
		slices.ContainsFunc(t.Labels, func(want string) bool {
			return slices.ContainsFunc(labels, func(have string) bool { return strings.EqualFold(want, have) })
		}) ||
		slices.ContainsFunc(t.Triggers, func(sub policies.Trigger) bool { return readsLabels(sub, labels) })
}

// freeSettings are the settings that can't let more pass, whatever their value: what is
// written and where, how long and how often agents are tried, who is asked, what is remembered.
// The name of a section ends in a dot. All other settings count as able to loosen.
var freeSettings = []string{
	"comment.", "issues.", "labels.", "fix_loop.", "memory.", "sessions.", "limits.agent_concurrency", "limits.commands_per_hour", "check.annotations",
	"synthesis.judgement_categories", "models.people", "models.speculative_quality", "final", "final_authority",
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
	case "profile":
		return order(ProfileDefault, ProfileStrict)
	case "drafts":
		return order(DraftsSkip, DraftsReview)
	case "gate.conditions":
		return !policies.MayLoosen(d.below.([]policies.GateCondition), d.above.([]policies.GateCondition))
	case "probation":
		return order(ProbationAuto, ProbationPropose)
	case "synthesis.confidence_gate", "probation_bar", "thresholds.max_critical_issues", "thresholds.max_major_issues":
		return lower()
	case "thresholds.completeness_score", "thresholds.testability_score", "thresholds.clarity_score", "thresholds.confidence_level",
		"limits.agent_timeout_seconds", "limits.agent_retries":
		return !lower()
	case "synthesis.protected_artifacts", "commands.override_teams":
		return holdsAll(d.below.([]string), d.above.([]string))
	case "synthesis.inline_ignore":
		return order(IgnoreAll, IgnoreNotCritical, IgnoreBaseOnly, IgnoreNone)
	case "commands.self_judgement":
		return order(SelfJudgementMaintainers, SelfJudgementNever)
	case "models.hold_for_person":
		return order(models.HoldNever, models.HoldCritical, models.HoldAlways)
	case "models.agreement":
		return order(AgreementWords, AgreementAsked)
	case "models.auto_approve":
		return d.above == false
	case "models.auto_reject":
		return d.above == true
	case "models.gap_detector", "models.verify": // the agents that it asks for, and the second voice
		return d.below == ""
	}
	return slices.ContainsFunc(freeSettings, func(free string) bool {
		return d.field == free || strings.HasSuffix(free, ".") && strings.HasPrefix(d.field, free)
	})
}

// Weakened lists the parts of the organisation's layer that were dropped because they would
// loosen the server's config, each with the line that the server's config needs to allow it.
func (c *Config) Weakened() []pipeline.ConfigProblem { return slices.Clone(c.weakened) }
