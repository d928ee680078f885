package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/deploy"
	"github.com/reviewgate/reviewgate/pipeline/needs"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

var (
	exported = regexp.MustCompile(`(?m)^ *export ([A-Z0-9_]+)=`)
	typed    = regexp.MustCompile(`(?m)^ *\./reviewgate (\S.*?)$`)
)

// newcomer follows the steps of docs/install.md.
type newcomer struct {
	*testing.T
	dir, binary string
	env         []string
	gh          *ghtest.Server
}

// A user who follows only docs/install.md gets from nothing to a required check.
func TestInstallPageLeadsToARequiredCheck(t *testing.T) {
	began := time.Now()
	n := &newcomer{T: t, dir: t.TempDir()}
	text, err := os.ReadFile("../../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)

	// 1 and 2: the App is registered with the manifest's values, and has a key.
	manifest, err := deploy.AppManifest()
	if err != nil {
		t.Fatal(err)
	}
	random := make([]byte, 32)
	_, _ = rand.Read(random) // it never fails
	secret, addr := hex.EncodeToString(random), needs.FreeAddr(t)
	n.gh = ghtest.Start(t, ghtest.Options{
		Permissions: manifest.Permissions, Events: manifest.Events,
		WebhookURL: "http://" + addr + app.HookPath, WebhookSecret: secret,
	})
	if !strings.Contains(page, "https://your-host"+app.HookPath) {
		t.Error("the page does not say where webhooks go")
	}
	key := filepath.Join(n.dir, "app.private-key.pem")
	if err := os.WriteFile(key, n.gh.AppPrivateKeyPEM(), 0o600); err != nil {
		t.Fatal(err)
	}

	// 3: the server is built and started with the variables that are exported
	// there, and those for another GitHub.
	values := map[string]string{
		"GITHUB_APP_INTEGRATION_ID":   strconv.FormatInt(n.gh.AppID(), 10),
		"GITHUB_APP_PRIVATE_KEY_FILE": key,
		"GITHUB_APP_WEBHOOK_SECRET":   secret,
		"REVIEWGATE_ADDR":             addr,
		"REVIEWGATE_DATABASE_URL":     "sqlite://" + filepath.Join(n.dir, "reviewgate.db"),
	}
	n.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + n.dir, "TMPDIR=" + n.dir,
		"GITHUB_V3_API_URL=" + n.gh.URL + "/api/v3/", "GITHUB_V4_API_URL=" + n.gh.URL + "/api/graphql", "GITHUB_WEB_URL=https://github.test",
	}
	for _, m := range exported.FindAllStringSubmatch(page, -1) {
		value, ok := values[m[1]]
		if !ok {
			t.Fatalf("the page sets %s, which this test does not know", m[1])
		}
		n.env = append(n.env, m[1]+"="+value)
	}
	n.build(page)
	commands := typed.FindAllStringSubmatch(page, -1)
	if len(commands) < 2 || commands[0][1] != "serve" {
		t.Fatalf("the page has the commands %q", commands)
	}
	_, stop, err := serveBinary(n.binary, n.env)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		n.gh.Webhook.HangUp()
		if err := stop(); err != nil {
			t.Errorf("the server did not end cleanly: %v", err)
		}
	}()

	// 4: the App is installed, and a pull request is answered.
	repo := n.gh.Repo("acme/shop")
	repo.Commit("main", ghtest.Files{"README.md": "# shop\n"}, "start")
	n.gh.Install("acme")
	pr := repo.OpenPR(ghtest.PR{Title: "feat: talk to the warehouse", Files: ghtest.Files{"store/client.go": insecureClient}})
	n.answered(pr, "action_required")

	// 5: the check is required, and blocks until a push fixes the finding.
	if ok, why := pr.Mergeable(); !ok {
		t.Errorf("before the check is required the pull request can't be merged: %s", why)
	}
	repo.Settings.AddRules("main", ghtest.RequireChecks(ghtest.RequiredCheck{Name: "reviewgate", App: n.gh.AppID()}))
	if ok, _ := pr.Mergeable(); ok {
		t.Error("the required check does not block")
	}
	pr.Push(ghtest.Files{"store/client.go": strings.Replace(insecureClient, "InsecureSkipVerify: true", "MinVersion: tls.VersionTLS13", 1)}, "fix")
	n.answered(pr, "success")
	if ok, why := pr.Mergeable(); !ok {
		t.Errorf("the pull request can't be merged: %s", why)
	}

	// 6: all other commands on the page succeed.
	for _, c := range commands[1:] {
		args := strings.Fields(strings.ReplaceAll(strings.ReplaceAll(c[1], "OWNER", "acme"), "NAME", "shop"))
		if out, err := n.run(args...); err != nil {
			t.Errorf("reviewgate %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	if u := n.gh.Calls.Unexpected(); len(u) > 0 {
		t.Errorf("calls that GitHub does not know: %v", u)
	}
	took := time.Since(began).Round(time.Second)
	t.Logf("from nothing to a required check in %s, building included", took)
	if took > 10*time.Minute {
		t.Errorf("it took %s", took)
	}
}

// build builds the binary with the command of docs/install.md, into a directory of the test.
// In a short run it uses the test's own binary instead, which saves the linking: under the
// name reviewgate it acts as the program.
func (n *newcomer) build(page string) {
	n.Helper()
	const command = "go build -o reviewgate ./cmd/reviewgate"
	if !strings.Contains(page, command) {
		n.Fatalf("the page does not say %s", command)
	}
	if !sample.Full() {
		var err error
		if n.binary, err = exec.LookPath("reviewgate"); err != nil {
			n.Fatal(err)
		}
		return
	}
	n.binary = filepath.Join(n.dir, "reviewgate")
	cmd := exec.Command("go", "build", "-o", n.binary, "./cmd/reviewgate")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		n.Fatalf("%s: %v\n%s", command, err, out)
	}
}

func (n *newcomer) run(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(n.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, n.binary, args...)
	cmd.Dir, cmd.Env = n.dir, n.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// answered waits for the check on the head, and expects one comment.
func (n *newcomer) answered(pr *ghtest.PullRequest, conclusion string) {
	n.Helper()
	ctx, cancel := context.WithTimeout(n.Context(), patience)
	defer cancel()
	if err := n.gh.WaitFor(ctx, func() bool {
		return slices.ContainsFunc(pr.CheckRuns(), ghtest.CheckRun.Completed) && len(pr.AppComments()) > 0
	}); err != nil {
		n.Fatal(err)
	}
	if c := pr.CheckRuns()[0]; c.Name != "reviewgate" || c.Conclusion != conclusion {
		n.Errorf("the check %s is %s (%s), want %s", c.Name, c.Conclusion, c.Title, conclusion)
	}
	if c := len(pr.AppComments()); c != 1 {
		n.Errorf("%d comments", c)
	}
}

// insecureClient has a major finding.
const insecureClient = `package store

import (
	"crypto/tls"
	"net/http"
)

// Client talks to the warehouse.
func Client() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
}
`
