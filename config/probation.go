package config

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// A rule or agent that people judge wrong too often is on probation: it is proposed for evaluation.
// With ProbationAuto, reviewgate puts some rules in evaluation by itself. It does that with a layer of
// its own, LayerProbation, below all layers that people write. So a person ends it by setting the
// rule's mode in any of those.

// What happens to a rule that people judge wrong too often.
const (
	ProbationPropose = "propose"
	ProbationAuto    = "auto"
)

// ProbationLayer returns the layer that puts rules in evaluation. Of the rules with these ids, it has
// those that may be put there without a person's answer. c is the config without that layer. The layer
// has no files if the setting is not ProbationAuto, if the bar is 0 (never), or if no rule is left.
//
// A rule may be put there if the defaults have it and it is enforced, gives warnings or infos, and no
// layer sets its mode. It and the agents that check it must not be final, and its findings not secrets.
func (c *Config) ProbationLayer(rules []string) Layer {
	l := Layer{Name: LayerProbation, Source: probationSource}
	if c.Settings.Probation != ProbationAuto || c.Settings.ProbationBar <= 0 {
		return l
	}
	type change struct {
		ID   string `json:"id"`
		Mode string `json:"mode"`
	}
	var changes []change
	for _, id := range slices.Compact(slices.Sorted(slices.Values(rules))) {
		if r := c.Rule(id); r != nil && c.mayEvaluate(r) {
			changes = append(changes, change{id, ModeEvaluate})
		}
	}
	if len(changes) == 0 {
		return l
	}
	text, _ := json.MarshalIndent(changes, "", "  ") // strings: this can't fail
	l.Files = []File{{Path: FileRules, Text: append(text, '\n')}}
	return l.normal()
}

// probationSource says where LayerProbation comes from.
const probationSource = "judgements"

func (c *Config) mayEvaluate(r *Rule) bool {
	if c.LayerOf(FileRules, r.ID) != LayerDefaults || c.Settled(FileRules, r.ID) || len(c.FinalIn(r.ID, r.Agent)) > 0 || c.ofSecrets(r) {
		return false
	}
	if r.Highest().Rank() > pipeline.SeverityWarning.Rank() {
		return false
	}
	return !slices.ContainsFunc(c.Agents, func(a Agent) bool { return c.finalAgents[a.ID] != "" && a.checks(r.Agent) })
}

func (c *Config) ofSecrets(r *Rule) bool {
	a := c.agent(r.Agent)
	return strings.HasPrefix(r.ID, pipeline.SecretRulePrefix) || a != nil && a.Kind == KindSecrets
}

// Rule returns the rule with an id, or nil.
func (c *Config) Rule(id string) *Rule {
	i := slices.IndexFunc(c.Rules, func(r Rule) bool { return r.ID == id })
	if i < 0 {
		return nil
	}
	return &c.Rules[i]
}

// agent returns an agent, also one that is off, or nil.
func (c *Config) agent(id string) *Agent {
	i := slices.IndexFunc(c.Agents, func(a Agent) bool { return a.ID == id })
	if i < 0 {
		return nil
	}
	return &c.Agents[i]
}

// Judgeable reports whether judgements on the findings that an agent made by a rule are about the
// rule. They are not if a model was only asked about a rule that code checks: the code may be right
// where the model is wrong. Without a rule it reports whether the agent can be proposed for
// evaluation. Agents that find secrets, remote reviewers and final agents can't.
func (c *Config) Judgeable(rule, agent string) bool {
	a := c.agent(agent)
	if rule == "" {
		return a != nil && a.Kind != KindSecrets && a.Kind != KindWebhook && len(c.FinalLayers(agent)) == 0
	}
	r := c.Rule(rule)
	if r == nil {
		r = c.Evaluation.ruleOf(rule)
	}
	if r == nil || c.ofSecrets(r) || len(c.FinalIn(rule, r.Agent)) > 0 {
		return false
	}
	return r.Agent == agent || r.Match == nil && r.When == ""
}

// ruleOf is Rule for a config that may be nil.
func (c *Config) ruleOf(id string) *Rule {
	if c == nil {
		return nil
	}
	return c.Rule(id)
}

// Settled reports whether nothing is left to say about the mode of a rule of FileRules or an agent of
// FileAgents: a layer sets it, or the entry is off or gone.
func (c *Config) Settled(file, id string) bool {
	if by := c.modes[file][id]; by != "" && by != LayerProbation {
		return true
	}
	if file == FileAgents {
		a := c.agent(id)
		return a == nil || !a.Enabled
	}
	return c.Rule(id) == nil && c.modes[file][id] != LayerProbation
}

// OnProbation lists the rules that reviewgate put in evaluation by itself, and that no person has
// answered about.
func (c *Config) OnProbation() (ids []string) {
	if c.Evaluation == nil {
		return nil
	}
	for i := range c.Evaluation.Rules {
		if r := &c.Evaluation.Rules[i]; evaluated(r) && c.modes[FileRules][r.ID] == LayerProbation {
			ids = append(ids, r.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// modesOf returns who set the mode of each rule and agent, by file and id: the layer. Entries without
// a mode are left out.
func (s *stack) modesOf() map[string]map[string]string {
	out := map[string]map[string]string{FileRules: {}, FileAgents: {}}
	for file, modes := range out {
		for _, e := range s.lists[file].entries {
			if by := layerOf(e.node.Get("mode")); by != "" {
				modes[e.id] = by
			}
		}
	}
	return out
}

// EvaluatePatch returns the patch that puts an entry of FileRules or FileAgents in evaluation. files
// are those of the layer to patch; they must be valid.
func EvaluatePatch(files []File, file, id string) pipeline.ConfigPatch {
	entry := map[string]any{"id": id, "mode": ModeEvaluate}
	form := FormNone
	for _, f := range files {
		if FileOf(f.Path) != FileOf(file) {
			continue
		}
		file, form = path.Base(f.Path), formOf(f)
		root, _ := Parse(&jsontree.Document{Name: f.Path}, f)
		at := slices.IndexFunc(itemsOf(root), func(n *jsontree.Node) bool {
			have := n.Get("id")
			return have != nil && have.Text == id
		})
		if at >= 0 {
			return pipeline.ConfigPatch{File: file, Operations: pipeline.List[pipeline.PatchOperation]{
				{Op: "add", Path: listPointer(form) + "/" + strconv.Itoa(at) + "/mode", Value: ModeEvaluate},
			}}
		}
	}
	return AppendPatch(file, form, entry)
}
