package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/localgit"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/config/patch"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/run"
	"github.com/reviewgate/reviewgate/pipeline/secrets"
)

func secretsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "secrets",
		Short: "Mark values that only look like secrets",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(secretsAllowCommand())
	return c
}

type allowFlags struct {
	repo, base, head, reason, expires string
	below                             layerFlags // the layers below the repository's
	staged, everywhere                bool
}

func secretsAllowCommand() *cobra.Command {
	var f allowFlags
	c := &cobra.Command{
		Use:   "allow FINDING",
		Short: "Allow a value that only looks like a secret, in the repository's config",
		Long: `Write an entry of secrets.allow for a finding of the agent secrets. FINDING is the
finding's id, as "reviewgate review" prints it, or the first characters of the id.

The entry holds a salted hash of the value, never the value itself. It covers this
value in this file; another value on the same line is a new finding. A placeholder
still replaces the value everywhere, and each review lists that it was allowed.

The command writes the entry into the settings in .github/reviewgate at the root of the
work tree, as config apply writes a patch: the file may be JSON, JSONC or YAML, and
everything else in it stays as it is. The entry counts once it is on the base branch, so
merge it in a pull request of its own.

If the server or the organisation makes the agent secrets final, no entry counts. The
command refuses to write one if you name the directories of their config.`,
		Example: `  reviewgate secrets allow 3f2a9c --reason "public key of the sandbox"` + "\n" +
			`  reviewgate secrets allow 3f2a9c --base main --expires 2027-01-31 --reason "rotated by then"`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && strings.TrimSpace(args[0]) != "" {
				return nil
			}
			return errors.New("give the id of one finding: reviewgate review prints the ids")
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	c.Flags().StringVar(&f.repo, "repo", ".", "`directory` of the repository")
	c.Flags().StringVar(&f.base, "base", "", "`revision` to compare with (default: where the change branched off the default branch)")
	c.Flags().StringVar(&f.head, "head", "", "`revision` to review (default: the work tree, uncommitted changes included)")
	c.Flags().BoolVar(&f.staged, "staged", false, stagedUsage)
	c.Flags().StringVar(&f.reason, "reason", "", "`text` that says why the value is allowed; reviews show it")
	c.Flags().StringVar(&f.expires, "expires", "", "the last `day` on which the entry counts, such as 2027-01-31")
	c.Flags().StringVar(&f.below.server, "server", "", "`directory` of the server's config")
	c.Flags().StringVar(&f.below.organisation, "organisation", "", organisationUsage)
	c.Flags().BoolVar(&f.everywhere, "everywhere", false, "allow the value in every file, and in titles, descriptions and commit messages")
	return c
}

func (f *allowFlags) run(cmd *cobra.Command, id string) error {
	if err := notEmpty(cmd, "repo", "base", "head", "expires", "server", "organisation"); err != nil {
		return err
	}
	if strings.TrimSpace(f.reason) == "" {
		return unusable(errors.New("--reason is missing: say why the value is allowed"))
	}
	if err := f.checkExpires(); err != nil {
		return unusable(err)
	}
	if f.staged && f.head != "" {
		return unusable(errStagedHead)
	}
	below, err := f.below.layers()
	if err != nil {
		return unusable(err)
	}
	src, err := localgit.Open(cmd.Context(), localgit.Options{Dir: f.repo, Base: f.base, Head: f.head, Staged: f.staged, Untracked: true, Layers: below})
	if err != nil {
		return unusable(partialOr(err))
	}
	if src.Root() == "" {
		return unusable(errors.New("a bare repository has no work tree to write the entry into: run this in a clone"))
	}
	found, base, err := f.find(cmd, src, id)
	if err != nil {
		return err
	}
	root, err := ownRoot(src.Root())
	if err != nil {
		return err
	}
	defer root.Close()
	own, dir, err := ownLayer(nearer(src.Root()))
	if err != nil {
		return unusable(err)
	}
	cfg, problems := config.Load(append(slices.Clone(below), own)...)
	if len(problems) > 0 {
		return invalid(cmd, problems)
	}
	entry := config.SecretAllowance{Rule: found.rule, Reason: f.reason, Expires: f.expires}
	at := ""
	if !f.everywhere {
		at = found.path
	}
	if at != "" {
		entry.Paths = []string{literalGlob(at)}
	}
	already, err := secrets.Allowed(cfg.Settings.Secrets.Allow, found.rule, at, found.value, time.Now())
	if err != nil {
		return unfinished(err)
	}
	onBase, err := secrets.Allowed(base.Settings.Secrets.Allow, found.rule, at, found.value, time.Now())
	if err != nil {
		return unfinished(err)
	}
	if already && onBase {
		return put(cmd, fmt.Sprintf("The base's config already allows the value of %s in %s. Nothing was written, and there is nothing left to do.\n", id, place(at)))
	}
	if already {
		return put(cmd, fmt.Sprintf("The config already allows the value of %s in %s. Nothing was written. %s\n", id, place(at), onTheBase))
	}
	like := ""
	if allowed := cfg.Settings.Secrets.Allow; len(allowed) > 0 {
		like = allowed[0].Value
	}
	if entry.Value, err = secrets.HashValue(found.value, like); err != nil {
		return unfinished(err)
	}
	added := pipeline.PatchOperation{Op: "add", Path: "/secrets/allow/-", Value: entry}
	after := own
	var steps []patch.Step
	after.Files, steps, err = patch.Apply(filepath.ToSlash(dir), own.Files, pipeline.ConfigPatch{File: config.FileSettings, Operations: pipeline.List[pipeline.PatchOperation]{added}})
	if err != nil {
		return unusable(shownError(fmt.Errorf("nothing was written: %w", err)))
	}
	if _, problems := config.Load(append(slices.Clone(below), after)...); len(problems) > 0 {
		return invalid(cmd, problems)
	}
	if err := writeChanged(root, own.Files, after.Files); err != nil {
		return err
	}
	answer := fmt.Sprintf("wrote %s\nIt allows the value of %s in %s. %s\n", steps[0].File, id, place(at), onTheBase)
	if f.below.server == "" {
		answer += "If the server's config makes the agent secrets final, this whole file would not count. --server DIR checks that.\n"
	}
	return put(cmd, answer)
}

const onTheBase = "The entry counts once it is on the base branch: put it there in a separate pull request."

func (f *allowFlags) checkExpires() error {
	if f.expires == "" {
		return nil
	}
	last, err := time.Parse(time.DateOnly, f.expires)
	if err != nil {
		return errors.New("--expires must be a date like 2026-12-31")
	}
	if !time.Now().Before(last.AddDate(0, 0, 1)) {
		return fmt.Errorf("--expires %s is in the past: name today in UTC or a later day", f.expires)
	}
	return nil
}

func place(path string) string {
	if path == "" {
		return "every place"
	}
	return path
}

// literalGlob returns a glob that matches only this path.
func literalGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`).Replace(path)
}

// secretFound is a secret with the rule and the path of its finding.
type secretFound struct{ rule, path, value string }

// find reviews the range, and returns the secret of the finding and the base's config. The
// value never leaves this process.
func (f *allowFlags) find(cmd *cobra.Command, src *localgit.Source, id string) (secretFound, *config.Config, error) {
	runner, err := run.NewRunner(run.Config{Version: app.Version(), Now: time.Now, Engines: engines})
	if err != nil {
		return secretFound{}, nil, unfinished(err)
	}
	var value func(int) string
	outcome, err := runner.Run(cmd.Context(), src, run.Options{
		Trigger: "reviewgate secrets allow", File: src.Lookup, Secrets: func(of func(int) string) { value = of },
	})
	if err != nil {
		return secretFound{}, nil, stopped(err)
	}
	report := &outcome.Review.Report
	all := append([]pipeline.Finding(nil), report.Findings...)
	for _, s := range report.Suppressed {
		all = append(all, s.Finding)
	}
	var matches []pipeline.Finding
	for _, finding := range all {
		if id != "" && strings.HasPrefix(finding.ID, strings.ToLower(id)) {
			matches = append(matches, finding)
		}
	}
	switch {
	case len(matches) == 0:
		return secretFound{}, nil, unusable(fmt.Errorf("no finding of this change has the id %s: reviewgate review lists the findings", id))
	case len(matches) > 1:
		return secretFound{}, nil, unusable(fmt.Errorf("%d findings have ids that begin with %s: give more characters of the id", len(matches), id))
	}
	found, err := secretOf(&outcome.Review.Facts, &matches[0], value)
	return found, outcome.Config, err
}

// secretOf returns the single value that a finding reports.
func secretOf(facts *pipeline.PRFacts, finding *pipeline.Finding, value func(int) string) (secretFound, error) {
	rule, isSecret := strings.CutPrefix(finding.RuleID, pipeline.SecretRulePrefix)
	if !isSecret {
		return secretFound{}, unusable(fmt.Errorf("finding %s is not about a secret: dismiss it on the pull request", finding.ID))
	}
	values := map[string]bool{}
	out := secretFound{rule: finding.RuleID, path: finding.Path}
	for i, r := range facts.Redactions {
		if r.RuleID == rule && r.Path == finding.Path && r.Line == finding.StartLine && r.Op != pipeline.LineRemoved && value(i) != "" {
			out.value = value(i)
			values[out.value] = true
		}
	}
	switch len(values) {
	case 0:
		return out, unusable(fmt.Errorf("finding %s has no value to allow: it is about the name of a file, or about bytes that no line shows", finding.ID))
	case 1:
		return out, nil
	}
	return out, unusable(fmt.Errorf("the line of finding %s has %d values of this kind: put each on its own line", finding.ID, len(values)))
}
