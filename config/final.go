package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/policies"
)

// lock is why later layers may not freely change an entry of a lower layer, and which
// changes they may still make.
type lock struct {
	why string            // "the rule "x" is final in the server's layer"
	may map[string]change // by field, the changes that may still be allowed
	// open reports whether all fields that are not in may are free.
	open bool
}

// change says which change of a field a lock allows.
type change struct {
	ok     func(below, above any) bool
	remedy string
}

// lock returns the lock on an entry, or nil. Entries are locked if a lower layer made them
// final, or if a final entry depends on them.
func (g *guards) lock(e *entry) *lock {
	if e.final != "" {
		return &lock{why: fmt.Sprintf("%s is %s", titled(e), finalIn(e.final)), may: stricter(e.value)}
	}
	switch v := e.value.(type) {
	case *Agent:
		if by := g.agents[v.ID]; by != "" {
			return &lock{why: needed(e, by), may: stricter(v)}
		}
	case *Policy:
		return g.lockPolicy(e, v)
	case *DomainMapping:
		if by := g.domains[v.Domain]; by != "" {
			return &lock{why: needed(e, by), open: true, may: keeps("domain")}
		}
	case *ServiceMapping:
		if by := g.services[v.Service]; by != "" {
			return &lock{why: needed(e, by), open: true, may: keeps("service")}
		}
	}
	return nil
}

// lockPolicy locks a policy that dispatches the agent of a final rule: it must go on doing
// so, with no less effect.
func (g *guards) lockPolicy(e *entry, p *Policy) *lock {
	by := ""
	var agents []string
	for _, id := range p.Dispatch.Agents {
		if why := g.dispatched[id]; why != "" {
			by, agents = why, append(agents, id)
		}
	}
	if by == "" || !p.Enabled {
		return nil
	}
	may := stricter(p)
	may["dispatch.agents"] = change{func(_, above any) bool { return holdsAll(above.([]string), agents) }, "keep " + strings.Join(agents, ", ")}
	may["trigger"] = change{func(_, above any) bool { return above.(policies.Trigger).Type == policies.TriggerAlways }, `leave it out, or write {"type": "always"}`}
	may["enabled"] = change{func(_, above any) bool { return above == true }, "leave it on"}
	may["dispatch.models"] = change{func(_, _ any) bool { return false }, "leave it out"}
	may["mode"] = mayBecome(ModeEnforce)
	delete(may, "priority") // can be changed freely
	return &lock{why: needed(e, by), open: true, may: may}
}

// guards are what the final entries of a stack depend on, each with the entry that needs it.
type guards struct {
	agents            map[string]string
	dispatched        map[string]string // agents that a policy must go on dispatching
	domains, services map[string]string // what the triggers of their policies read
}

func (s *stack) guards() *guards {
	g := &guards{
		agents: map[string]string{}, dispatched: map[string]string{},
		domains: map[string]string{}, services: map[string]string{},
	}
	for _, file := range listFiles() {
		for _, e := range s.lists[file].entries {
			if e.final != "" {
				g.add(e)
			}
		}
	}
	for _, p := range all[*Policy](s.lists[FileComposition]) {
		for _, id := range p.Dispatch.Agents {
			if by := g.dispatched[id]; by != "" && p.Enabled {
				g.addTrigger(p.Trigger, by)
			}
		}
	}
	return g
}

func (g *guards) add(e *entry) {
	by := fmt.Sprintf("%s, which is %s", titled(e), finalIn(e.final))
	for _, id := range neededAgents(e.value) {
		g.agents[id] = by
	}
	switch v := e.value.(type) {
	case *Rule:
		if v.Enabled {
			g.dispatched[v.Agent] = by
		}
	case *Policy:
		if v.Enabled {
			g.addTrigger(v.Trigger, by)
		}
	}
}

// neededAgents returns the agents without which an enabled entry has no effect.
func neededAgents(value any) []string {
	switch v := value.(type) {
	case *Rule:
		if v.Enabled {
			return []string{v.Agent}
		}
	case *Policy:
		if v.Enabled {
			return v.Dispatch.Agents
		}
	case *Signal:
		if v.Enabled {
			return []string{v.Agent}
		}
	}
	return nil
}

func (g *guards) addTrigger(t policies.Trigger, by string) {
	for _, d := range t.Domains {
		g.domains[d] = by
	}
	for _, s := range t.Services {
		g.services[s] = by
	}
	for _, sub := range t.Triggers {
		g.addTrigger(sub, by)
	}
}

func finalIn(layer string) string { return "final in the " + layer + "'s layer" }

func titled(e *entry) string { return fmt.Sprintf("the %s %s", nounOf(e.value), shown(e.id)) }

func needed(e *entry, by string) string { return fmt.Sprintf("%s is needed by %s", titled(e), by) }

func nounOf(value any) string {
	switch value.(type) {
	case *Rule:
		return "rule"
	case *Policy:
		return "policy"
	case *Agent:
		return "agent"
	case *ServiceMapping:
		return "service mapping"
	case *RiskFactor:
		return "risk factor"
	case *Signal:
		return "signal"
	}
	return "domain mapping"
}

// These are the changes that later layers may make to fields of final entries.
var (
	mayRise = change{func(below, above any) bool { return above.(int) > below.(int) }, "leave it out, or raise it"}
	mayGrow = change{func(below, above any) bool { return holdsAll(above.([]string), below.([]string)) }, "leave it out, or add to the list"}
)

func mayBecome(want any) change {
	return change{func(_, above any) bool { return above == want }, "leave it out"}
}

// stricter lists the changes that later layers may make to a final entry.
func stricter(value any) map[string]change {
	switch value.(type) {
	case *Rule:
		return map[string]change{
			"severity": {func(below, above any) bool {
				return above.(pipeline.Severity).Rank() > below.(pipeline.Severity).Rank()
			}, "leave it out, or raise it"},
			"profile": mayBecome(ProfileDefault), "style": mayBecome(false),
			"linters": {func(below, above any) bool {
				return fewerChecks(below.(map[string][]string), above.(map[string][]string))
			}, "leave it out, or take checks away"},
			"severity_in": {func(below, above any) bool {
				return risesIn(below.(map[string]pipeline.Severity), above.(map[string]pipeline.Severity))
			}, "leave it out, or keep each domain and raise its severity"},
		}
	case *Policy:
		return map[string]change{
			"priority": mayRise, "dispatch.agents": mayGrow, "dispatch.required": mayBecome(true),
			"dispatch.on_failure": mayBecome(pipeline.OnFailureBlock), "dispatch.scope": mayBecome(ScopeAll),
		}
	case *Agent:
		may := map[string]change{"session": mayBecome(true)}
		for i := range kinds {
			maps.Copy(may, kinds[i].section.stricter)
		}
		return may
	case *DomainMapping:
		return map[string]change{"globs": mayGrow, "weight": mayRise}
	case *ServiceMapping:
		return map[string]change{"globs": mayGrow}
	case *RiskFactor:
		return map[string]change{"points": mayRise}
	}
	return nil
}

// keeps returns the changes that a mapping still allows if the trigger of a final policy
// reads its name: it must go on mapping all that it maps.
func keeps(name string) map[string]change {
	never := change{func(_, _ any) bool { return false }, "leave it out"}
	may := stricter(&ServiceMapping{})
	may["enabled"], may[name] = never, never
	return may
}

// risesIn reports whether each domain keeps its severity or gets a higher one.
func risesIn(below, above map[string]pipeline.Severity) bool {
	for domain, s := range below {
		if above[domain].Rank() < s.Rank() {
			return false
		}
	}
	return true
}

// fewerChecks reports whether checks of linters are only taken away.
func fewerChecks(below, above map[string][]string) bool {
	for linter, checks := range above {
		if had, mapped := below[linter]; !mapped || !holdsAll(had, checks) {
			return false
		}
	}
	return true
}

func holdsAll(list, wanted []string) bool {
	return !slices.ContainsFunc(wanted, func(w string) bool { return !slices.Contains(list, w) })
}

// finals checks that a layer keeps to what lower layers made final.
type finals struct {
	*problems
	below  *stack
	guards *guards
}

// checkEntry refuses changes of the layer's entry n, merged into e, that the lock of the
// entry below does not allow. It reports whether all changes are allowed.
func (f *finals) checkEntry(n *jsontree.Node, below, e *entry) bool {
	l := f.guards.lock(below)
	if l == nil {
		return true
	}
	free := true
	for _, d := range differences(below.value, e.value) {
		may, named := l.may[d.field]
		if named && may.ok(d.below, d.above) || !named && l.open {
			continue
		}
		if d.field == "final" && f.layer == LayerRepository {
			continue // checkTrust refuses it everywhere
		}
		remedy := may.remedy
		if remedy == "" {
			remedy = "leave it out"
		}
		free = false
		f.of(n.At(strings.Split(d.field, ".")...), fmt.Sprintf("%s can't be set to this: %s", d.field, l.why), remedy)
	}
	return free
}

// difference is a field in which two entries or settings differ. Those of a rule's match,
// a policy's dispatch and the sections of agents and settings are fields of their own, such
// as match.pattern.
type difference struct {
	field        string
	below, above any
}

// differences compares two entries of one type, or settings, by pointers to them. What is
// left out equals its default.
func differences(below, above any) []difference {
	return differing("", reflect.ValueOf(below).Elem(), reflect.ValueOf(above).Elem())
}

func differing(prefix string, below, above reflect.Value) []difference {
	var list []difference
	for i := range below.NumField() {
		b, a := below.Field(i), above.Field(i)
		if below.Type().Field(i).Anonymous { // JSON has its fields beside the others
			list = append(list, differing(prefix, b, a)...)
			continue
		}
		name, _, _ := strings.Cut(below.Type().Field(i).Tag.Get("json"), ",")
		field := prefix + name
		switch t := b.Type(); {
		case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct:
			list = append(list, differing(field+".", held(b), held(a))...)
		case t.Kind() == reflect.Struct && t != reflect.TypeFor[policies.Trigger]():
			list = append(list, differing(field+".", b, a)...)
		default:
			x, y := withDefault(field, b), withDefault(field, a)
			if !reflect.DeepEqual(x, y) {
				list = append(list, difference{field, x, y})
			}
		}
	}
	return list
}

// held returns the value that a pointer points to, or the zero value for nil.
func held(v reflect.Value) reflect.Value {
	if v.IsNil() {
		return reflect.Zero(v.Type().Elem())
	}
	return v.Elem()
}

// withDefault returns a field's value, or its default if the field is left out.
func withDefault(field string, v reflect.Value) any {
	if v.IsZero() { // an empty list was not left out
		for i := range kinds {
			if value, ok := kinds[i].section.defaults[field]; ok {
				return value
			}
		}
	}
	if v.Kind() == reflect.Slice && v.Len() == 0 {
		return reflect.Zero(v.Type()).Interface()
	}
	if !v.IsZero() {
		if v.Kind() == reflect.Pointer {
			return v.Elem().Interface()
		}
		return v.Interface()
	}
	switch field {
	case "match.on":
		return OnAdded
	case "match.tests", "match.comments":
		return true
	case "dispatch.on_failure":
		return pipeline.OnFailureBlock
	case "dispatch.scope":
		return ScopeAll
	case "scale":
		return ScaleSeverity
	case "mode":
		return ModeEnforce
	case "profile":
		return ProfileDefault
	}
	return v.Interface()
}
