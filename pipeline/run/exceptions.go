package run

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/secrets"
)

// except allows what the base's .gitleaks.toml allows, and records which parts of it do not count.
func except(change *secrets.Change, facts *pipeline.PRFacts, cfg *config.Config, text []byte) {
	exceptions, problems := readExceptions(cfg, text)
	change.Except(facts, &exceptions)
	for _, p := range problems {
		facts.Incomplete = append(facts.Incomplete, pipeline.Incompleteness{What: "config", Path: normalize.ExceptionsFile, Why: "part of the base's file is not used: " + p})
	}
}

// readExceptions reads a .gitleaks.toml. If a layer of the config made the agent for secrets final,
// the problems say that the file allows nothing. The exceptions are the same then: package
// aggregate, which knows what is final, rejects them.
func readExceptions(cfg *config.Config, text []byte) (secrets.Exceptions, []string) {
	exceptions, problems := secrets.ReadExceptions(text)
	if exceptions.Empty() {
		return exceptions, problems
	}
	for _, a := range cfg.Agents {
		if a.Kind != config.KindSecrets {
			continue
		}
		for _, layer := range cfg.FinalIn("", a.ID) {
			problems = append(problems, fmt.Sprintf("it allows nothing that the agent %q finds, since that is final in the %s's layer", a.ID, layer))
		}
	}
	return exceptions, problems
}

// exceptionFiles lists the files with exceptions that a change touches. Like config they count once
// they are merged.
func exceptionFiles(facts *pipeline.PRFacts) pipeline.List[string] {
	var touched pipeline.List[string]
	for _, name := range []string{normalize.AttributesFile, normalize.ExceptionsFile} {
		if slices.ContainsFunc(facts.Files, func(f pipeline.File) bool { return f.Path == name || f.PreviousPath == name }) {
			touched = append(touched, name)
		}
	}
	return touched
}

// except returns the facts as if the exceptions that the change proposes were in force, and records
// in out what that means for the change. It does not change the facts of the review.
func (p *previewer) except(ctx context.Context, out *pipeline.ProposedConfig) (*pipeline.PRFacts, error) {
	touched := exceptionFiles(p.in.Facts)
	if len(touched) == 0 || p.options.File == nil {
		return p.in.Facts, nil
	}
	facts := *p.in.Facts
	facts.Files = slices.Clone(facts.Files)
	facts.Incomplete = slices.Clone(facts.Incomplete)
	facts.Redactions = slices.Clone(facts.Redactions)
	for _, name := range touched {
		const most = max(normalize.MaxAttributes, normalize.MaxExceptions) + 1
		text, _, err := p.options.File(ctx, facts.Head.SHA, name, most) // a removed file has no text
		if err != nil {
			return nil, fmt.Errorf("read the proposed %s: %w", name, err)
		}
		var problems []string
		if name == normalize.AttributesFile {
			problems = normalize.Reattribute(&facts, text)
		} else {
			problems = p.exceptSecrets(&facts, text)
		}
		for _, problem := range problems {
			out.Problems = append(out.Problems, pipeline.ConfigProblem{
				Layer: "repository", File: name, Problem: problem, Remedy: "the file would not count as a whole; correct it before it is merged",
			})
		}
	}
	out.Covered = covered(p.in.Facts, &facts)
	return &facts, nil
}

func (p *previewer) exceptSecrets(facts *pipeline.PRFacts, text []byte) []string {
	exceptions, problems := readExceptions(p.in.Config, text)
	for i := range facts.Redactions {
		if r := &facts.Redactions[i]; strings.HasPrefix(r.Allowed, pipeline.AllowedByGitleaks) {
			r.Allowed = ""
		}
	}
	p.secrets.Except(facts, &exceptions)
	return problems
}

// allow returns the facts as if the secrets were allowed that the proposed config allows.
func (p *previewer) allow(cfg *config.Config, facts *pipeline.PRFacts) (*pipeline.PRFacts, error) {
	if reflect.DeepEqual(cfg.Settings.Secrets.Allow, p.in.Config.Settings.Secrets.Allow) {
		return facts, nil
	}
	out := *facts
	out.Redactions = slices.Clone(facts.Redactions)
	for i := range out.Redactions {
		r := &out.Redactions[i]
		if r.Expired = ""; !strings.HasPrefix(r.Allowed, pipeline.AllowedByGitleaks) {
			r.Allowed = ""
		}
	}
	if err := p.secrets.Allow(&out, cfg.Settings.Secrets.Allow, out.ObservedAt); err != nil {
		return nil, fmt.Errorf("allow what the proposed config allows: %w", err)
	}
	return &out, nil
}

// covered compares the files of a change before and after exceptions.
func covered(was, is *pipeline.PRFacts) pipeline.List[pipeline.Covered] {
	var list pipeline.List[pipeline.Covered]
	add := func(as string, covers func(*pipeline.PRFacts, int) bool) {
		c := pipeline.Covered{As: as}
		for i := range is.Files {
			switch {
			case !covers(is, i) || covers(was, i):
			case len(c.Files) == pipeline.MaxCovered:
				c.More++
			default:
				c.Files = append(c.Files, is.Files[i].Path)
			}
		}
		if len(c.Files) > 0 {
			list = append(list, c)
		}
	}
	flag := func(of func(*pipeline.File) bool) func(*pipeline.PRFacts, int) bool {
		return func(f *pipeline.PRFacts, i int) bool { return of(&f.Files[i]) }
	}
	add(pipeline.CoveredGenerated, flag(func(f *pipeline.File) bool { return f.Generated }))
	add(pipeline.CoveredVendored, flag(func(f *pipeline.File) bool { return f.Vendored }))
	add(pipeline.CoveredDocumentation, flag(func(f *pipeline.File) bool { return f.Documentation }))
	add(pipeline.CoveredUnread, func(f *pipeline.PRFacts, i int) bool {
		return slices.ContainsFunc(f.Incomplete, func(u pipeline.Incompleteness) bool {
			return u.Path == f.Files[i].Path && u.Unread() && !u.Gating
		}) && !slices.ContainsFunc(f.Incomplete, func(u pipeline.Incompleteness) bool {
			return u.Path == f.Files[i].Path && u.Gating
		})
	})
	return list
}
