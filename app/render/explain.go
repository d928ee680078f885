package render

import (
	"slices"

	"github.com/reviewgate/reviewgate/app/explain"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Explain renders for a terminal how a config treats paths. It counts the rules that
// look at each file. With names it lists these rules and the rules that look at the
// change as a whole by id.
func Explain(x *explain.Explanation, names bool, opts TextOptions) string {
	p := plainPen{}
	review := &pipeline.Review{Classification: x.Classification, Manifest: x.Manifest}
	t := newTerminal(sections{review, p, linker{}, newFindings(View{Review: *review}, p, linker{}), nil}, opts)
	t.explained(x)
	t.heading(say("heading files", nil))
	for i := range x.Files {
		t.explainedFile(&x.Files[i], t.withRules(x), names)
	}
	if names {
		t.list("heading whole rules", listOf(t.rulesOf(x.Rules, names)))
	}
	t.list("heading unchecked rules", listOf(t.rulesOf(x.Unchecked, names)))
	t.list("heading strict rules", listOf(t.rulesOf(x.Strict, names)))
	t.list("heading would run", each(x.Manifest.Entries, func(e *pipeline.ManifestEntry) safe {
		return say("would run", struct {
			agentRun
			Asks []safe
		}{
			agentRun{Agent: p.text(e.Agent, maxName), Required: e.Required, Files: len(e.Scope.Files), Why: t.coverageWords().why(e)},
			modelsAsked(e.Models, p),
		})
	}))
	t.list("heading would not run", each(x.Manifest.Skipped, func(a *pipeline.SkippedAgent) safe {
		return say("would not run", struct{ Agent, Reason safe }{p.text(a.Agent, maxName), p.text(shortGlobs(a.Reason), maxReason)})
	}))
	t.list("heading evaluation", listOf(t.rulesOf(x.Evaluation, true)))
	t.list("heading risk", each(x.Classification.Risk.Reasons, t.coverageWords().riskReason))
	return t.b.String()
}

// modelsAsked names the models that an agent asks, and how often if more than once.
func modelsAsked(models []string, p pen) []safe {
	const maxAsked = 8
	times := map[string]int{}
	for _, m := range models {
		times[m]++
	}
	return first(slices.Compact(slices.Sorted(slices.Values(models))), maxAsked, func(m string) safe {
		return say("asks", struct {
			Model safe
			Times int
		}{p.text(m, maxName), times[m]})
	})
}

func (t *terminal) explained(x *explain.Explanation) {
	var head struct {
		Files int
		Risk  *risk
	}
	head.Files = len(x.Files)
	if r := x.Classification.Risk; r.Level.Rank() > 0 {
		head.Risk = &risk{word(r.Level), r.Score}
	}
	t.put("", say("explained", head), styleBold)
	t.put("", say("explained by paths", nil), styleDim)
}

func (t *terminal) explainedFile(f *explain.File, withRules map[string]bool, names bool) {
	const more = "      "
	t.bullet("  ", say("explained file", struct {
		Path, Language                           safe
		Test, Documentation, Generated, Vendored bool
	}{t.p.code(f.Path, maxPath), t.p.text(f.Language, maxName), f.Test, f.Documentation, f.Generated, f.Vendored}))
	var in struct{ Domains, Services []safe }
	for _, d := range f.Domains {
		const maxGlobs = 3
		globs := first(d.Mappings, maxGlobs, func(g string) safe { return t.p.code(shortGlobs(g), maxPath) })
		in.Domains = append(in.Domains, say("explained domain", struct {
			Domain safe
			Globs  []safe
		}{t.p.text(d.ID, maxName), globs}))
	}
	for _, s := range f.Services {
		in.Services = append(in.Services, t.p.text(s, maxName))
	}
	t.put(more, say("explained domains", in), styleNone)
	var by struct{ Agents, Paths, Without []safe }
	var looking, paths []explain.RulesOfAgent
	for _, a := range f.Rules {
		switch {
		case len(a.Rules) == 0 && withRules[a.Agent]:
			by.Without = append(by.Without, t.p.text(a.Agent, maxName))
		case a.OnlyPath:
			paths = append(paths, a)
		default:
			looking = append(looking, a)
		}
	}
	by.Agents, by.Paths = t.rulesOf(looking, names), t.rulesOf(paths, names)
	t.put(more, say("explained rules", by), styleNone)
	const maxIgnored = 10
	for _, e := range f.Ignored {
		name := func(id string) safe { return t.p.text(id, maxName) }
		t.put(more, say("explained ignored", struct {
			Agents, Rules []safe
			Reason        safe
		}{first(e.Agents, maxIgnored, name), first(e.Rules, maxIgnored, name), t.p.text(e.Reason, maxReason)}), styleNone)
	}
}

// withRules are the agents that have rules for other files or for the change as a whole.
func (t *terminal) withRules(x *explain.Explanation) map[string]bool {
	out := map[string]bool{}
	all := slices.Concat(x.Rules, x.Unchecked, x.Strict)
	for i := range x.Files {
		all = append(all, x.Files[i].Rules...)
	}
	for _, a := range all {
		out[a.Agent] = out[a.Agent] || len(a.Rules) > 0
	}
	return out
}

// rulesOf names agents with their rules. Agents with the most rules come first.
func (t *terminal) rulesOf(rules []explain.RulesOfAgent, names bool) []safe {
	list := slices.Clone(rules)
	slices.SortStableFunc(list, func(a, b explain.RulesOfAgent) int { return len(b.Rules) - len(a.Rules) })
	var out []safe
	for _, a := range list {
		of := struct {
			Agent safe
			Rules []safe
			Count int
		}{Agent: t.p.text(a.Agent, maxName), Count: len(a.Rules)}
		if names {
			for _, id := range a.Rules {
				of.Rules = append(of.Rules, t.p.code(id, maxName))
			}
		}
		out = append(out, say("rules of agent", of))
	}
	return out
}
