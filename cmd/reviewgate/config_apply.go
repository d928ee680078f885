package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/localgit"
	"github.com/reviewgate/reviewgate/app/policytest"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/config/patch"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

type applyFlags struct {
	base, head, report, file string
	below                    layerFlags // the layers below the repository's
	staged                   bool
}

func configApplyCommand() *cobra.Command {
	var f applyFlags
	c := &cobra.Command{
		Use:   "apply GAP|FILE [DIR]",
		Short: "Write the patch of a gap into the repository's config",
		Long: `Write the patch that closes a gap into .github/reviewgate of a repository: DIR, or the
one around the current directory. DIR is the root of a git work tree.

GAP is the id of a gap, as reviews show it, or the first characters of the id; separate
several with commas. To find the gap, the command reviews the change as "reviewgate
review" does, without models, or reads a report that "reviewgate review --format json"
wrote. FILE holds a patch as a comment, check or issue shows it; - is standard input.

The patch goes into the file that is there, whether it is JSON, JSONC or YAML. Only the
new entry is inserted, so comments, order and formatting stay. A missing file is
created, in the format of the files beside it. Several patches can be applied in any
order, and the same patch twice changes nothing. If the config would not be valid,
nothing is written.`,
		Example: "  reviewgate config apply finance-9e48af65\n" +
			"  reviewgate config apply finance-9e48af65,auth-1c20 --base main\n" +
			"  reviewgate config apply gap-3188902d3858 --report review.json\n" +
			"  reviewgate config apply patch.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 && len(args) < 3 && !slices.Contains(args, "") {
				return nil
			}
			return errors.New("name one gap, as reviewgate review --verbose shows it, or one file with a patch, and after it at most a repository's directory")
		},
		RunE: f.run,
	}
	c.Flags().StringVar(&f.base, "base", "", "`revision` to compare with (default: where the change branched off the default branch)")
	c.Flags().StringVar(&f.head, "head", "", "`revision` to review (default: the work tree, uncommitted changes included)")
	c.Flags().BoolVar(&f.staged, "staged", false, stagedUsage)
	c.Flags().StringVar(&f.report, "report", "", "`file` with a review in the format json that has the gap")
	c.Flags().StringVar(&f.file, "file", "", "config `file` that a patch is for, such as review-rules.json, if its entry does not say so")
	c.Flags().StringVar(&f.below.server, "server", "", "`directory` of the server's config")
	c.Flags().StringVar(&f.below.organisation, "organisation", "", organisationUsage)
	return c
}

func (f *applyFlags) run(cmd *cobra.Command, args []string) error {
	if err := notEmpty(cmd, "base", "head", "report", "file", "server", "organisation"); err != nil {
		return err
	}
	if f.staged && f.head != "" {
		return unusable(errStagedHead)
	}
	dir := "."
	if len(args) == 2 {
		dir = args[1]
	} else if here, err := currentRepository(); err != nil {
		return err
	} else {
		dir = nearer(cmp.Or(here, dir))
	}
	root, err := ownRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	below, err := f.below.layers()
	if err != nil {
		return unusable(err)
	}
	own, place, err := ownLayer(dir)
	if err != nil {
		return unusable(err)
	}
	before, problems := config.Load(append(slices.Clone(below), own)...)
	if len(problems) > 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "the config is not valid, so nothing was written; correct it first:")
		return invalid(cmd, problems)
	}
	patches, err := f.patches(cmd, args[0], dir, below, before)
	if err != nil {
		return err
	}
	after := own
	var steps []patch.Step
	for _, p := range patches {
		files, made, err := patch.Apply(filepath.ToSlash(place), after.Files, p)
		if err != nil {
			return unusable(shownError(fmt.Errorf("nothing was written: %w", err)))
		}
		after.Files, steps = files, append(steps, made...)
	}
	cfg, problems := config.Load(append(slices.Clone(below), after)...)
	if len(problems) == 0 {
		if problems, err = testProblems(cmd, place, cfg); err != nil {
			return err
		}
	}
	if len(problems) > 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "with the patch the config would not be valid, so nothing was written; the places are those of the patched files:")
		return invalid(cmd, problems)
	}
	if err := writeChanged(root, own.Files, after.Files); err != nil {
		return err
	}
	return put(cmd, applied(steps)+newWarnings(before, cfg))
}

// shownError puts an error that quotes a patch on one line without invisible characters.
func shownError(err error) error { return errors.New(plaintext.Printable(err.Error())) }

// ownRoot opens the root of a git work tree, into whose config a command writes.
func ownRoot(dir string) (*os.Root, error) {
	if !isDir(dir) {
		return nil, unusable(fmt.Errorf("%s is not a directory: name a repository", dir))
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		return nil, unusable(fmt.Errorf("%s is not the root of a git work tree: name the directory of a clone, or run git init there", dir))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unfinished(err)
	}
	if err := ownPlace(root, config.RepositoryDir); err != nil {
		root.Close()
		return nil, unusable(err)
	}
	return root, nil
}

// ownLayer reads the config of the repository with this root. dir is where the config is or would be.
func ownLayer(root string) (own config.Layer, dir string, err error) {
	dir = filepath.Join(root, filepath.FromSlash(config.RepositoryDir))
	if !isDir(dir) {
		return config.Layer{Name: config.LayerRepository}, dir, nil
	}
	own, err = readLayer(config.LayerRepository, dir)
	return own, dir, err
}

// testProblems are the mistakes in the policy tests of a config directory.
func testProblems(cmd *cobra.Command, dir string, cfg *config.Config) ([]pipeline.ConfigProblem, error) {
	files, err := policytest.ReadDir(nearer(dir))
	if err != nil {
		return nil, unusable(err)
	}
	_, wrong, err := policytest.Read(cmd.Context(), files, cfg)
	if err != nil {
		return nil, unfinished(err)
	}
	return wrong.Listed(), nil
}

// writeChanged writes the files that were not there before, or not with this text.
func writeChanged(root *os.Root, before, after []config.File) error {
	var changed []string
	for _, f := range after {
		same := func(old config.File) bool { return old.Path == f.Path && string(old.Text) == string(f.Text) }
		if slices.ContainsFunc(before, same) {
			continue
		}
		name := path.Join(config.RepositoryDir, path.Base(f.Path))
		if err := ownPlace(root, name); err != nil {
			return unusable(err)
		}
		if err := writeOwn(root, name, f.Text); err != nil {
			return unfinished(fmt.Errorf("write the config (written before: %s): %w", cmp.Or(strings.Join(changed, ", "), "nothing"), err))
		}
		changed = append(changed, f.Path)
	}
	return nil
}

// ownPlace returns an error if an element of the path to a file or directory of the repository's config
// is a link, or is a file where a directory must be. The path may not exist.
func ownPlace(root *os.Root, last string) error {
	for _, name := range slices.Compact([]string{path.Dir(config.RepositoryDir), config.RepositoryDir, last}) {
		info, err := root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			return fmt.Errorf("%s is a symbolic link, and config is written only into the repository itself: replace the link by the file or directory", name)
		case !info.IsDir() && config.FileOf(name) == "":
			return fmt.Errorf("%s is a file, not a directory", name)
		}
	}
	return nil
}

func writeOwn(root *os.Root, name string, text []byte) error {
	if err := root.MkdirAll(config.RepositoryDir, 0o755); err != nil {
		return err
	}
	return root.WriteFile(name, text, 0o644)
}

// applied says what was written where.
func applied(steps []patch.Step) string {
	var b strings.Builder
	wrote := false
	for i, s := range steps {
		name := plaintext.Printable(s.Name)
		switch {
		case s.Present:
			fmt.Fprintf(&b, "%s already has %s\n", s.File, name)
			continue
		case s.New && !slices.ContainsFunc(steps[:i], func(e patch.Step) bool { return e.File == s.File }):
			fmt.Fprintf(&b, "wrote %s, a new file, with %s\n", s.File, name)
		default:
			fmt.Fprintf(&b, "wrote %s into %s\n", name, s.File)
		}
		wrote = true
	}
	if !wrote {
		return b.String() + "Nothing was written.\n"
	}
	return b.String() + "The config is valid. What was written counts once it is on the default branch.\n"
}

// newWarnings are the warnings about a config that there were not before. A patch can move lines, so a
// warning about another line of the same part is not new.
func newWarnings(before, after *config.Config) (lines string) {
	old := before.Warnings()
	for _, w := range after.Warnings() {
		if !slices.ContainsFunc(old, func(o pipeline.ConfigProblem) bool {
			return o.Problem == w.Problem && o.File == w.File && o.Pointer == w.Pointer
		}) {
			lines += "warning: " + config.FormatProblem(w) + "\n"
		}
	}
	return lines
}

// patches returns the patches that the argument names.
func (f *applyFlags) patches(cmd *cobra.Command, arg, dir string, below []config.Layer, cfg *config.Config) ([]pipeline.ConfigPatch, error) {
	if info, err := os.Stat(arg); arg == "-" || err == nil && !info.IsDir() || strings.ContainsAny(arg, `./\`) {
		in, err := readInput(cmd, arg, config.MaxFileBytes)
		if err != nil {
			return nil, unusable(err)
		}
		list, err := readPatches(in, f.file, cfg)
		if err != nil {
			return nil, unusable(shownError(err))
		}
		return list, nil
	}
	log, err := f.log(cmd, dir, below)
	if err != nil {
		return nil, err
	}
	var list []pipeline.ConfigPatch
	for id := range strings.SplitSeq(arg, ",") {
		found, err := gapOf(log, strings.TrimSpace(id))
		if err != nil {
			return nil, unusable(err)
		}
		list = append(list, found)
	}
	return list, nil
}

// maxReport bounds a report in bytes. The largest review has some 20 MB.
const maxReport = 64 << 20

// log returns the gaps of the report, or of the change.
func (f *applyFlags) log(cmd *cobra.Command, dir string, below []config.Layer) ([]pipeline.GapLogEntry, error) {
	if f.report != "" {
		in, err := readInput(cmd, f.report, maxReport)
		if err != nil {
			return nil, unusable(err)
		}
		var report struct {
			GapLog []pipeline.GapLogEntry `json:"gap_log"`
		}
		if err := json.Unmarshal(in.text, &report); err != nil {
			return nil, unusable(fmt.Errorf("%s is not a report: %w; write one with reviewgate review --format json", in.name, err))
		}
		return report.GapLog, nil
	}
	src, err := localgit.Open(cmd.Context(), localgit.Options{Dir: dir, Base: f.base, Head: f.head, Staged: f.staged, Untracked: true, Layers: below})
	if err != nil {
		return nil, unusable(partialOr(err))
	}
	runner, err := run.NewRunner(run.Config{Version: app.Version(), Now: time.Now, Engines: engines})
	if err != nil {
		return nil, unfinished(err)
	}
	outcome, err := runner.Run(cmd.Context(), src, run.Options{Trigger: "reviewgate config apply", File: src.Lookup})
	if err != nil {
		return nil, stopped(err)
	}
	return outcome.Review.Report.GapLog, nil
}

// gapOf returns the patch of the gap whose id begins with some characters.
func gapOf(log []pipeline.GapLogEntry, id string) (found pipeline.ConfigPatch, err error) {
	var ids, matches []string
	for i := range log {
		have := log[i].ID()
		if have == "" || slices.Contains(ids, have) {
			continue
		}
		ids = append(ids, have)
		if id != "" && strings.HasPrefix(have, id) {
			matches, found = append(matches, have), log[i].Suggestion
		}
		if have == id {
			return found, nil
		}
	}
	switch {
	case len(matches) == 1:
		return found, nil
	case len(matches) > 1:
		return found, fmt.Errorf("%d gaps have ids that begin with %s: give more characters of %s", len(matches), id, shownIDs(matches))
	case len(ids) > 0:
		return found, fmt.Errorf("no gap has the id %q: the gaps are %s; reviewgate review --verbose and the check on GitHub show them", plaintext.Printable(id), shownIDs(ids))
	}
	return found, fmt.Errorf("no gap has the id %q, because the review of this change has no gaps; the check on GitHub and reviewgate review --verbose show the ids: name the change that has it with --base and --head, its report with --report, or a file with the patch", plaintext.Printable(id))
}

// shownIDs lists some ids.
func shownIDs(ids []string) string {
	const most = 10
	more := ""
	if len(ids) > most {
		ids, more = ids[:most], fmt.Sprintf(" and %d more", len(ids)-most)
	}
	return plaintext.Printable(strings.Join(ids, ", ")) + more
}
