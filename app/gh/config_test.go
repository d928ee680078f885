package gh

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

const (
	settingsFile = config.RepositoryDir + "/review-settings.json"
	rulesFile    = config.RepositoryDir + "/review-rules.json"
	agentsFile   = config.RepositoryDir + "/review-agents.json"
	domainsFile  = config.RepositoryDir + "/review-domains.json"
	routeTrees   = "GET " + routeTree
)

// shop is the world's repository, as a target.
func (w *world) shop() ports.Target { return w.targetOf(w.repo) }

func (w *world) targetOf(r *ghtest.Repo) ports.Target {
	owner, name, _ := strings.Cut(r.FullName(), "/")
	return ports.Target{Kind: ports.TargetPull, Installation: w.hub.InstallationID(owner), RepoID: r.ID(), Owner: owner, Name: name, Number: 1}
}

func (w *world) config(t ports.Target, branch string) ports.ConfigRead {
	w.Helper()
	read, err := w.client.ReadConfig(w.Context(), t, branch)
	w.must(err)
	return read
}

// texts returns a layer's files by name. It compares each with the properties that it must
// have.
func (w *world) texts(layer string, s ports.ConfigSource) map[string]string {
	w.Helper()
	texts := map[string]string{}
	for _, f := range s.Files {
		name, ok := strings.CutPrefix(f.Path, config.RepositoryDir+"/")
		if !ok || f.Layer != layer || f.BlobSHA == "" {
			w.Errorf("file %s of the layer %s at %q", f.Path, f.Layer, f.BlobSHA)
		}
		texts[name] = string(f.Text)
	}
	return texts
}

func (w *world) wantTexts(layer string, s ports.ConfigSource, want map[string]string) {
	w.Helper()
	if d := cmp.Diff(want, w.texts(layer, s)); d != "" {
		w.Errorf("%s layer from %s (-want +got):\n%s", layer, s.Source, d)
	}
}

func TestConfigOfARepository(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{settingsFile: `{"mode": "off"}`}}) // the head's own config does not count
	read := w.config(w.shop(), "")
	if len(read.Repository.Files)+len(read.Organisation.Files) != 0 || !slices.Equal(read.RootFiles, []string{"main.go"}) {
		t.Errorf("without config: %+v", read)
	}
	w.repo.Commit("main", ghtest.Files{
		settingsFile:                        `{"mode": "advisory"}`,
		rulesFile:                           strings.Repeat(" ", maxConfigFile+500),
		agentsFile:                          ghtest.Symlink("/etc/passwd"),
		domainsFile:                         ghtest.Submodule(strings.Repeat("d", 40)),
		config.RepositoryDir + "/README.md": "not config",
		config.RepositoryDir + "/review-composition.json/a.json": "a file in a directory",
		"LICENSE":     ghtest.Symlink("main.go"),
		"lib":         ghtest.Submodule(strings.Repeat("e", 40)),
		"src/main.go": "package main\n",
	}, "config")
	read = w.config(w.shop(), "")
	texts := w.texts(config.LayerRepository, read.Repository)
	if n := len(texts["review-rules.json"]); n != maxConfigFile+1 {
		t.Errorf("read %d bytes of a file above the limit", n)
	}
	delete(texts, "review-rules.json")
	want := map[string]string{
		"review-settings.json": `{"mode": "advisory"}`, "review-agents.json": "/etc/passwd",
		"review-domains.json": "", "review-composition.json": "", // the loader reports these files
	}
	if d := cmp.Diff(want, texts); d != "" || read.Repository.Source != "acme/shop" {
		t.Errorf("config from %s (-want +got):\n%s", read.Repository.Source, d)
	}
	if !slices.Equal(read.RootFiles, []string{"LICENSE", "main.go"}) {
		t.Errorf("files at the root: %q", read.RootFiles)
	}
}

// A link or a submodule in the place of the config directory or of its parent is an entry without text,
// so that the loader reports it.
func TestLinkInThePlaceOfTheConfig(t *testing.T) {
	for at, entry := range map[string]string{
		config.RepositoryDir: ghtest.Symlink("../conf"),
		".github":            ghtest.Symlink("conf"),
		".github/":           ghtest.Submodule(strings.Repeat("e", 40)),
	} {
		at = strings.TrimSuffix(at, "/")
		w := newWorld(t, ghtest.Options{})
		w.repo.Commit("main", ghtest.Files{at: entry, "conf/reviewgate/review-settings.json": `{"mode": "off"}`}, "config")
		files := w.config(w.shop(), "").Repository.Files
		if len(files) != 1 || files[0].Path != at || len(files[0].Text) > 0 {
			t.Fatalf("%s: read %+v", at, files)
		}
		_, problems := config.Load(config.Layer{Name: config.LayerRepository, Source: "acme/shop", Files: []config.File{{Path: files[0].Path}}})
		if len(problems) != 1 || problems[0].File != at || !strings.Contains(problems[0].Remedy, "make .github/reviewgate a directory") {
			t.Errorf("%s: %+v", at, problems)
		}
	}
}

// A file above the limit is read far enough for the loader to see its size.
func TestLargestConfigFile(t *testing.T) {
	sample.Variant(t)
	for size, broken := range map[int]bool{maxConfigFile: false, maxConfigFile + 1: true} {
		text := "[]" + strings.Repeat(" ", size-2)
		_, problems := config.Load(config.Layer{Name: config.LayerRepository, Source: "acme/shop", Files: []config.File{{Path: rulesFile, Text: []byte(text)}}})
		if (len(problems) > 0) != broken {
			t.Errorf("%d bytes: %v", size, problems)
		}
	}
	w := newWorld(t, ghtest.Options{})
	w.repo.Commit("main", ghtest.Files{rulesFile: "[]" + strings.Repeat(" ", maxConfigFile-2)}, "config")
	w.config(w.shop(), "")
	w.hub.Calls.Reset()
	w.config(w.shop(), "")
	if n := len(w.hub.Calls.All()); n != 1 {
		t.Errorf("the largest file is read each time: %d calls", n)
	}
}

// A named branch has its own config, even with slashes in its name. No other branch is read
// instead.
func TestConfigOfABranch(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	w.repo.Commit("main", ghtest.Files{settingsFile: `{}`}, "config")
	w.repo.Commit("release/1.x", ghtest.Files{settingsFile: `{"mode": "advisory"}`, "CHANGELOG.md": "# 1.0\n"}, "config")
	read := w.config(w.shop(), "release/1.x")
	w.wantTexts(config.LayerRepository, read.Repository, map[string]string{"review-settings.json": `{"mode": "advisory"}`})
	if read.Repository.Source != "acme/shop@release/1.x" || !slices.Contains(read.RootFiles, "CHANGELOG.md") {
		t.Errorf("from %s with %q", read.Repository.Source, read.RootFiles)
	}
	sha := w.repo.Branch("release/1.x")
	for _, name := range []string{"none", "release", sha, "refs/heads/main", "HEAD"} {
		_, err := w.client.ReadConfig(t.Context(), w.shop(), name)
		wantHostError(t, err, ports.HostNotFound)
	}
	_, err := w.client.ReadConfig(t.Context(), w.shop(), "release/../main")
	wantHostError(t, err, ports.HostInvalid)
}

func TestConfigAfterTheDefaultBranchWasRenamed(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	w.repo.Commit("main", ghtest.Files{settingsFile: `{}`}, "config")
	w.config(w.shop(), "")
	w.repo.Settings.RenameDefaultBranch("trunk")
	w.repo.Commit("main", ghtest.Files{settingsFile: `{"mode": "off"}`}, "on a branch of the old name")
	w.wantTexts(config.LayerRepository, w.config(w.shop(), "").Repository, map[string]string{"review-settings.json": `{}`})
	w.repo.Commit("trunk", ghtest.Files{settingsFile: `{"mode": "advisory"}`}, "config")
	w.wantTexts(config.LayerRepository, w.config(w.shop(), "").Repository, map[string]string{"review-settings.json": `{"mode": "advisory"}`})
}

func TestConfigOfARepositoryThatWasRenamed(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	w.repo.Commit("main", ghtest.Files{settingsFile: `{}`}, "config")
	before := w.shop()
	w.repo.Settings.Rename("store")
	w.wantTexts(config.LayerRepository, w.config(before, "").Repository, map[string]string{"review-settings.json": `{}`})
}

// A repository with a pull request is not empty. An answer that says so does not mean that
// the config is missing.
func TestConfigOfAnEmptyRepository(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	_, err := w.client.ReadConfig(t.Context(), w.targetOf(w.hub.Repo("acme/new")), "")
	wantHostError(t, err, ports.HostInvalid)
}

func TestManyFilesAtTheRoot(t *testing.T) {
	sample.Variant(t)
	w := newWorld(t, ghtest.Options{})
	files := ghtest.Files{settingsFile: `{}`}
	for i := range 1200 {
		files[fmt.Sprintf("page-%04d.md", i)] = "x\n"
		files[fmt.Sprintf("%s/note-%04d.md", config.RepositoryDir, i)] = "x\n"
	}
	w.repo.Commit("main", files, "pages")
	read := w.config(w.shop(), "")
	w.wantTexts(config.LayerRepository, read.Repository, map[string]string{"review-settings.json": `{}`})
	if len(read.RootFiles) != 1201 {
		t.Errorf("%d files at the root", len(read.RootFiles))
	}
	entries := make([]treeEntry, maxRootFiles+1)
	for i := range entries {
		entries[i].Type = "blob"
	}
	if len((&directory{Entries: entries[1:]}).files()) != maxRootFiles || (&directory{Entries: entries}).files() != nil {
		t.Error("a part of the names was accepted as all of them")
	}
}

// The organisation's layer is read wherever the App can read it.
func TestConfigOfAnOrganisation(t *testing.T) {
	strict := map[string]string{"review-settings.json": `{"mode": "enforce"}`}
	for name, tt := range map[string]struct {
		make func(w *world)
		want map[string]string
	}{
		"none":                    {func(*world) {}, nil},
		"public":                  {func(w *world) { w.organisation() }, strict},
		"private":                 {func(w *world) { w.organisation().Settings.SetPrivate(true) }, strict},
		"public, without the App": {func(w *world) { w.organisation().Settings.SetInstalled(false) }, strict},
		"private, without the App": {func(w *world) {
			r := w.organisation()
			r.Settings.SetPrivate(true)
			r.Settings.SetInstalled(false)
		}, nil},
		"empty": {func(w *world) { w.hub.Repo("acme/.github") }, nil},
		"without config": {func(w *world) {
			w.hub.Repo("acme/.github").Commit("main", ghtest.Files{"profile/README.md": "# Acme\n"}, "profile")
		}, nil},
		"renamed":            {func(w *world) { w.organisation().Settings.Rename("attic") }, nil},
		"transferred":        {func(w *world) { w.organisation().Settings.Transfer("mallory") }, nil},
		"on another branch":  {func(w *world) { w.organisation().Settings.RenameDefaultBranch("trunk") }, strict},
		"of another account": {func(w *world) { w.hub.Repo("rival/.github").Commit("main", ghtest.Files{settingsFile: `{}`}, "config") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, ghtest.Options{})
			w.repo.Commit("main", ghtest.Files{rulesFile: `[]`}, "config")
			tt.make(w)
			if tt.want == nil {
				tt.want = map[string]string{}
			}
			read := w.config(w.shop(), "")
			w.wantTexts(config.LayerOrganisation, read.Organisation, tt.want)
			w.wantTexts(config.LayerRepository, read.Repository, map[string]string{"review-rules.json": `[]`})
			if read.Organisation.Source != "acme/.github" || !slices.Equal(read.RootFiles, []string{"main.go"}) {
				t.Errorf("from %s, files at the root %q", read.Organisation.Source, read.RootFiles)
			}
			if calls := w.hub.Calls.Unexpected(); len(calls) != 0 {
				t.Errorf("unexpected calls: %+v", calls)
			}
		})
	}
}

// organisation creates acme's own layer.
func (w *world) organisation() *ghtest.Repo {
	r := w.hub.Repo("acme/.github")
	r.Commit("main", ghtest.Files{settingsFile: `{"mode": "enforce"}`}, "config")
	return r
}

// In .github itself both layers are the same files, which are read once. The exception is a
// layer of another branch.
func TestConfigOfTheOrganisationsOwnRepository(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	org := w.organisation()
	org.Commit("next", ghtest.Files{settingsFile: `{}`}, "config")
	enforce, next := map[string]string{"review-settings.json": `{"mode": "enforce"}`}, map[string]string{"review-settings.json": `{}`}
	w.hub.Calls.Reset()
	read := w.config(w.targetOf(org), "")
	w.wantTexts(config.LayerOrganisation, read.Organisation, enforce)
	w.wantTexts(config.LayerRepository, read.Repository, enforce)
	if n := len(w.hub.Calls.To(routeTrees)); n != 3 {
		t.Errorf("%d trees were read", n)
	}
	read = w.config(w.targetOf(org), "next")
	w.wantTexts(config.LayerOrganisation, read.Organisation, enforce)
	w.wantTexts(config.LayerRepository, read.Repository, next)
}

// clock is a clock that a test sets.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// The organisation's layer is cached for a minute, for all of its repositories. The
// repository's own layer is never cached.
func TestOrganisationIsCachedForAMinute(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	watch := &clock{at: time.Now()}
	w.client.now = watch.now
	other := w.hub.Repo("acme/site")
	other.Commit("main", ghtest.Files{"index.html": "<p>Hello</p>\n"}, "start")
	org := w.organisation()
	old, fresh := map[string]string{"review-settings.json": `{"mode": "enforce"}`}, map[string]string{"review-settings.json": `{"mode": "advisory"}`}
	w.wantTexts(config.LayerOrganisation, w.config(w.shop(), "").Organisation, old)
	org.Commit("main", ghtest.Files{settingsFile: `{"mode": "advisory"}`}, "config")
	w.repo.Commit("main", ghtest.Files{rulesFile: `[]`}, "config")
	w.hub.Calls.Reset()
	watch.pass(organisationAge - time.Second)
	read := w.config(w.shop(), "")
	w.wantTexts(config.LayerOrganisation, read.Organisation, old)
	w.wantTexts(config.LayerRepository, read.Repository, map[string]string{"review-rules.json": `[]`})
	w.wantTexts(config.LayerOrganisation, w.config(w.targetOf(other), "").Organisation, old)
	for _, c := range w.hub.Calls.All() {
		if strings.Contains(c.Path, "/acme/.github/") {
			t.Errorf("%s was requested within the minute", c.Path)
		}
	}
	watch.pass(time.Second)
	w.wantTexts(config.LayerOrganisation, w.config(w.targetOf(other), "").Organisation, fresh)
	w.wantTexts(config.LayerOrganisation, w.config(w.shop(), "").Organisation, fresh)
	org.Commit("main", ghtest.Files{settingsFile: ghtest.Gone, "README.md": "# acme\n"}, "no config")
	watch.pass(organisationAge)
	none := w.config(w.shop(), "").Organisation
	w.wantTexts(config.LayerOrganisation, none, map[string]string{})
	if none.Unreadable {
		t.Error("a repository without config was reported as unreadable")
	}
	org.Settings.Delete()
	watch.pass(organisationAge)
	gone := w.config(w.shop(), "").Organisation
	w.wantTexts(config.LayerOrganisation, gone, map[string]string{})
	if !gone.Unreadable {
		t.Error("a deleted repository was not reported as unreadable")
	}
}

// A failed read of the organisation's layer does not mean that the layer is missing. The
// error ends as soon as GitHub answers again.
func TestOrganisationCannotBeRead(t *testing.T) {
	t.Parallel() // it mostly waits
	for name, trouble := range map[string]func(*ghtest.Exchange){
		"403": func(x *ghtest.Exchange) { x.Fail(403, "Resource not accessible by integration") },
		"409": func(x *ghtest.Exchange) { x.Fail(409, "Repository is being moved.") },
		"422": func(x *ghtest.Exchange) { x.Fail(422, "Validation Failed") },
		"500": func(x *ghtest.Exchange) { x.Fail(500, "Server Error") },
		"429": func(x *ghtest.Exchange) { x.Answer(ghtest.SecondaryLimit(429, time.Second)) },
		"cut": func(x *ghtest.Exchange) { x.Cut(10) },
	} {
		for _, route := range []string{routeTrees, "GET /repos/{owner}/{repo}/git/blobs/{file_sha}"} {
			t.Run(name+" "+route, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, ghtest.Options{})
				w.organisation()
				over := w.hub.On(route, func(x *ghtest.Exchange) {
					if x.Params["repo"] == ".github" {
						trouble(x)
					}
				})
				if read, err := w.client.ReadConfig(t.Context(), w.shop(), ""); err == nil {
					t.Fatalf("accepted %+v", read)
				}
				over()
				if name == "429" {
					w.client = w.newClient(nil) // a new client, which GitHub has not asked to wait
				}
				w.wantTexts(config.LayerOrganisation, w.config(w.shop(), "").Organisation, map[string]string{"review-settings.json": `{"mode": "enforce"}`})
			})
		}
	}
}

// Reviews that start together read the organisation's layer once. When the reading one is
// cancelled, another one reads.
func TestOrganisationIsReadOnceForAll(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	w.organisation()
	begun, let := make(chan struct{}, 1), make(chan struct{})
	remove := w.hub.On(routeTrees, func(x *ghtest.Exchange) {
		if x.Params["repo"] == ".github" && x.Params["tree_sha"] == "HEAD" {
			begun <- struct{}{}
			select {
			case <-let:
			case <-x.Context().Done():
			}
		}
	})
	defer remove()
	ctx, callOff := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := w.client.organisationConfig(ctx, w.shop())
		first <- err
	}()
	<-begun
	var wg sync.WaitGroup
	sources := make([]ports.ConfigSource, 20)
	errs := make([]error, len(sources))
	for i := range sources {
		wg.Go(func() { sources[i], errs[i] = w.client.organisationConfig(t.Context(), w.shop()) })
	}
	callOff()
	if err := <-first; err == nil {
		t.Error("a cancelled read succeeded")
	}
	<-begun // another reader has taken over
	close(let)
	wg.Wait()
	for i, s := range sources {
		if errs[i] != nil || len(s.Files) != 1 {
			t.Fatalf("reader %d got %+v, %v", i, s, errs[i])
		}
	}
	select {
	case <-begun:
		t.Error("the layer was read a third time")
	default:
	}
}

// A reader waits for another reader no longer than for GitHub.
func TestWaitForAnOrganisationCanBeCancelled(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	r, _ := w.client.organisations.begin(fmt.Sprintf("%d/acme", w.hub.InstallationID("acme")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.client.organisationConfig(ctx, w.shop())
	wantHostError(t, err, ports.HostTransient)
	w.client.organisations.end(fmt.Sprintf("%d/acme", w.hub.InstallationID("acme")), r)
}

// When the reading one panics, the others read the layer themselves and do not treat it as
// missing.
func TestReaderOfTheOrganisationPanics(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	w.organisation()
	key := organisationKey(w.shop())
	r, _ := w.client.organisations.begin(key)
	read := make(chan ports.ConfigSource, 1)
	go func() {
		source, err := w.client.organisationConfig(t.Context(), w.shop())
		if err != nil {
			t.Error(err)
		}
		read <- source
	}()
	w.client.organisations.end(key, r) // without a result, just as a panic does
	if source := <-read; len(source.Files) != 1 {
		t.Errorf("accepted %+v", source)
	}
	if !isCalledOff(r.err) {
		t.Errorf("others would accept %+v, %v", r.source, r.err)
	}
}

// Without a token, .github is read only where GitHub says that the token does not cover it. A
// forbidden token does not say that.
func TestTokenForTheOrganisationIsForbidden(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	w.organisation().Settings.SetInstalled(false)
	remove := w.hub.On("POST /app/installations/{installation_id}/access_tokens", func(x *ghtest.Exchange) {
		if strings.Contains(string(x.Body), organisationRepo) {
			x.Fail(403, "Resource not accessible by integration")
		}
	})
	defer remove()
	_, err := w.client.organisationConfig(t.Context(), w.shop())
	wantHostError(t, err, ports.HostForbidden)
}

func TestProposedConfig(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	w.repo.Commit("main", ghtest.Files{settingsFile: `{}`, rulesFile: `[]`}, "config")
	own := w.repo.OpenPR(ghtest.PR{Head: "own", Files: ghtest.Files{settingsFile: `{"mode": "advisory"}`}})
	forked := w.repo.OpenPR(ghtest.PR{Head: "theirs", Fork: "mallory", Author: "mallory", Files: ghtest.Files{settingsFile: ghtest.Gone}})
	without := w.repo.OpenPR(ghtest.PR{Head: "without", Files: ghtest.Files{settingsFile: ghtest.Gone, rulesFile: ghtest.Gone}})
	for _, tt := range []struct {
		pull *ghtest.PullRequest
		want map[string]string
	}{
		{own, map[string]string{"review-settings.json": `{"mode": "advisory"}`, "review-rules.json": `[]`}},
		{forked, map[string]string{"review-rules.json": `[]`}},
		{without, map[string]string{}},
	} {
		source, err := w.client.ProposedConfig(t.Context(), w.target(tt.pull), tt.pull.HeadSHA())
		w.must(err)
		w.wantTexts(config.LayerRepository, source, tt.want)
		if source.Source != "acme/shop@"+tt.pull.HeadSHA() {
			t.Errorf("from %s", source.Source)
		}
	}
	w.hub.Calls.Reset()
	if _, err := w.client.ProposedConfig(t.Context(), w.target(own), own.HeadSHA()); err != nil || len(w.hub.Calls.All()) != 0 {
		t.Errorf("read again with %d calls: %v", len(w.hub.Calls.All()), err)
	}
	_, err := w.client.ProposedConfig(t.Context(), w.shop(), strings.Repeat("0", 40))
	wantHostError(t, err, ports.HostNotFound)
	_, err = w.client.ProposedConfig(t.Context(), w.shop(), "main")
	wantHostError(t, err, ports.HostInvalid)
}

// Of the policy tests, those that the change touches are read at the head and the others at the base.
// Of too many files or too large ones, only as much is read as shows that. The calls count.
func TestProposedTests(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	const dir = config.RepositoryDir + "/" + config.TestsDir + "/"
	w.repo.Commit("main", ghtest.Files{dir + "a.json": `{}`}, "tests")
	own := w.repo.OpenPR(ghtest.PR{Head: "own", Files: ghtest.Files{dir + "b.json": `[]`, dir + "README.md": "x", dir + "more/c.json": "x"}})
	forked := w.repo.OpenPR(ghtest.PR{Head: "theirs", Fork: "mallory", Author: "mallory", Files: ghtest.Files{dir + "a.json": ghtest.Gone}})
	large := w.repo.OpenPR(ghtest.PR{Head: "large", Files: ghtest.Files{dir + "a.json": strings.Repeat(" ", config.MaxTestBytes+7)}})
	behind := w.repo.OpenPR(ghtest.PR{Head: "behind", Files: ghtest.Files{dir + "b.json": `[]`}})
	w.repo.Commit("main", ghtest.Files{dir + "a.json": `{} `}, "the gate is stricter")
	for _, tt := range []struct {
		pull    *ghtest.PullRequest
		touched string
		want    map[string]int // by path
	}{
		{own, "b.json", map[string]int{dir + "a.json": 3, dir + "b.json": 2}},
		{behind, "b.json", map[string]int{dir + "a.json": 3, dir + "b.json": 2}},
		{forked, "a.json", map[string]int{}},
		{large, "a.json", map[string]int{dir + "a.json": config.MaxTestBytes + 1}},
	} {
		src := w.client.Source(w.target(tt.pull))
		files, err := src.ProposedTests(t.Context(), "", tt.pull.HeadSHA(), []string{dir + tt.touched})
		w.must(err)
		if src.Calls() == 0 {
			t.Error("no call is counted")
		}
		got := map[string]int{}
		for _, f := range files {
			got[f.Path] = len(f.Text)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.pull.HeadSHA(), diff)
		}
	}
	many, touched := ghtest.Files{}, []string{}
	for i := range config.MaxTests + 9 {
		name := fmt.Sprintf("%s%03d.json", dir, i)
		many[name], touched = `{}`, append(touched, name)
	}
	pull := w.repo.OpenPR(ghtest.PR{Head: "many", Files: many})
	w.hub.Calls.Reset()
	files, err := w.client.Source(w.target(pull)).ProposedTests(t.Context(), "main", pull.HeadSHA(), touched)
	w.must(err)
	if len(files) != config.MaxTests+1 || len(w.hub.Calls.All()) > 8 {
		t.Errorf("%d files by %d calls", len(files), len(w.hub.Calls.All()))
	}
	_, err = w.client.Source(w.shop()).ProposedTests(t.Context(), "", "main", nil)
	wantHostError(t, err, ports.HostInvalid)
}

// The first read of config costs one call for each file and directory. Later reads cost one
// call, which GitHub does not count when nothing has changed.
func TestCallsForConfig(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	w.organisation()
	w.repo.Commit("main", ghtest.Files{settingsFile: `{}`, rulesFile: `[]`}, "config")
	watch := &clock{at: time.Now()}
	w.client.now = watch.now
	read := func() map[string]int {
		w.hub.Calls.Reset()
		w.config(w.shop(), "")
		n := map[string]int{}
		for _, c := range w.hub.Calls.All() {
			if c.Status == http.StatusNotModified {
				n["free"]++
			}
			n[c.Method]++
		}
		return n
	}
	// Two tokens, three trees for each of two layers, and three files.
	if d := cmp.Diff(map[string]int{"POST": 2, "GET": 9}, read()); d != "" {
		t.Errorf("cold (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]int{"GET": 1, "free": 1}, read()); d != "" {
		t.Errorf("warm (-want +got):\n%s", d)
	}
	watch.pass(organisationAge)
	if d := cmp.Diff(map[string]int{"GET": 2, "free": 2}, read()); d != "" {
		t.Errorf("after a minute (-want +got):\n%s", d)
	}
	w.repo.Commit("main", ghtest.Files{"main.go": "package main\n\nfunc main() {}\n"}, "more")
	if d := cmp.Diff(map[string]int{"GET": 1}, read()); d != "" {
		t.Errorf("after a commit (-want +got):\n%s", d)
	}
	w.repo.Commit("main", ghtest.Files{settingsFile: `{"mode": "advisory"}`}, "config")
	if d := cmp.Diff(map[string]int{"GET": 4}, read()); d != "" {
		t.Errorf("after a change to one file (-want +got):\n%s", d)
	}
	// A file in a second format is a mistake by its name, so its text is not read.
	w.repo.Commit("main", ghtest.Files{config.RepositoryDir + "/review-settings.yaml": "mode: off"}, "config")
	if d := cmp.Diff(map[string]int{"GET": 3}, read()); d != "" {
		t.Errorf("after a second format of a file (-want +got):\n%s", d)
	}
	cold := w.newClient(nil)
	w.hub.Calls.Reset()
	remove := w.hub.On("*", ghtest.Delay(100*time.Millisecond)) // longer than the time between calls, even on a busy machine
	_, err := cold.ReadConfig(t.Context(), w.shop(), "")
	remove()
	w.must(err)
	if n := ghtest.Depth(w.hub.Calls.All()); n > 5 { // a token, three trees, the files
		t.Errorf("a chain of %d calls", n)
	}
}

// If the App is not installed on .github, or .github does not exist, a token is not
// requested each time.
func TestRefusedTokenIsNotRequestedEachTime(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	watch := &clock{at: time.Now()}
	w.client.now = watch.now
	read := func() (texts map[string]string, tokens int) {
		w.hub.Calls.Reset()
		source, err := w.client.organisationConfig(t.Context(), w.shop())
		w.must(err)
		for _, c := range w.hub.Calls.All() {
			if c.Status == http.StatusUnprocessableEntity {
				tokens++
			}
		}
		return w.texts(config.LayerOrganisation, source), tokens
	}
	if texts, tokens := read(); len(texts) != 0 || tokens != 1 {
		t.Errorf("%v, %d tokens were refused", texts, tokens)
	}
	org := w.organisation()
	org.Settings.SetPrivate(true)
	watch.pass(organisationAge)
	if texts, tokens := read(); len(texts) != 0 || tokens != 0 {
		t.Errorf("a minute later: %v, %d tokens were refused", texts, tokens)
	}
	watch.pass(uncoveredAge - organisationAge)
	if texts, tokens := read(); len(texts) != 1 || tokens != 0 {
		t.Errorf("after ten: %v, %d tokens were refused", texts, tokens)
	}
}

// Most accounts have no .github, so this causes no warning.
func TestMissingOrganisationCausesNoWarning(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	var log strings.Builder
	c := w.newClient(func(c *Config) { c.Log = zerolog.New(&log) })
	if _, err := c.organisationConfig(t.Context(), w.shop()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), `"status":422`) || strings.Contains(log.String(), `"level":"warn"`) {
		t.Errorf("log:\n%s", log.String())
	}
}

// The token for an organisation's layer may only read that layer.
func TestTokenForAnOrganisation(t *testing.T) {
	stub := newStub(t, func(w http.ResponseWriter, _ *http.Request) { send(w, 404, map[string]any{"message": "Not Found"}) })
	source, err := stub.client(t, nil).organisationConfig(t.Context(), pullTarget)
	if err != nil || len(source.Files) != 0 {
		t.Errorf("%+v, %v", source, err)
	}
	want := []string{`{"permissions":{"contents":"read","metadata":"read"},"repositories":[".github"]}`}
	if d := cmp.Diff(want, stub.tokens); d != "" {
		t.Errorf("tokens (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"GET /repos/acme/.github/git/trees/HEAD"}, stub.requests()); d != "" {
		t.Errorf("requests (-want +got):\n%s", d)
	}
}

// After an account was renamed, anybody may take its old name. GitHub redirects requests for
// its repositories, unless the new account has a repository of that name. The new account's
// .github is not the organisation's.
func TestOrganisationOfARenamedAccount(t *testing.T) {
	const byID = "/repositories/1001"
	for name, tt := range map[string]struct {
		moved     bool
		owner     string
		want      string
		repoReads int
	}{
		"same place":             {false, "acme", "of acme", 0},
		"repository was renamed": {true, "acme", "of acme", 1},
		"account was renamed":    {true, "zenith", "of zenith", 1},
	} {
		t.Run(name, func(t *testing.T) {
			hub := &fake{answer: func(r *http.Request) *http.Response {
				path := strings.TrimPrefix(r.URL.Path, "/api/v3")
				text := "of acme"
				if strings.Contains(path, "/zenith/") {
					text = "of zenith"
				}
				switch {
				case path == byID:
					return reply(200, fmt.Sprintf(`{"id":1001,"name":"shop","owner":{"login":%q}}`, tt.owner))
				case path == "/repos/acme/shop/git/trees/HEAD" && tt.moved:
					return reply(301, `{}`, "Location", "https://github.test/api/v3"+byID+"/git/trees/HEAD")
				case strings.Contains(path, "/shop/"), strings.HasPrefix(path, byID):
					return reply(200, treeJSON(treeSHA(0), "README.md", "blob", someSHA))
				case strings.HasSuffix(path, "/HEAD"):
					return reply(200, treeJSON(treeSHA(0), ".github", "tree", treeSHA(1)))
				case strings.HasSuffix(path, treeSHA(1)):
					return reply(200, treeJSON(treeSHA(1), "reviewgate", "tree", treeSHA(2)))
				case strings.HasSuffix(path, treeSHA(2)):
					return reply(200, treeJSON(treeSHA(2), "review-rules.json", "blob", blobSHA(text)))
				}
				return reply(200, text)
			}}
			c := hub.client(t, nil)
			for range 2 {
				read, err := c.ReadConfig(t.Context(), pullTarget, "")
				if err != nil {
					t.Fatal(err)
				}
				if o := read.Organisation; len(o.Files) != 1 || string(o.Files[0].Text) != tt.want || o.Source != tt.owner+"/.github" {
					t.Errorf("organisation's layer %+v", o)
				}
			}
			if n := hub.askedFor(byID); n != 4*tt.repoReads {
				t.Errorf("asked by the id %d times", n)
			}
		})
	}
}

// A root without entries is the root of an empty commit. Otherwise the list is not complete.
func TestConfigWithoutAnyFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ghtest.Options{})
	empty := w.hub.Repo("acme/empty")
	empty.Commit("main", ghtest.Files{}, "nothing yet")
	read := w.config(w.targetOf(empty), "")
	if len(read.Repository.Files) != 0 || len(read.RootFiles) != 0 {
		t.Errorf("%+v", read)
	}
	w.organisation()
	for _, sha := range []string{w.repo.Branch("main"), someSHA} {
		remove := w.hub.On(routeTrees, func(x *ghtest.Exchange) {
			x.Proceed().Body = fmt.Appendf(nil, `{"sha":%q,"tree":[],"truncated":false}`, sha)
		})
		_, _, err := w.client.repositoryConfig(t.Context(), w.shop(), "")
		wantHostError(t, err, ports.HostTransient)
		_, err = w.newClient(nil).organisationConfig(t.Context(), w.shop())
		wantHostError(t, err, ports.HostTransient)
		remove()
	}
}
