package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/memory"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

type memoryFlags struct {
	repo, state, format, config string
	database, settings          string
	anyway, organisation        bool
}

func memoryCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "memory",
		Short: "Show and change what people taught about findings that are wrong",
		Long: `Show and change the records of memory: what people taught about models' findings that
are wrong in a repository. A record comes from a dismissal as a false positive, or from
an import. Only an active one has an effect, and none on what blocks.

The commands that only read work beside a running server, or on a copy made by backup.
With SQLite, a running server makes the change for the others; run them as the same user
on the same machine.

Exit codes: 0 done; 1 the record was not approved, because it would have hidden findings
that were right; 2 the input can't be used; 3 the command could not finish.`,
		Example: "  reviewgate memory list --repo acme/shop\n" +
			"  reviewgate memory approve M-12\n" +
			"  reviewgate memory export memory/ --repo acme/shop",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	add := func(use, short string, args int, run func(*memoryFlags, *cobra.Command, []string) error, more func(*memoryFlags, *cobra.Command)) {
		f := &memoryFlags{}
		sub := &cobra.Command{Use: use, Short: short, Example: "  reviewgate memory " + strings.NewReplacer("ID", "M-12", "DIR", "memory/ --repo acme/shop").Replace(use)}
		sub.Args = func(cmd *cobra.Command, given []string) error {
			if len(given) != args {
				return fmt.Errorf("reviewgate memory %s: %d arguments were given; see reviewgate memory %s --help", use, len(given), strings.Fields(use)[0])
			}
			return nil
		}
		sub.RunE = func(cmd *cobra.Command, given []string) error { return run(f, cmd, given) }
		addDatabaseFlags(sub, &f.database, &f.settings)
		if more != nil {
			more(f, sub)
		}
		c.AddCommand(sub)
	}
	repo := func(f *memoryFlags, c *cobra.Command) {
		c.Flags().StringVar(&f.repo, "repo", "", "the repository, `OWNER/NAME`")
	}
	add("list", "List the records", 0, (*memoryFlags).list, func(f *memoryFlags, c *cobra.Command) {
		repo(f, c)
		c.Flags().StringVar(&f.state, "state", "", "only those in this `state`: proposed, active, quarantined, expired or revoked")
		c.Flags().StringVar(&f.format, "format", "text", "text or json")
	})
	add("show ID", "Show a record with its votes and its history", 1, (*memoryFlags).show, nil)
	add("approve ID", "Make a record active", 1, (*memoryFlags).approve, func(f *memoryFlags, c *cobra.Command) {
		c.Flags().BoolVar(&f.anyway, "anyway", false, "approve it even if it would have hidden findings that were right")
		c.Flags().BoolVar(&f.organisation, "everywhere", false, "make it hold in all repositories of the organisation")
	})
	add("revoke ID", "Revoke a record", 1, (*memoryFlags).revoke, nil)
	add("export DIR", "Write what is remembered of a repository as Markdown", 1, (*memoryFlags).export, func(f *memoryFlags, c *cobra.Command) {
		repo(f, c)
		c.Flags().StringVar(&f.config, "config", "", "`directory` with the repository's config, for the rules of its services")
	})
	add("import DIR", "Propose the records in Markdown files, and store their patterns", 1, (*memoryFlags).imported, repo)
	return c
}

// read calls f with what the database remembers.
func (f *memoryFlags) read(cmd *cobra.Command, do func(context.Context, ports.MemoryReader) error) error {
	url, err := databaseOf(cmd, f.database, f.settings)
	if err != nil {
		return unusable(err)
	}
	opened := false
	err = app.ReadMemory(cmd.Context(), url, func(r ports.MemoryReader) error {
		opened = true
		return do(cmd.Context(), r)
	})
	if err != nil && !opened && cmd.Context().Err() == nil {
		return unusable(err)
	}
	return memoryError(cmd, err)
}

// change makes a change, in the server if one runs.
func (f *memoryFlags) change(cmd *cobra.Command, ask memory.Ask) (memory.Answer, error) {
	url, err := databaseOf(cmd, f.database, f.settings)
	if err != nil {
		return memory.Answer{}, unusable(err)
	}
	answer, err := app.ChangeMemory(cmd.Context(), url, ask, zerolog.New(cmd.ErrOrStderr()).Level(zerolog.WarnLevel))
	return answer, memoryError(cmd, err)
}

func memoryError(cmd *cobra.Command, err error) error {
	var exit *exitError
	switch {
	case err == nil, errors.As(err, &exit):
		return err
	case cmd.Context().Err() != nil:
		return unfinished(cmd.Context().Err())
	}
	var refused *memory.RefusedError
	if errors.As(err, &refused) {
		return unusable(err)
	}
	return unfinished(err)
}

func idOf(name string) (int64, error) {
	id := ports.MemoryID(name)
	if id == 0 {
		return 0, unusable(fmt.Errorf("%q is not the name of a record: write it as M-12", name))
	}
	return id, nil
}

func (f *memoryFlags) list(cmd *cobra.Command, _ []string) error {
	states := []string{"proposed", "active", "quarantined", "expired", "revoked"}
	if err := oneOf(f.format, "text", "json"); err != nil {
		return err
	}
	var which ports.MemoryFilter
	if f.state != "" {
		if !slices.Contains(states, f.state) {
			return unusable(fmt.Errorf("--state %q: use %s", f.state, strings.Join(states, ", ")))
		}
		which.States = []ports.MemoryState{ports.MemoryState(f.state)}
	}
	return f.read(cmd, func(ctx context.Context, from ports.MemoryReader) error {
		if f.repo != "" {
			t, err := memory.Repository(ctx, from, f.repo)
			if err != nil {
				return err
			}
			which.Holding = t
		}
		all, err := from.MemoryRecords(ctx, which)
		if err != nil {
			return err
		}
		if f.format == "json" {
			out := []listedRecord{}
			for i := range all {
				out = append(out, listed(&all[i]))
			}
			return putJSON(cmd, out)
		}
		if len(all) == 0 {
			return put(cmd, "no records\n")
		}
		var b strings.Builder
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for i := range all {
			r := listed(&all[i])
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.ID, r.State, r.Scope(), r.What(), plaintext.Count(r.Hits, "hit"))
		}
		if err := w.Flush(); err != nil {
			return err
		}
		return put(cmd, b.String())
	})
}

// listedRecord is a record as the command prints it.
type listedRecord struct {
	ID           string    `json:"id"`
	Kind         string    `json:"kind"`
	State        string    `json:"state"`
	Repository   string    `json:"repository"`
	Organisation bool      `json:"organisation"`
	Models       bool      `json:"models"` // else it is about a rule, and has no effect
	Service      string    `json:"service,omitempty"`
	Globs        []string  `json:"globs,omitempty"`
	Rule         string    `json:"rule,omitempty"`
	Agent        string    `json:"agent,omitempty"`
	Category     string    `json:"category,omitempty"`
	Title        string    `json:"title"`
	Reason       string    `json:"reason"`
	Author       string    `json:"author,omitempty"`
	Own          bool      `json:"own"` // the author may have judged a change of their own
	Approver     string    `json:"approver,omitempty"`
	PullRequest  int       `json:"pull_request,omitempty"`
	Path         string    `json:"path,omitempty"`
	Line         int       `json:"line,omitempty"`
	Created      time.Time `json:"created"`
	Used         time.Time `json:"used"`
	Hits         int       `json:"hits"`
}

func listed(r *ports.MemoryRecord) listedRecord {
	a, c := &r.About, &r.Cited
	return listedRecord{
		ID: r.Name(), Kind: "false_positive", State: string(r.State), Repository: r.Repository.Owner + "/" + r.Repository.Name, Organisation: r.Organisation, Models: r.Models,
		Service: a.Service, Globs: a.Globs, Rule: a.Rule, Agent: a.Agent, Category: a.Category, Title: a.Title, Reason: a.Reason,
		Author: r.Author.Login, Own: r.Own, Approver: r.Approver.Login, PullRequest: c.Number, Path: c.Path, Line: c.Line,
		Created: r.Created, Used: r.Used, Hits: r.Hits,
	}
}

// Scope says where the record holds.
func (r *listedRecord) Scope() string {
	scope := r.Repository
	if r.Organisation {
		scope, _, _ = strings.Cut(r.Repository, "/")
		scope += "/*"
	}
	return plaintext.Printable(strings.TrimSpace(strings.Join(append([]string{scope, r.Service}, r.Globs...), " ")))
}

// What says what the record is about.
func (r *listedRecord) What() string {
	return plaintext.Printable(cmp.Or(r.Rule, r.Title))
}

func (f *memoryFlags) show(cmd *cobra.Command, args []string) error {
	id, err := idOf(args[0])
	if err != nil {
		return err
	}
	return f.read(cmd, func(ctx context.Context, from ports.MemoryReader) error {
		r, err := from.MemoryRecord(ctx, id)
		if errors.Is(err, ports.ErrNotFound) {
			return unusable(fmt.Errorf("the database has no record %s", ports.MemoryName(id)))
		}
		if err != nil {
			return err
		}
		log, err := from.MemoryLog(ctx, r, 100)
		if err != nil {
			return err
		}
		x := listed(&r)
		var b strings.Builder
		say := func(name, value string) {
			if value != "" {
				fmt.Fprintf(&b, "%-10s %s\n", name, plaintext.Printable(value))
			}
		}
		say("id", x.ID)
		say("state", x.State)
		say("scope", x.Scope())
		say("rule", x.Rule)
		say("agent", x.Agent)
		say("category", x.Category)
		say("title", x.Title)
		say("reason", x.Reason)
		say("author", x.Author)
		say("approver", x.Approver)
		if x.PullRequest > 0 {
			say("taught on", fmt.Sprintf("#%d %s:%d", x.PullRequest, x.Path, x.Line))
		}
		say("created", x.Created.UTC().Format(time.DateTime))
		say("used", x.Used.UTC().Format(time.DateTime))
		say("hits", strconv.Itoa(x.Hits))
		for _, v := range r.Votes {
			say("vote", fmt.Sprintf("%s on %s, %s", v.Person.Login, v.Key, v.At.UTC().Format(time.DateTime)))
		}
		for _, e := range log {
			say("log", fmt.Sprintf("%s %s by %s: %s", e.At.UTC().Format(time.DateTime), e.Action, cmp.Or(e.Actor, "nobody"), e.Reason))
		}
		return put(cmd, b.String())
	})
}

func (f *memoryFlags) approve(cmd *cobra.Command, args []string) error {
	id, err := idOf(args[0])
	if err != nil {
		return err
	}
	answer, err := f.change(cmd, memory.Ask{Op: memory.OpApprove, ID: id, Anyway: f.anyway, Organisation: f.organisation})
	if err != nil {
		return err
	}
	name := ports.MemoryName(id)
	switch answer.Outcome {
	case memory.Known:
		return put(cmd, name+" is active already\n")
	case memory.Full:
		return unusable(fmt.Errorf("%s is not active: its repository has %d records of memory; revoke some first", name, ports.MaxMemoryRecords))
	case memory.OfRule:
		return unusable(fmt.Errorf("%s is about a rule, and memory is only about models: change the rule in the config", name))
	case memory.Hides:
		var b strings.Builder
		fmt.Fprintf(&b, "%s is not approved. It would have hidden findings that people fixed or accepted; if it is right all the same, use --anyway.\n", name)
		for _, h := range answer.Hidden {
			fmt.Fprintln(&b, plaintext.Printable(fmt.Sprintf("  %s  %s  %s  %s", h.Pull, h.Finding, h.Outcome, h.Title)))
		}
		if answer.More > 0 {
			fmt.Fprintf(&b, "  and %d more\n", answer.More)
		}
		if err := put(cmd, b.String()); err != nil {
			return err
		}
		return &exitError{code: exitBlocked}
	}
	text := name + " is active\n"
	if answer.Inconclusive {
		text += fmt.Sprintf("Only %d of %d earlier reviews could be computed to try it.\n", answer.Reviews, answer.Of)
	}
	return put(cmd, text)
}

func (f *memoryFlags) revoke(cmd *cobra.Command, args []string) error {
	id, err := idOf(args[0])
	if err != nil {
		return err
	}
	if _, err := f.change(cmd, memory.Ask{Op: memory.OpRevoke, ID: id}); err != nil {
		return err
	}
	return put(cmd, ports.MemoryName(id)+" is revoked\n")
}

// repository returns the repository that --repo names.
func (f *memoryFlags) repository(ctx context.Context, from ports.MemoryReader) (ports.Target, error) {
	if f.repo == "" {
		return ports.Target{}, unusable(errors.New("--repo is missing: name the repository, such as --repo acme/shop"))
	}
	return memory.Repository(ctx, from, f.repo)
}

func (f *memoryFlags) export(cmd *cobra.Command, args []string) error {
	x := memory.Exported{Now: time.Now(), Rules: map[string][]string{}}
	if f.config != "" {
		l, err := readLayer(config.LayerRepository, f.config)
		if err != nil {
			return err
		}
		cfg, problems := config.Load(l)
		if len(problems) > 0 {
			return unusable(errors.New(config.FormatProblem(problems[0])))
		}
		for _, s := range cfg.Services {
			if s.Enabled {
				x.Rules[s.Service] = append(x.Rules[s.Service], s.Rules...)
			}
		}
	}
	return f.read(cmd, func(ctx context.Context, from ports.MemoryReader) error {
		t, err := f.repository(ctx, from)
		if err != nil {
			return err
		}
		x.Repository = t.Owner + "/" + t.Name
		if x.Records, err = from.MemoryRecords(ctx, ports.MemoryFilter{RepoID: t.RepoID}); err != nil {
			return err
		}
		if x.Patterns, err = from.MemoryPatterns(ctx, t.RepoID, ports.PatternFilter{}); err != nil {
			return err
		}
		files := memory.Markdown(x)
		if err := writeExport(args[0], files); err != nil {
			return unfinished(err)
		}
		return put(cmd, plaintext.Count(len(files), "file")+" written\n")
	})
}

// writeExport writes the files of an export. It replaces those that are there, and touches no others.
func writeExport(dir string, files map[string]string) error {
	for name := range files {
		if _, ok := memory.ServiceOf(name); !ok {
			return fmt.Errorf("%s: no service can have this name", plaintext.Printable(name))
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, memory.ServicesDir), 0o750); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for name, text := range files {
		if err := root.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (f *memoryFlags) imported(cmd *cobra.Command, args []string) error {
	ask := memory.Ask{Op: memory.OpImport}
	if err := readExport(args[0], &ask.Contents); err != nil {
		return unusable(fmt.Errorf("read the export: %w", err))
	}
	err := f.read(cmd, func(ctx context.Context, from ports.MemoryReader) (err error) {
		ask.Repository, err = f.repository(ctx, from)
		return err
	})
	if err != nil {
		return err
	}
	answer, err := f.change(cmd, ask)
	if err != nil {
		return err
	}
	return put(cmd, fmt.Sprintf("%s proposed, %d known already; %s\n", plaintext.Count(answer.Proposed, "record"), answer.Known, plaintext.Count(answer.Patterns, "pattern")))
}

// readExport reads the files of an export.
func readExport(dir string, into *memory.Contents) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	names := []string{memory.IndexFile}
	services, err := fs.ReadDir(root.FS(), memory.ServicesDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range services {
		if !e.IsDir() {
			names = append(names, memory.ServicesDir+"/"+e.Name())
		}
	}
	if len(names) > memory.MaxFiles {
		return fmt.Errorf("%s: there are more than %d files", dir, memory.MaxFiles)
	}
	found := false
	for _, name := range names {
		text, err := readBounded(root, name)
		if errors.Is(err, fs.ErrNotExist) && name == memory.IndexFile {
			continue
		}
		if err != nil {
			return err
		}
		found = true
		if err := into.Parse(name, text); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("%s: there is neither %s nor %s", dir, memory.IndexFile, memory.ServicesDir)
	}
	return nil
}

// readBounded reads a regular file, and at most a byte more than it may have. Reading anything else, such
// as a pipe, might never end.
func readBounded(root *os.Root, name string) (string, error) {
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err != nil {
		return "", err
	}
	file, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, memory.MaxFile+1))
	return string(text), err
}
