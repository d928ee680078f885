package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/tidwall/gjson"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/localgit"
	"github.com/reviewgate/reviewgate/config"
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
	below                             layerFlags // the repository's
	everywhere                        bool
}

func secretsAllowCommand() *cobra.Command {
	var f allowFlags
	c := &cobra.Command{
		Use:   "allow FINDING",
		Short: "Allow a value that only looks like a secret, in the repository's config",
		Long: `Write an entry of secrets.allow for a finding of the agent secrets. FINDING is its
id, as "reviewgate review" prints it, or the first characters of it.

The entry holds a salted hash of the value, never the value. It covers that value
in that file; another value on the same line is a new finding. The value is still
replaced by a placeholder everywhere, and each review lists that it was allowed.

The entry is written into .github/reviewgate/review-settings.json at the root of the
work tree. It counts once it is on the base branch, so it goes there in a pull request
of its own. Where the server's or the organisation's config makes the agent secrets
final, the entry is refused: name their directories to find out before.`,
		Example: `  reviewgate secrets allow 3f2a9c --reason "public key of the sandbox"` + "\n" +
			`  reviewgate secrets allow 3f2a9c --base main --expires 2027-01-31 --reason "rotated then"`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && strings.TrimSpace(args[0]) != "" {
				return nil
			}
			return errors.New("name one finding by its id: reviewgate review prints the ids")
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	c.Flags().StringVar(&f.repo, "repo", ".", "`directory` of the repository")
	c.Flags().StringVar(&f.base, "base", "", "`revision` to compare with (default: where the change left the default branch)")
	c.Flags().StringVar(&f.head, "head", "", "`revision` to review (default: the work tree, uncommitted changes included)")
	c.Flags().StringVar(&f.reason, "reason", "", "why the `value` may stand there; reviews show it")
	c.Flags().StringVar(&f.expires, "expires", "", "the last `day` on which the entry holds, such as 2027-01-31")
	c.Flags().StringVar(&f.below.server, "server", "", "`directory` of the server's config")
	c.Flags().StringVar(&f.below.organisation, "organisation", "", organisationUsage)
	c.Flags().BoolVar(&f.everywhere, "everywhere", false, "allow the value in every file, in titles, descriptions and messages")
	return c
}

func (f *allowFlags) run(cmd *cobra.Command, id string) error {
	if strings.TrimSpace(f.reason) == "" {
		return unusable(errors.New("--reason is missing: say why the value may stand there"))
	}
	if err := f.checkExpires(); err != nil {
		return unusable(err)
	}
	below, err := f.below.layers()
	if err != nil {
		return unusable(err)
	}
	src, err := localgit.Open(cmd.Context(), localgit.Options{Dir: f.repo, Base: f.base, Head: f.head, Layers: below})
	if err != nil {
		return unusable(err)
	}
	if src.Root() == "" {
		return unusable(errors.New("a bare repository has no work tree to write the entry into: run this in a clone"))
	}
	found, base, err := f.find(cmd, src, id)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(src.Root())
	if err != nil {
		return unfinished(err)
	}
	defer root.Close()
	file := filepath.Join(nearer(src.Root()), filepath.FromSlash(settingsPath))
	text, err := readOwn(root)
	if err != nil {
		return unusable(err)
	}
	load := func(text []byte) (*config.Config, []pipeline.ConfigProblem) {
		own := config.Layer{Name: config.LayerRepository}
		if len(text) > 0 {
			own.Files = []config.File{{Path: filepath.ToSlash(file), Text: text}}
		}
		return config.Load(append(slices.Clone(below), own)...)
	}
	cfg, problems := load(text)
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
		return put(cmd, fmt.Sprintf("The base's config allows the value of %s in %s already; nothing is written, and nothing is left to do.\n", id, place(at)))
	}
	if already {
		return put(cmd, fmt.Sprintf("The config allows the value of %s in %s already; nothing is written. %s\n", id, place(at), onTheBase))
	}
	like := gjson.GetBytes(text, "secrets.allow.0.value").String()
	if entry.Value, err = secrets.HashValue(found.value, like); err != nil {
		return unfinished(err)
	}
	if text, err = withAllowance(text, entry); err != nil {
		return unusable(fmt.Errorf("%s: %w", file, err))
	}
	if _, problems := load(text); len(problems) > 0 {
		return invalid(cmd, problems)
	}
	if err := writeOwn(root, text); err != nil {
		return unfinished(err)
	}
	said := fmt.Sprintf("wrote %s\nIt allows the value of %s in %s. %s\n", file, id, place(at), onTheBase)
	if f.below.server == "" {
		said += "The server's config may forbid it: where that makes the agent secrets final, this file would not count as a whole. --server DIR checks that.\n"
	}
	return put(cmd, said)
}

const onTheBase = "The entry counts once it is on the base branch: put it there in a pull request of its own."

func (f *allowFlags) checkExpires() error {
	if f.expires == "" {
		return nil
	}
	last, err := time.Parse(time.DateOnly, f.expires)
	if err != nil {
		return errors.New("--expires must be a date like 2026-12-31")
	}
	if !time.Now().Before(last.AddDate(0, 0, 1)) {
		return fmt.Errorf("--expires %s is in the past: name today, by UTC, or a later day", f.expires)
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

// secretFound is a secret and where a finding says that it stands.
type secretFound struct{ rule, path, value string }

// find reviews the range and looks for the finding, and returns the base's config. The value is read in this
// process only.
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
		return secretFound{}, nil, unfinished(err)
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
		return secretFound{}, nil, unusable(fmt.Errorf("no finding of this change has the id %s: see reviewgate review", id))
	case len(matches) > 1:
		return secretFound{}, nil, unusable(fmt.Errorf("%d findings have ids that begin with %s: write more of it", len(matches), id))
	}
	found, err := secretOf(&outcome.Review.Facts, &matches[0], value)
	return found, outcome.Config, err
}

// secretOf returns the one value that a finding is about.
func secretOf(facts *pipeline.PRFacts, finding *pipeline.Finding, value func(int) string) (secretFound, error) {
	rule, isSecret := strings.CutPrefix(finding.RuleID, pipeline.SecretRulePrefix)
	if !isSecret {
		return secretFound{}, unusable(fmt.Errorf("the finding %s is not about a secret: dismiss it on the pull request", finding.ID))
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
		return out, unusable(fmt.Errorf("the finding %s has no value that could be allowed: it is about the file's name, or about bytes of which no line is shown", finding.ID))
	case 1:
		return out, nil
	}
	return out, unusable(fmt.Errorf("the line of %s has %d values of this kind: put them on lines of their own", finding.ID, len(values)))
}
