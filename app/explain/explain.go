// Package explain says what a config makes of paths before there is a change:
// their domains and services, the agents that would look at them and why, why
// the others would not, and which rules look at each.
//
// It asks the stages that a review asks, with one modified line in each file.
// What hangs on more than paths (labels, the author, the title, what the lines
// say) is as in a change that has nothing of it.
package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/classify"
	"github.com/reviewgate/reviewgate/pipeline/compose"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/rules"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// Explanation is what a config makes of a list of paths.
type Explanation struct {
	ConfigVersion  string                  `json:"config_version"`
	Files          []File                  `json:"files"` // sorted by path
	Classification pipeline.Classification `json:"classification"`
	Manifest       pipeline.AgentManifest  `json:"manifest"`
	// Rules are those that look at the change as a whole, of agents that would
	// run.
	Rules pipeline.List[RulesOfAgent] `json:"rules"`
	// Unchecked are the rules of the agents that would run which nothing checks: they are prose, and
	// no language model is asked about them.
	Unchecked pipeline.List[RulesOfAgent] `json:"unchecked"`
	// Strict are the rules of the agents that would run that only the profile strict runs.
	Strict pipeline.List[RulesOfAgent] `json:"strict"`
	// Evaluation are the agents that would look at more in evaluation. Each has its rules in
	// evaluation that would look at the files or the change.
	Evaluation pipeline.List[RulesOfAgent] `json:"evaluation"`
}

// File is what a config makes of one path.
type File struct {
	Path          string                      `json:"path"`
	Language      string                      `json:"language"`
	Generated     bool                        `json:"generated"`
	Vendored      bool                        `json:"vendored"`
	Test          bool                        `json:"test"`
	Documentation bool                        `json:"documentation"`
	Domains       pipeline.List[Domain]       `json:"domains"`
	Services      pipeline.List[string]       `json:"services"`
	Rules         pipeline.List[RulesOfAgent] `json:"rules"` // of agents that would look at the file
	Ignored       pipeline.List[Ignored]      `json:"ignored"`
}

// Ignored is what an entry of ignore leaves out of a file: of some agents and rules, or
// of all where it names none.
type Ignored struct {
	Agents pipeline.List[string] `json:"agents"`
	Rules  pipeline.List[string] `json:"rules"`
	Reason string                `json:"reason"`
}

// Domain is a domain that a file is in, and the globs that put it there.
type Domain struct {
	ID       string                `json:"id"`
	Mappings pipeline.List[string] `json:"mappings"`
}

// RulesOfAgent are the ids of an agent's rules that look at a file, or at the
// change.
type RulesOfAgent struct {
	Agent string                `json:"agent"`
	Rules pipeline.List[string] `json:"rules"`
	// OnlyPath is set if all these rules look at the file's path. The agent does not read its text then.
	OnlyPath bool `json:"only_path,omitempty"`
}

// Paths explains paths, which are relative to the repository's root. A path
// that is given twice counts once. attributes are the text of the repository's
// .gitattributes, empty for none.
func Paths(ctx context.Context, cfg *config.Config, paths []string, attributes []byte) (*Explanation, error) {
	classifier, err := classify.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("compile the domains: %w", err)
	}
	composer, err := compose.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("compile the policies: %w", err)
	}
	engine, err := rules.Compile(cfg.Rules, config.HeldAgents(cfg)...)
	if err != nil {
		return nil, fmt.Errorf("compile the rules: %w", err)
	}
	paths = slices.Clone(paths)
	slices.Sort(paths)
	facts, _, err := normalize.Normalize(ctx, &change{cfg, slices.Compact(paths), attributes}, normalize.Options{})
	if err != nil {
		return nil, fmt.Errorf("make up a change of these paths: %w", err)
	}
	out := &Explanation{ConfigVersion: cfg.InForce.Version, Classification: classifier.Classify(&facts)}
	out.Manifest = composer.Compose(&facts, &out.Classification)
	for i := range facts.Files {
		f := out.file(&facts.Files[i], engine)
		for _, e := range cfg.Settings.Ignore {
			if globs, err := glob.Compile(e.Paths); err == nil && globs.Any(f.Path) {
				f.Ignored = append(f.Ignored, Ignored{e.Agents, e.Rules, e.Reason})
			}
		}
		out.Files = append(out.Files, f)
	}
	var strict []*config.Rule
	for i := range cfg.Strict {
		strict = append(strict, &cfg.Strict[i])
	}
	out.Rules = out.ofRunning(engine.LooksAtChange())
	out.Unchecked, out.Strict = out.ofRunning(cfg.Unchecked()), out.ofRunning(strict)
	if cfg.Evaluation != nil {
		tried, err := Paths(ctx, cfg.Evaluation, paths, attributes)
		if err != nil {
			return nil, fmt.Errorf("explain what is in evaluation: %w", err)
		}
		out.Evaluation = evaluated(cfg.Evaluation, out, tried)
	}
	return out, nil
}

// evaluated returns the agents that look at more once everything in evaluation is enforced, each with
// its rules in evaluation. out is the explanation of the config in force, and tried that of cfg, in
// which everything is enforced.
func evaluated(cfg *config.Config, out, tried *Explanation) (more pipeline.List[RulesOfAgent]) {
	looking := slices.Clone(tried.Rules)
	for i := range tried.Files {
		looking = append(looking, tried.Files[i].Rules...)
	}
	for i := range tried.Manifest.Entries {
		e := &tried.Manifest.Entries[i]
		of := RulesOfAgent{Agent: e.Agent}
		for _, r := range cfg.Rules {
			if r.Mode == config.ModeEvaluate && slices.ContainsFunc(looking, func(l RulesOfAgent) bool { return l.Agent == e.Agent && slices.Contains(l.Rules, r.ID) }) {
				of.Rules = append(of.Rules, r.ID)
			}
		}
		own := out.Manifest.Entry(e.Agent)
		wider := own == nil || !own.Scope.All && (e.Scope.All || slices.ContainsFunc(e.Scope.Files, func(f string) bool { return !own.Scope.Has(f) }))
		if wider || len(of.Rules) > 0 {
			more = append(more, of)
		}
	}
	return more
}

func (x *Explanation) file(f *pipeline.File, engine *rules.Engine) File {
	out := File{
		Path: f.Path, Language: f.Language,
		Generated: f.GeneratedByPath, Vendored: f.Vendored, Test: f.Test, Documentation: f.Documentation,
	}
	for _, d := range x.Classification.Domains {
		if i, in := slices.BinarySearchFunc(d.Files, f.Path, byPath); in {
			out.Domains = append(out.Domains, Domain{d.ID, d.Files[i].Mappings})
		}
	}
	for _, s := range x.Classification.Services {
		if _, in := slices.BinarySearch(s.Files, f.Path); in {
			out.Services = append(out.Services, s.ID)
		}
	}
	looking := engine.LooksAt(f)
	for i := range x.Manifest.Entries {
		e := &x.Manifest.Entries[i]
		if e.Scope.Has(f.Path) {
			of := rulesOf(e.Agent, looking)
			of.OnlyPath = len(of.Rules) > 0 && !slices.ContainsFunc(looking, func(r *config.Rule) bool { return r.Agent == e.Agent && !r.Match.OnlyPaths() })
			out.Rules = append(out.Rules, of)
		}
	}
	return out
}

// ofRunning returns those of the rules whose agents would run, by agent.
func (x *Explanation) ofRunning(list []*config.Rule) (of pipeline.List[RulesOfAgent]) {
	for i := range x.Manifest.Entries {
		if r := rulesOf(x.Manifest.Entries[i].Agent, list); len(r.Rules) > 0 {
			of = append(of, r)
		}
	}
	return of
}

func rulesOf(agent string, list []*config.Rule) RulesOfAgent {
	of := RulesOfAgent{Agent: agent}
	for _, r := range list {
		if r.Agent == agent {
			of.Rules = append(of.Rules, r.ID)
		}
	}
	return of
}

func byPath(f pipeline.DomainFile, path string) int { return strings.Compare(f.Path, path) }
