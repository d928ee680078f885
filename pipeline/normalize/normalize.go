package normalize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// ErrPanic means that the source panicked. A retry won't help, and the panic's value may hold
// anything.
var ErrPanic = errors.New("panic")

// ErrSuperseded means that the head moved while the change was read. What was read belongs to no
// single head, and a review of the newer head must follow.
var ErrSuperseded = errors.New("superseded: the head moved while the change was read")

// maxCommitMessage bounds one commit message, in bytes. GitHub shows no more of any text.
const maxCommitMessage = 64 << 10

// maxLine is how much of one line agents look at, in bytes. GitHub shows no larger diff, but a
// local range may have one.
const maxLine = 1 << 20

// Options are the other inputs of facts.
type Options struct {
	ObservedAt time.Time // when the read began; an earlier CommittedAt of the source takes its place
	Redactor   Redactor  // nil redacts nothing
	// Base, if not nil, is set to what was read of the base.
	Base *ConfigRead
}

// Normalize reads a change and returns its facts and the config to review it with. The four reads
// run side by side. The error is that of the first failed read, or ErrSuperseded.
func Normalize(ctx context.Context, src Source, opts Options) (pipeline.PRFacts, *config.Config, error) {
	var (
		pr      raw.PullRequest
		files   raw.Files
		commits raw.Commits
		base    ConfigRead
	)
	group, ctx := errgroup.WithContext(ctx)
	read(ctx, group, "read the pull request", src.PullRequest, &pr)
	read(ctx, group, "read the changed files", src.Files, &files)
	read(ctx, group, "read the commits", src.Commits, &commits)
	read(ctx, group, "read the config", src.Config, &base)
	if err := group.Wait(); err != nil {
		return pipeline.PRFacts{}, nil, err
	}
	if opts.Base != nil {
		*opts.Base = base
	}
	cfg := base.Config
	if cfg == nil {
		return pipeline.PRFacts{}, nil, errors.New("read the config: the source has none")
	}
	if moved(pr, files, commits) {
		return pipeline.PRFacts{}, nil, ErrSuperseded
	}
	facts := build(pr, files, commits, base.Attributes)
	facts.Config = cfg.InForce
	for _, name := range base.RootFiles {
		facts.RootFiles = append(facts.RootFiles, valid(name))
	}
	slices.Sort(facts.RootFiles)
	facts.ObservedAt = opts.ObservedAt.UTC()
	if at := pr.CommittedAt; !at.IsZero() && at.Before(facts.ObservedAt) {
		facts.ObservedAt = at.UTC()
	}
	if opts.Redactor != nil {
		facts.Redactions = opts.Redactor.Redact(&facts)
		for _, f := range files.Files {
			facts.Redactions = append(facts.Redactions, secretsIn(&f)...)
		}
		fewerRedactions(&facts)
	}
	return facts, cfg, nil
}

// read runs one of the source's methods. It turns a panic into an error: in a goroutine of its own,
// the panic would end the process.
func read[T any](ctx context.Context, group *errgroup.Group, what string, from func(context.Context) (T, error), to *T) {
	group.Go(func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%s: %w: %v", what, ErrPanic, p)
			}
		}()
		v, err := from(ctx)
		if err != nil {
			return err // the source names the operation
		}
		*to = v
		return nil
	})
}

// moved reports whether the reads saw different heads. A complete list of commits holds the head.
func moved(pr raw.PullRequest, files raw.Files, commits raw.Commits) bool {
	if files.HeadSHA != "" && files.HeadSHA != pr.Head.SHA {
		return true
	}
	if len(commits.Commits) == 0 || len(commits.Commits) != pr.Commits {
		return false
	}
	return !slices.ContainsFunc(commits.Commits, func(c pipeline.Commit) bool { return c.SHA == pr.Head.SHA })
}

func build(pr raw.PullRequest, files raw.Files, commits raw.Commits, attributesOfBase []byte) pipeline.PRFacts {
	f := pipeline.PRFacts{
		SchemaVersion: pipeline.FactsSchemaVersion,
		Repository:    pr.Repository,
		Number:        pr.Number,
		Title:         valid(pr.Title),
		Body:          valid(pr.Body),
		Draft:         pr.Draft,
		Author:        pr.Author,
		Base:          pr.Base,
		Head:          pr.Head,
		Milestone:     valid(pr.Milestone),
		Totals:        pr.Totals,
	}
	for _, l := range pr.Labels {
		f.Labels = append(f.Labels, valid(l))
	}
	slices.Sort(f.Labels)
	var unread []pipeline.Incompleteness
	f.Commits, unread = buildCommits(commits.Commits)
	var unreadable []pipeline.Incompleteness
	f.Files, unreadable = buildFiles(files.Files)

	for _, i := range files.Incomplete {
		i.Path, i.Why = valid(i.Path), valid(i.Why)
		f.Incomplete = append(f.Incomplete, i)
	}
	unreadable = slices.DeleteFunc(unreadable, func(u pipeline.Incompleteness) bool { // the source says why
		return slices.ContainsFunc(f.Incomplete, func(i pipeline.Incompleteness) bool { return i.What == u.What && i.Path == u.Path && i.Gating })
	})
	all := len(files.Files) // including files without a path and duplicates, which are dropped
	if !files.Whole {
		all = max(all, pr.Totals.Files)
	}
	alike, dropped := sameNames(files.Files)
	f.Incomplete = append(f.Incomplete, alike...)
	if n := len(f.Files) + dropped; n < all && !mentions(files.Incomplete, "files") {
		f.Incomplete = append(f.Incomplete, pipeline.Incompleteness{
			What: "files", Gating: true,
			Why: fmt.Sprintf("the list of changed files has %d of %d files", n, all),
		})
	}
	f.Incomplete = append(f.Incomplete, unreadable...)
	f.Incomplete = append(f.Incomplete, hidden(f.Files, files.Files)...)
	f.Incomplete = append(f.Incomplete, pointers(f.Files)...)
	f.Incomplete = append(f.Incomplete, submodules(f.Files)...)
	attributes, why := readAttributes(attributesOfBase)
	attributes.apply(&f)
	if why != "" {
		f.Incomplete = append(f.Incomplete, pipeline.Incompleteness{What: "config", Path: AttributesFile, Why: "the base's file does not count: " + why})
	}
	f.Incomplete = append(fewer(f.Incomplete), commits.Incomplete...)
	f.Incomplete = append(f.Incomplete, unread...)
	if n := len(f.Commits); n < pr.Commits && !mentions(commits.Incomplete, "commits") {
		// A source that lists only a limited number says so. If any other list is too short,
		// nobody knows why, or what the missing messages say.
		f.Incomplete = append(f.Incomplete, pipeline.Incompleteness{
			What: "commits", Gating: true,
			Why: fmt.Sprintf("the list of commits has %d of %d commits", n, pr.Commits),
		})
	}
	return f
}

// buildCommits bounds each message, and all messages together. What is cut off may hold a secret,
// so it gates.
func buildCommits(read []pipeline.Commit) (commits pipeline.List[pipeline.Commit], unread []pipeline.Incompleteness) {
	left, cut := maxMessages, 0
	for _, c := range read {
		whole := valid(c.Message)
		c.Message, c.Author = plaintext.Bytes(whole, min(maxCommitMessage, left)), valid(c.Author)
		if len(c.Message) < len(whole) {
			cut++
		}
		left -= len(c.Message)
		commits = append(commits, c)
	}
	if cut > 0 {
		unread = append(unread, pipeline.Incompleteness{
			What: "commits", Gating: true,
			Why: fmt.Sprintf("the messages of %d commits are read in part: at most %d KB of one, and %d MB of all", cut, maxCommitMessage>>10, maxMessages>>20),
		})
	}
	return commits, unread
}

func mentions(list []pipeline.Incompleteness, what string) bool {
	return slices.ContainsFunc(list, func(i pipeline.Incompleteness) bool { return i.What == what && i.Path == "" })
}

// buildFiles turns the source's files into facts, sorted by path. It drops a file without a path
// and a duplicate. The list is then shorter than the source's, which is reported. Two paths that
// are not UTF-8 may become equal here.
func buildFiles(changed []raw.ChangedFile) (pipeline.List[pipeline.File], []pipeline.Incompleteness) {
	files := make(pipeline.List[pipeline.File], 0, len(changed))
	left := newRoom()
	var incomplete []pipeline.Incompleteness
	for _, c := range changed {
		if c.Path == "" {
			continue
		}
		f, why := buildFile(c, left)
		files = append(files, f)
		if why != "" {
			incomplete = append(incomplete, pipeline.Incompleteness{What: "patch", Path: f.Path, Why: why, Gating: true})
		}
	}
	slices.SortStableFunc(files, func(a, b pipeline.File) int { return cmp.Compare(a.Path, b.Path) })
	files = slices.CompactFunc(files, func(a, b pipeline.File) bool { return a.Path == b.Path })
	markBundles(files)
	slices.SortStableFunc(incomplete, func(a, b pipeline.Incompleteness) int { return cmp.Compare(a.Path, b.Path) })
	return files, incomplete
}

// sameNames returns the names that several changed files have once what is not UTF-8 is replaced, and
// how many files are therefore not in the facts.
func sameNames(changed []raw.ChangedFile) (alike []pipeline.Incompleteness, dropped int) {
	count := map[string]int{}
	for _, c := range changed {
		if name := valid(c.Path); strings.ContainsRune(name, utf8.RuneError) {
			count[name]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(count)) {
		if n := count[name]; n > 1 {
			alike = append(alike, pipeline.Incompleteness{
				What: "files", Path: name, Gating: true,
				Why: fmt.Sprintf("the names of %d files are not UTF-8 and look the same, so only one of the files was read", n),
			})
			dropped += n - 1
		}
	}
	return alike, dropped
}

// buildFile returns the file and, if its diff is not fully known, why.
func buildFile(c raw.ChangedFile, left *room) (f pipeline.File, why string) {
	f = pipeline.File{
		Path:         valid(c.Path),
		PreviousPath: valid(c.PreviousPath),
		Status:       status(c.Status),
		Additions:    c.Additions,
		Deletions:    c.Deletions,
		Binary:       c.Binary,
	}
	if !f.Binary {
		f.Hunks, why = readPatch(c, left)
	} else if !c.LookedInto && changesContent(f.Status) && TextByName(f.Path) {
		why = unreadText(f.Path)
	}
	setFlags(&f)
	f.Binary = f.Binary || looksBinary(f)
	return f, why
}

// unreadText says why no line is known of a file that is not binary by its name.
func unreadText(path string) string {
	what := "its name does not say that it is binary, but it"
	if l := language(path); l != "" {
		what = "it is " + l + " by its name, but"
	}
	return what + " holds NUL bytes, is in UTF-16 or has its diff switched off, so no line of it can be read"
}

// secretsIn returns the secrets in the file's bytes, under the file's path in the facts.
func secretsIn(c *raw.ChangedFile) []pipeline.Redaction {
	for i := range c.Secrets {
		c.Secrets[i].Path = valid(c.Path)
	}
	return c.Secrets
}

func readPatch(c raw.ChangedFile, left *room) (pipeline.List[pipeline.Hunk], string) {
	if c.Patch == "" {
		if n := c.Additions + c.Deletions; n > 0 {
			return nil, fmt.Sprintf("the diff is missing: it is too large, or was left out (changed lines: %d)", n)
		}
		return nil, ""
	}
	if why := left.take(c.Patch); why != "" {
		return nil, why
	}
	hunks, err := parsePatch(valid(c.Patch))
	if err != nil {
		return nil, "the diff cannot be read: " + err.Error()
	}
	if added, removed := countLines(hunks); added < c.Additions || removed < c.Deletions {
		return hunks, fmt.Sprintf("the diff is cut short: it shows %d of %d added and %d of %d removed lines", added, c.Additions, removed, c.Deletions)
	}
	if l := overlong(hunks); l > 0 {
		return hunks, fmt.Sprintf("line %d is longer than 1 MiB, of which no agent sees the end", l)
	}
	return hunks, ""
}

// overlong returns the number of the first changed line that is longer than maxLine, or 0.
func overlong(hunks []pipeline.Hunk) int {
	for i := range hunks {
		for j := range hunks[i].Lines {
			if l := &hunks[i].Lines[j]; l.Op != pipeline.LineContext && len(l.Text) > maxLine {
				return max(l.Old, l.New)
			}
		}
	}
	return 0
}

func changesContent(s pipeline.FileStatus) bool {
	return s == pipeline.FileAdded || s == pipeline.FileModified || s == pipeline.FileRenamed || s == pipeline.FileCopied
}

// looksBinary guesses for a source that doesn't know: the content changed, there are no lines to
// show, and the extension is not one of a text language.
func looksBinary(f pipeline.File) bool {
	if len(f.Hunks) > 0 || f.ChangedLines() > 0 || f.Language != "" {
		return false
	}
	switch f.Status {
	case pipeline.FileAdded, pipeline.FileModified, pipeline.FileRemoved:
		base := f.Path[strings.LastIndexByte(f.Path, '/')+1:]
		return strings.LastIndexByte(base, '.') > 0
	}
	return false
}

func status(s pipeline.FileStatus) pipeline.FileStatus {
	switch s {
	case pipeline.FileAdded, pipeline.FileRemoved, pipeline.FileRenamed, pipeline.FileCopied, pipeline.FileChanged, pipeline.FileUnchanged:
		return s
	}
	return pipeline.FileModified
}

// valid replaces invalid UTF-8, as JSON would: a stored review must read back unchanged.
func valid(s string) string { return strings.ToValidUTF8(s, string(utf8.RuneError)) }

// Redactor replaces secrets in facts by placeholders. Normalize calls it once, before anything else
// sees the facts. It may rewrite in place the title, the body, commit messages, and the text of
// diff lines and hunk headings, but nothing else. What it returns becomes the facts' Redactions.
type Redactor interface {
	Redact(facts *pipeline.PRFacts) []pipeline.Redaction
}

// Source is where a change is read from: a code host's API, or a local git range. Its methods run
// side by side, each once. A method's result says what the method could not find out. An error
// means that the whole read failed.
type Source interface {
	PullRequest(ctx context.Context) (raw.PullRequest, error)
	Files(ctx context.Context) (raw.Files, error)
	Commits(ctx context.Context) (raw.Commits, error)
	Config(ctx context.Context) (ConfigRead, error)
}

// ConfigRead is the config in force. From the same branch it also has the names of the files at the
// root, if they are known, and the text of AttributesFile, up to one byte more than MaxAttributes.
type ConfigRead struct {
	Config     *config.Config
	RootFiles  []string
	Attributes []byte
	// Exceptions is the text of the base's .gitleaks.toml; see secrets.ReadExceptions.
	Exceptions []byte
}
