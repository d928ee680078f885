package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

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
		Short: "Say which values only look like secrets",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(secretsAllowCommand())
	return c
}

type allowFlags struct {
	repo, base, head, reason, expires string
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

The entry is written into .github/reviewgate/review-settings.json of the work tree.
It counts once it is on the branch that config is read from.`,
		Example: `  reviewgate secrets allow 3f2a9c --reason "public key of the sandbox"` + "\n" +
			`  reviewgate secrets allow 3f2a9c --base main --expires 2027-01-31 --reason "rotated then"`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	c.Flags().StringVar(&f.repo, "repo", ".", "`directory` of the repository")
	c.Flags().StringVar(&f.base, "base", "", "`revision` to compare with (default: where the change left the default branch)")
	c.Flags().StringVar(&f.head, "head", "", "`revision` to review (default: the work tree, uncommitted changes included)")
	c.Flags().StringVar(&f.reason, "reason", "", "why the `value` may stand there; reviews show it")
	c.Flags().StringVar(&f.expires, "expires", "", "the last `day` on which the entry holds, such as 2027-01-31")
	c.Flags().BoolVar(&f.everywhere, "everywhere", false, "allow the value in every file, in titles, descriptions and messages")
	return c
}

func (f *allowFlags) run(cmd *cobra.Command, id string) error {
	if strings.TrimSpace(f.reason) == "" {
		return unusable(errors.New("--reason is missing: say why the value may stand there"))
	}
	found, err := f.find(cmd, id)
	if err != nil {
		return err
	}
	file := filepath.Join(f.repo, filepath.FromSlash(config.RepositoryDir), config.FileSettings)
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unusable(err)
	}
	entry := config.SecretAllowance{Rule: found.rule, Reason: f.reason, Expires: f.expires}
	if found.path != "" && !f.everywhere {
		entry.Paths = []string{literalGlob(found.path)}
	}
	like := gjson.GetBytes(text, "secrets.allow.0.value").String()
	if entry.Value, err = secrets.HashValue(found.value, like); err != nil {
		return unfinished(err)
	}
	text, err = withAllowance(text, entry)
	if err != nil {
		return unusable(fmt.Errorf("%s: %w", file, err))
	}
	if _, problems := config.Load(config.Layer{Name: config.LayerRepository, Files: []config.File{{Path: config.FileSettings, Text: text}}}); len(problems) > 0 {
		return invalid(cmd, problems)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // as git makes it
		return unfinished(err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil { //nolint:gosec // as git makes it
		return unfinished(err)
	}
	return put(cmd, fmt.Sprintf("wrote %s\nIt allows the value of %s in %s. Commit it; it counts once it is on the branch that config is read from.\n",
		file, id, place(entry.Paths, found.path)))
}

func place(globs []string, path string) string {
	if len(globs) == 0 {
		return "every place"
	}
	return path
}

// literalGlob returns a glob that matches only this path.
func literalGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`).Replace(path)
}

// withAllowance adds an entry to the text of review-settings.json and leaves the rest of
// it as it is.
func withAllowance(text []byte, entry config.SecretAllowance) ([]byte, error) {
	if len(strings.TrimSpace(string(text))) == 0 {
		text = []byte("{}\n")
	}
	if !json.Valid(text) {
		return nil, errors.New("the file is not JSON; mend it first")
	}
	raw, err := json.MarshalIndent(entry, "      ", "  ")
	if err != nil {
		return nil, err
	}
	if !gjson.GetBytes(text, "secrets.allow").Exists() {
		return sjson.SetRawBytes(text, "secrets.allow", []byte("[\n      "+string(raw)+"\n    ]"))
	}
	return sjson.SetRawBytes(text, "secrets.allow.-1", raw)
}

// secretFound is a secret and where a finding says that it stands.
type secretFound struct{ rule, path, value string }

// find reviews the range and looks for the finding. The value is read in this
// process only.
func (f *allowFlags) find(cmd *cobra.Command, id string) (secretFound, error) {
	ctx := cmd.Context()
	src, err := localgit.Open(ctx, localgit.Options{Dir: f.repo, Base: f.base, Head: f.head})
	if err != nil {
		return secretFound{}, unusable(err)
	}
	runner, err := run.NewRunner(run.Config{Version: app.Version(), Now: time.Now, Engines: &engines})
	if err != nil {
		return secretFound{}, unfinished(err)
	}
	var value func(int) string
	outcome, err := runner.Run(ctx, src, run.Options{
		Trigger: "reviewgate secrets allow", File: src.Lookup, Secrets: func(of func(int) string) { value = of },
	})
	if err != nil {
		return secretFound{}, unfinished(err)
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
		return secretFound{}, unusable(fmt.Errorf("no finding of this change has the id %s: see reviewgate review", id))
	case len(matches) > 1:
		return secretFound{}, unusable(fmt.Errorf("%d findings have ids that begin with %s: write more of it", len(matches), id))
	}
	return secretOf(&outcome.Review.Facts, &matches[0], value)
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
