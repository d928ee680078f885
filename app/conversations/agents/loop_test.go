package agents

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/api"
	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/needs"
)

// Files that the agent of TestLoop writes. Reviewers have concerns about the first one. The gate's finding
// is in another file, apptest.Insecure.
const (
	sumByMD5 = `package store

import "crypto/md5"

// Sum tells whether a file has changed.
func Sum(file []byte) []byte {
	sum := md5.Sum(file)
	return sum[:]
}
`
	testOfSum = `package store

import "testing"

func TestSum(t *testing.T) {
	if string(Sum([]byte("a"))) == string(Sum([]byte("b"))) {
		t.Error("two files have one sum")
	}
}
`
	testOfClient = `package store

import "testing"

func TestClient(t *testing.T) {
	if Client() == nil {
		t.Error("there is no client")
	}
}
`
)

// A coding agent works on a pull request until it can be merged, and two reviewers look at its work. The
// agent runs report.sh of docs/coding-agents.md, and one of the reviewers is that page's reviewer.py.
func TestLoop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	addr, crypto := needs.FreeAddr(t), needs.FreeAddr(t)
	w := start(t, setup{
		reviewers: "coverage",
		agents: `,{"id": "crypto", "name": "crypto", "kind": "webhook", "description": "Looks for broken hashes.", "session": true,
			"webhook": {"url": "http://` + crypto + `/", "secret_env": "REVIEWER_SECRET", "allow_private": ["127.0.0.1"]}}`,
		policies: `,"crypto"`,
		sessions: `{"deadline": 30}`, minute: time.Second,
	}, secretOf("crypto"), func(w *apptest.World) { w.Addr = addr })
	w.Repo.Settings.Protect("main", ghtest.RequiredCheck{Name: "reviewgate", App: w.GH.AppID()})
	w.reviewers["coverage"].replies(func(q request) (int, string) { return http.StatusOK, w.coverage(q) })
	program := fromPage(t, dir, "reviewer.py")
	dead := w.serveByPython(program, crypto)

	claude := w.newCoder("claude", fromPage(t, dir, "report.sh"))
	claude.write("store/sum.go", sumByMD5)
	claude.write("store/client.go", apptest.Insecure)
	claude.write("store/client_test.go", testOfClient)
	claude.commit("feat: tell changed files by their sums")
	claude.push()
	claude.pr = w.Repo.OpenPR(ghtest.PR{Title: "feat: tell changed files by their sums", Body: apptest.GoodBody, Head: "sums"})
	w.Idle()

	// Both reviewers have concerns, and the agent is told which.
	claude.reports("milestone", "sums-1", "Files have sums.", 1, "PAUSED", "rule 2: concerns of coverage and crypto", "MD5 is broken", "No test calls Sum.")
	w.wants(claude.pr, "PAUSED", 2, "action_required")
	claude.mayMerge(false)
	claude.settle()
	if got, want := claude.git("diff", "--numstat", "HEAD"), "2\t2\tstore/sum.go\n9\t0\tstore/sum_test.go\n"; got != want {
		t.Errorf("the agent changed\n%s, want\n%s", got, want)
	}
	claude.commit("fix: take SHA-256, and test it")
	claude.push()
	claude.mayMerge(false)

	// They approve, so the agent may go on. The gate still has a finding.
	finding := claude.reports("milestone", "sums-2", "Sums are SHA-256 and tested.", 0, "RUNNING: needs_fixes", "store/client.go:10: major")
	w.wants(claude.pr, "RUNNING", 4, "action_required")
	claude.mayMerge(false)
	claude.fix(finding)
	claude.commit("fix: verify certificates")
	claude.push()

	// One reviewer is dead. Once it is back, the agent asks for a review again.
	dead()
	claude.reports("milestone", "sums-3", "Certificates are verified.", 1, "PAUSED", "rule 0: no answer from crypto")
	if c := w.Check(claude.pr); c.Conclusion != "action_required" || !strings.Contains(c.Title, "crypto") {
		t.Errorf("the check is %s: %s", c.Conclusion, c.Title)
	}
	claude.mayMerge(false)
	w.serveByPython(program, crypto)
	claude.reports("request_review", "sums-4", "Certificates are verified.", 0, "RUNNING: pass")
	w.wants(claude.pr, "RUNNING", 4, "success")
	claude.mayMerge(true)

	// The same event again starts nothing, also with a token of GitHub Actions.
	asked := len(w.reviewers["coverage"].got("review_request"))
	claude.token = ""
	claude.actions = w.actions(claude.ownToken())
	claude.reports("request_review", "sums-4", "Certificates are verified.", 0, "RUNNING: pass")
	if n := len(w.reviewers["coverage"].got("review_request")); n != asked || asked != 4 {
		t.Errorf("coverage was asked %d times, and then %d times; want 4", asked, n)
	}
	claude.actions, claude.token = nil, "rg_wrong"
	claude.reports("milestone", "sums-5", "More.", 2)

	// crypto always answers later, as the page's reviewer does.
	if line := `reviewgate_api_requests_total{route="POST /api/v1/results/{id}",status="202"} 3`; !strings.Contains(w.Metrics(), line) {
		t.Errorf("the metrics have no line %s", line)
	}
	for _, line := range []string{`reviewgate_session_cycles_total{rule="0"} 1`, `reviewgate_session_cycles_total{rule="4"} 2`,
		`reviewgate_session_answers_total{agent="crypto",verdict="missing"} 1`, `reviewgate_session_answers_total{agent="coverage",verdict="approved"} 3`} {
		if !strings.Contains(w.Metrics(), line) {
			t.Errorf("the metrics have no line %s", line)
		}
	}
	if text := w.Check(claude.pr).Text; !strings.Contains(text, `"status": "RUNNING"`) {
		t.Errorf("the check lacks the session's state for other tools:\n%s", text)
	}
	body := w.Comment(claude.pr).Body
	for _, text := range []string{"crypto", "The change uses no MD5.", "coverage", "Every function is tested."} {
		if !strings.Contains(body, text) {
			t.Errorf("the comment lacks %q:\n%s", text, body)
		}
	}
	claude.pr.Merge()
}

// fromPage writes a program of docs/coding-agents.md into a folder and returns its path.
func fromPage(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(pageBetween(t, " "+name+"\n", "```\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// program returns the path of a program that the page needs.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		needs.Lacks(t, "docs/coding-agents.md needs %s, which is not installed", name)
	}
	return path
}

// bare returns an environment for programs, without proxies and without the user's git config.
func bare(more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0",
	}, more...)
}

// gitURL returns the base URL of the stand-in's git repositories.
func (w *world) gitURL() string {
	return strings.Replace(w.GH.URL, "://", "://x-access-token:"+w.GH.Token("acme")+"@", 1)
}

// serveByPython starts the reviewer of the page, and returns a function that kills it.
func (w *world) serveByPython(path, addr string) (kill func()) {
	w.Helper()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		w.Fatal(err)
	}
	cmd := exec.Command(program(w.T, "python3"), path)
	cmd.Env = bare("REVIEWER_SECRET="+secret, "GIT_URL="+w.gitURL(), "PORT="+port)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	killed := false
	kill = func() {
		if killed {
			return
		}
		killed = true
		cmd.Process.Kill()
		cmd.Wait() // it was killed
		if w.Failed() {
			w.Logf("reviewer.py printed:\n%s", log.String())
		}
	}
	w.Cleanup(kill)
	for deadline := time.Now().Add(apptest.Patience); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
			return kill
		}
		if time.Now().After(deadline) {
			w.Fatalf("reviewer.py does not listen: %v", err)
		}
	}
}

// exported matches an exported function.
var exported = regexp.MustCompile(`(?m)^func ([A-Z]\w*)`)

// coverage answers for a reviewer that checks whether a test calls each function of the changed files.
func (w *world) coverage(q request) string {
	if q.Type != "review_request" {
		return ""
	}
	dir := filepath.Join(w.TempDir(), "head")
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Env = bare()
		out, err := cmd.CombinedOutput()
		if err != nil {
			w.Errorf("coverage: git %s: %v: %s", args[0], err, out)
		}
		return string(out)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		w.Error(err)
	}
	git("init", "-q")
	git("fetch", "-q", "--depth=1", w.gitURL()+"/"+q.Repository+".git", q.BaseSHA, q.HeadSHA)
	tests, code := "", map[string]string{}
	var files []string
	for file := range strings.FieldsSeq(git("diff", "--name-only", q.BaseSHA, q.HeadSHA)) {
		text := git("show", q.HeadSHA+":"+file)
		if strings.HasSuffix(file, "_test.go") {
			tests += text
			continue
		}
		files, code[file] = append(files, file), text
	}
	var issues []string
	for _, file := range files {
		for _, m := range exported.FindAllStringSubmatch(code[file], -1) {
			if !strings.Contains(tests, m[1]+"(") {
				issues = append(issues, fmt.Sprintf(`{"severity": "major", "description": "No test calls %s.", "file": %q}`, m[1], file))
			}
		}
	}
	if len(issues) > 0 {
		return result("coverage", "concerns", "Something is not tested.", issues...)
	}
	return result("coverage", "approved", "Every function is tested.")
}

// coder is a coding agent that follows a script and asks no model. It commits with git, and reports
// with a shell script of the page.
type coder struct {
	w            *world
	name, script string
	dir          string // its work tree
	token        string
	actions      []string // variables of GitHub Actions
	pr           *ghtest.PullRequest
}

// newCoder gives an agent a work tree with the branch sums, and a token.
func (w *world) newCoder(name, script string) *coder {
	w.Helper()
	for _, tool := range []string{"sh", "curl", "jq"} {
		program(w.T, tool)
	}
	c := &coder{w: w, name: name, script: script, dir: w.TempDir()}
	c.git("init", "-q")
	c.git("fetch", "-q", w.gitURL()+"/acme/shop.git", w.Repo.Branch("main"))
	c.git("checkout", "-q", "-b", "sums", "FETCH_HEAD")
	c.token = c.ownToken()
	return c
}

// ownToken makes a token for the agent.
func (c *coder) ownToken() string {
	c.w.Helper()
	token, hash := api.NewToken()
	if _, err := c.w.App.Inside().Store.AddToken(c.w.Context(), ports.APIToken{
		Hash: hash, Agent: c.name, ExpiresAt: time.Now().Add(time.Hour),
		Repository: ports.Target{Kind: ports.TargetPull, Installation: c.w.GH.InstallationID("acme"), RepoID: c.w.Repo.ID(), Owner: "acme", Name: "shop"},
	}); err != nil {
		c.w.Fatal(err)
	}
	return token
}

// git runs git in the work tree and returns what it prints.
func (c *coder) git(args ...string) string {
	c.w.Helper()
	cmd := exec.Command("git", append([]string{"-C", c.dir, "-c", "user.name=" + c.name, "-c", "user.email=" + c.name + "@example.org"}, args...)...)
	cmd.Env = bare()
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.w.Fatalf("git %s: %v: %s", args[0], err, out)
	}
	return string(out)
}

// write writes a file and stages it.
func (c *coder) write(file, text string) {
	c.w.Helper()
	path := filepath.Join(c.dir, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		c.w.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.w.Fatal(err)
	}
	c.git("add", file)
}

// replace replaces a text in one line of a file, which must have it.
func (c *coder) replace(file string, line int, from, to string) {
	c.w.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, filepath.FromSlash(file)))
	if err != nil {
		c.w.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	if line < 1 || line > len(lines) || !strings.Contains(lines[line-1], from) {
		c.w.Fatalf("line %d of %s has no %q", line, file, from)
	}
	lines[line-1] = strings.Replace(lines[line-1], from, to, 1)
	c.write(file, strings.Join(lines, "\n"))
}

func (c *coder) commit(message string) {
	c.w.Helper()
	c.w.Logf("%s commits: %s", c.name, message)
	c.git("commit", "-q", "-m", message)
}

func (c *coder) push() {
	c.w.Helper()
	c.w.Repo.PushGit("alice", "sums", c.dir, "HEAD")
}

// reports reports an event with the shell script, and fails unless the script exits with the code and
// prints these texts. It returns what the script prints.
func (c *coder) reports(kind, id, summary string, code int, texts ...string) string {
	c.w.Helper()
	c.w.Logf("%s reports %s %s: %s", c.name, kind, id, summary)
	cmd := exec.Command("sh", c.script, kind, id, summary, "store/sum.go")
	cmd.Dir = c.dir
	cmd.Env = bare("REVIEWGATE_URL=http://"+c.w.App.Addr(), "REPO=acme/shop", "PR="+strconv.Itoa(c.pr.Number))
	if c.token != "" {
		cmd.Env = append(cmd.Env, "REVIEWGATE_TOKEN="+c.token)
	}
	cmd.Env = append(cmd.Env, c.actions...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		c.w.Fatal(err)
	}
	printed := stdout.String()
	c.w.Logf("reviewgate answers (exit code %d):\n%s%s", cmd.ProcessState.ExitCode(), printed, stderr.String())
	if got := cmd.ProcessState.ExitCode(); got != code {
		c.w.Errorf("exit code %d, want %d", got, code)
	}
	if (code == 2) != (stderr.Len() > 0) {
		c.w.Errorf("standard error has %q", stderr.String())
	}
	for _, text := range texts {
		if !strings.Contains(printed, text) {
			c.w.Errorf("the answer lacks %q", text)
		}
	}
	return printed
}

var (
	// point matches a point of a clarification: its file, and what reviewers say.
	point = regexp.MustCompile(`(?m)^\d+\. (\S+): (.*)$`)
	// remark matches what one reviewer says in a point, about a line or the whole file.
	remark = regexp.MustCompile(`\((?:\w+)(?:, line (\d+))?\): "([^"]*)"`)
)

// settle does what the clarification asks for, at the places that it names and nowhere else.
func (c *coder) settle() {
	c.w.Helper()
	status, state := c.w.call(http.MethodGet, fmt.Sprintf("/api/v1/pulls/acme/shop/%d", c.pr.Number), c.token, nil)
	clarification, _ := state["clarification"].(string)
	done := 0
	for _, p := range point.FindAllStringSubmatch(clarification, -1) {
		for _, r := range remark.FindAllStringSubmatch(p[2], -1) {
			done++
			switch line, _ := strconv.Atoi(r[1]); {
			case strings.Contains(r[2], "MD5") && line == 3:
				c.replace(p[1], line, "crypto/md5", "crypto/sha256")
			case strings.Contains(r[2], "MD5"):
				c.replace(p[1], line, "md5.Sum(", "sha256.Sum256(")
			case r[2] == "No test calls Sum.":
				c.write(strings.TrimSuffix(p[1], ".go")+"_test.go", testOfSum)
			default:
				c.w.Errorf("the agent does not know what to do about %q", r[0])
			}
		}
	}
	if status != http.StatusOK || done != 3 {
		c.w.Fatalf("status %d: the agent settled %d points, want 3:\n%s", status, done, clarification)
	}
}

// place matches a finding as the shell script prints it.
var place = regexp.MustCompile(`(?m)^(store/client\.go):(\d+): major: `)

// fix corrects the finding that the shell script has printed.
func (c *coder) fix(printed string) {
	c.w.Helper()
	m := place.FindStringSubmatch(printed)
	if m == nil {
		c.w.Fatal("the script printed no finding")
	}
	line, err := strconv.Atoi(m[2])
	if err != nil {
		c.w.Fatal(err)
	}
	c.replace(m[1], line, "InsecureSkipVerify: true", "MinVersion: tls.VersionTLS13")
}

// mayMerge fails unless the base branch's protection allows or forbids the merge, as wanted.
func (c *coder) mayMerge(want bool) {
	c.w.Helper()
	ok, why := c.pr.Mergeable()
	c.w.Logf("GitHub: may be merged: %t %s", ok, why)
	if ok != want {
		c.w.Errorf("mergeable: %t (%s), want %t", ok, why, want)
	}
}

// actions returns the variables with which a step of GitHub Actions gets tokens. Each request gets the
// given token, because the App has no issuer here.
func (w *world) actions(token string) []string {
	w.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer of the runner" || r.URL.Query().Get("audience") != "http://"+w.App.Addr() || r.URL.Query().Get("api-version") != "2.0" {
			w.Errorf("asked for a token with %s", r.URL)
		}
		fmt.Fprintf(rw, `{"count": 1, "value": %q}`, token)
	}))
	w.Cleanup(s.Close)
	return []string{"ACTIONS_ID_TOKEN_REQUEST_TOKEN=of the runner", "ACTIONS_ID_TOKEN_REQUEST_URL=" + s.URL + "/?api-version=2.0"}
}
