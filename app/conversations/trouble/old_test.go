package trouble

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/internal/store/pgtest"
	"github.com/reviewgate/reviewgate/app/internal/store/sqlitetest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// Older commits wrote the databases in testdata/old, each of them one on SQLite and one
// on PostgreSQL. All tell the same story. They have rows in all of our tables, and writes
// to GitHub that are intended, open and completed. At the end of the story the server
// died. GitHub had answered some of its writes with an error, or not at all. Two jobs
// were running. Jobs of each kind that a delivery asks for were waiting.
//
// A .sql.gz file is a dump, by the sqlite3 shell or by pg_dump. In it, texts marked with
// @gzip or @text stand for bytes: see dumped. The .github.jsonl.gz file beside it lists
// what people and the App had done on GitHub. The files stay as they are, since only the
// old commits can write them.
//
// The pull requests are named after their head branches. These need an explanation:
//
//	insecure      its second review is stored and not published, and a command waits
//	pushed        was approved, and then pushed to
//	overtaken     was pushed to during its review, so that its first check is cancelled
//	rejected      is dangerous, and escalated after three heads
//	unclear       a person was asked to review it
//	noticed       a notice is to be said in its comment
//	backport      goes into a branch that has config of its own, which was then pushed
//	scanned       another App's check found something in it
//	muted         the App could not write its check, and gave it up with a result
//	refused       GitHub did not let the App read it, and the check says so
//	stuck         failed three times, and was to be given up after the first of them
//	quarantined   its review ended a process
//	late          was pushed to, and the review job waits
//	again         somebody asked for its check to be run again, and the job waits
//	debt, paid    merged with a finding that became an issue; pays resolves that of paid
//	owed          likewise, and GitHub's answer to the new issue was lost
//	renamed       is in acme/bank, which gets another name before the new server starts
//	old, gone     are in acme/attic: old was deleted, and the App lost the repository
//
// In the others the server died while it wrote. The write took effect for the names in
// -there and for asking, approving and sent. It did not for those in -not and for sending.
// Reading and writing were under way.

// A newer server upgrades an old database, knows everything in it, and continues where the
// old server died. Each head gets one comment and one check, and nothing is written twice.
func TestOldDatabases(t *testing.T) {
	t.Parallel()
	versions := []oldVersion{
		{commit: "3163fb0b", hasPushes: true, hasDeaths: true, hasNames: true, hasCode: true, hasMissing: true},
		{commit: "63490ddf", hasPushes: true, hasDeaths: true, hasNames: true},
		{commit: "cf34914"},
	}
	for kind, on := range map[string]struct {
		load func(t testing.TB, dump string) (url string)
		few  int
	}{
		"sqlite":   {sqlitetest.LoadURL, len(versions)},
		"postgres": {pgtest.LoadURL, 0}, // each takes half a minute
	} {
		for _, version := range sample.Of(t, on.few, versions) {
			t.Run(version.commit+" on "+kind, func(t *testing.T) {
				t.Parallel()
				name := filepath.Join("testdata", "old", version.commit+"."+kind)
				database := on.load(t, statements(kind, unzipped(t, name+".sql.gz")))
				o := outdated(t, database, unzipped(t, name+".github.jsonl.gz"))
				o.knows(version)
				o.start()
				o.Idle()
				o.hasGoneOn()
				o.goesOn(version)
				if err := o.Stop(); err != nil {
					t.Error(err)
				}
				apptest.Replays(t, database, o.Agents)
			})
		}
	}
}

// oldVersion is a commit that wrote a database, with what its tables already stored.
type oldVersion struct {
	commit     string
	hasPushes  bool // who sent each push
	hasDeaths  bool // which reviews ended a process
	hasNames   bool // the names that a repository has had
	hasCode    bool // the code around a finding that a person dismissed
	hasMissing bool // which deliveries were lost
}

// old is a world with a database that an older server wrote.
type old struct {
	*world
	log   apptest.LogBook
	pulls map[string]*ghtest.PullRequest // by head branch
	runs  map[string][]ghtest.CheckRun   // of each head, from before the start
}

// outdated prepares a world whose App has not been started.
func outdated(t *testing.T, database, history string) *old {
	t.Helper()
	w := &world{&apptest.World{T: t, GH: ghtest.Start(t, quiet("issues", "check_suite", "code_scanning_alert")), DB: database}}
	o := &old{world: w, pulls: repeat(t, w.GH, history), runs: map[string][]ghtest.CheckRun{}}
	w.LogTo = &o.log
	for name, pr := range o.pulls {
		o.runs[name] = pr.CheckRuns()
	}
	w.Repo = w.GH.Repo("acme/shop")
	apptest.WithServer(map[string]string{
		config.FileSettings: `{"model_endpoints": [
			{"name": "small", "api": "openai", "model": "s", "base_url": "http://127.0.0.1:1"},
			{"name": "big", "api": "openai", "model": "b", "base_url": "http://127.0.0.1:1"}],
			"models": {"auto_approve": true, "auto_reject": true, "people": ["wes"]}, "config_branches": ["main", "release/*"],
			"repositories": [{"globs": ["acme/trial-*"], "mode": "advisory"}]}`,
		config.FileAgents: `[{"id": "judge", "name": "Judge", "kind": "llm", "description": "Judges.", "llm": {"prompt": "build-reviewer"}}]`,
		config.FileComposition: `[` + apptest.ShippedModelsOff + `{"id": "judged", "description": "Everything is judged.", "priority": 10,
			"trigger": {"type": "always"}, "dispatch": {"agents": ["judge"], "required": true}}]`,
	})(w.World)
	w.Agents = map[string]dispatch.Agent{"judge": byTitle{}}
	return o
}

// start renames a repository and starts the App.
func (o *old) start() {
	o.Helper()
	o.GH.Repo("acme/bank").Settings.Rename("trial-1")
	o.GH.Calls.Reset()
	o.StartApp()
	o.Cleanup(func() {
		if o.Failed() {
			o.Logf("the App's log:\n%s", o.log.String())
		}
		if err := o.Stop(); err != nil {
			o.Errorf("the App did not end cleanly: %v", err)
		}
	})
}

// byTitle judges a change by its title: a dangerous one is critical for every model, and
// an unclear one for the big model alone.
type byTitle struct{}

// Review implements dispatch.Agent.
func (byTitle) Review(_ context.Context, task dispatch.Task) (answer dispatch.Answer, err error) {
	title := task.Facts.Title
	if !strings.Contains(title, "dangerous") && (!strings.Contains(title, "unclear") || task.Model != "big") {
		return answer, nil
	}
	for _, f := range task.Facts.Files {
		if !strings.HasSuffix(f.Path, "_test.go") {
			answer.Output.Findings = append(answer.Output.Findings, pipeline.Finding{
				Title: "Stock is read without a lock", Severity: pipeline.SeverityCritical, Message: "Two orders can sell one piece.",
				Confidence: 0.9, Path: f.Path, StartLine: 6, EndLine: 6,
			})
		}
	}
	return answer, nil
}

// key is the store's key of a pull request.
func (o *old) key(name string) string {
	pr := o.pulls[name]
	return ports.Target{Kind: ports.TargetPull, RepoID: pr.Repo().ID(), Number: pr.Number}.Key()
}

// dumped matches a text that stands for bytes in a dump: @text for those of the text
// itself, and @gzip for those that gzip makes of it. This keeps dumps readable, and small
// once they are compressed.
var dumped = regexp.MustCompile(`@(gzip|text)'((?:[^']|'')*)'`)

// statements returns a dump with bytes written as its kind of database reads them.
func statements(kind, dump string) string {
	prefix := map[string]string{"sqlite": "X'", "postgres": `'\x`}[kind]
	return dumped.ReplaceAllStringFunc(dump, func(found string) string {
		part := dumped.FindStringSubmatch(found)
		text := []byte(strings.ReplaceAll(part[2], "''", "'"))
		if part[1] == "gzip" {
			text = zipped(text)
		}
		return prefix + hex.EncodeToString(text) + "'"
	})
}

// zipped compresses a text as the store does, so that the bytes have the hash in the dump.
func zipped(text []byte) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		panic(err) // there is such a level
	}
	_, _ = z.Write(text) // a buffer never fails
	_ = z.Close()
	return b.Bytes()
}

func unzipped(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
