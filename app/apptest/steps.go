package apptest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Token has the form of a secret, but is not a real one.
const Token = "ghp_" + "x7Kq2mVb9ZtR4sWc8YhJ1nDf6LgP3aEuT5oQ"

// At runs a function when the n-th request of a route comes, before the request takes effect.
func (w *World) At(route string, n int, do func()) {
	w.Helper()
	var once sync.Once
	done := false
	w.GH.On(route, func(x *ghtest.Exchange) {
		if x.N == n {
			once.Do(func() { do(); done = true })
		}
	})
	w.Cleanup(func() {
		if !done {
			w.Errorf("%s was not asked for %d times", route, n)
		}
	})
}

// Says lets carol, who maintains the repository, comment, and waits until the App is idle.
func (w *World) Says(pr *ghtest.PullRequest, command string) {
	w.Helper()
	w.Repo.Grant("carol", "maintain")
	pr.Comment("carol", command)
	w.Idle()
}

// Only returns the only finding of the newest review, including dismissed and accepted ones.
func (w *World) Only(pr *ghtest.PullRequest) pipeline.Finding {
	w.Helper()
	all := slices.Clone(w.Stored(pr).Review.Report.Findings)
	for _, s := range w.Stored(pr).Review.Report.Suppressed {
		all = append(all, s.Finding)
	}
	if len(all) != 1 {
		w.Fatalf("%d findings, want 1: %+v", len(all), all)
	}
	return all[0]
}

// Dismiss lets carol dismiss a finding.
func (w *World) Dismiss(pr *ghtest.PullRequest, f pipeline.Finding) {
	w.Helper()
	w.Says(pr, "/review dismiss "+f.ID[:8]+" the warehouse's certificate is our own")
}

// Another opens a second pull request on its own branch.
func (w *World) Another(head string, files ghtest.Files) *ghtest.PullRequest {
	w.Helper()
	return w.Repo.OpenPR(ghtest.PR{Title: "feat: " + head, Body: GoodBody, Head: head, Files: files})
}

// Stored returns the newest published review of a pull request.
func (w *World) Stored(pr *ghtest.PullRequest) *ports.StoredReview {
	w.Helper()
	r, err := w.App.Inside().Store.LatestReview(w.Context(), fmt.Sprintf("pull/%d/%d", pr.Repo().ID(), pr.Number))
	if err != nil || r == nil {
		w.Fatalf("no stored review: %v", err)
	}
	return r
}

// Open opens a pull request with these files.
func (w *World) Open(files ghtest.Files) *ghtest.PullRequest {
	w.Helper()
	return w.Repo.OpenPR(ghtest.PR{Title: "feat: read stock from the warehouse", Body: GoodBody, Files: files})
}

// AsOurs changes a payload so that it is about our pull request.
func (w *World) AsOurs(pr *ghtest.PullRequest, body []byte) map[string]any {
	w.Helper()
	var p map[string]any
	if err := json.Unmarshal(body, &p); err != nil {
		w.Fatal(err)
	}
	repo := map[string]any{"id": w.Repo.ID(), "name": "shop", "full_name": "acme/shop", "default_branch": "main", "owner": map[string]any{"login": "acme"}}
	p["installation"] = map[string]any{"id": w.GH.InstallationID("acme")}
	p["repository"] = repo
	if pull, ok := p["pull_request"].(map[string]any); ok {
		pull["number"], pull["state"] = pr.Number, "open"
		pull["head"] = map[string]any{"sha": pr.HeadSHA()}
		pull["base"] = map[string]any{"repo": repo}
	}
	if issue, ok := p["issue"].(map[string]any); ok {
		issue["number"] = pr.Number
	}
	return p
}

// Key returns the pull request's key in the store.
func (w *World) Key(pr *ghtest.PullRequest) string {
	return ports.Target{Kind: ports.TargetPull, RepoID: w.Repo.ID(), Number: pr.Number}.Key()
}

// Twin opens a second pull request from the same branch, into release.
func (w *World) Twin(title string) *ghtest.PullRequest {
	w.Helper()
	return w.Repo.OpenPR(ghtest.PR{Title: title, Body: GoodBody, Base: "release"})
}

// HideContents leaves the App only what GitHub's lists show of a change. Contents are not
// found, and git is refused. show ends that.
func (w *World) HideContents() (show func()) {
	contents := w.GH.On(RouteContents, func(x *ghtest.Exchange) { x.Fail(404, "Not Found") })
	refs := w.GH.On(RouteRefs, func(x *ghtest.Exchange) { x.Fail(403, "Not accessible") })
	return func() { contents(); refs() }
}

// Release creates the branch release.
func (w *World) Release() {
	w.Repo.Commit("release", ghtest.Files{"RELEASE": "1.0\n"}, "branch off")
}

// AllDone fails if a check run of the head is open.
func (w *World) AllDone(sha string) {
	w.Helper()
	for _, c := range w.Repo.Checks.On(sha) {
		if !c.Completed() {
			w.Errorf("check run %d on %.7s is open, and nothing is left to do", c.ID, sha)
		}
	}
}

// Held blocks the requests of one pull request until they are released or hang up, and
// reports when one comes.
func (w *World) Held(route, param, number string) (came <-chan bool, letGo func()) {
	c, free := make(chan bool, 10), make(chan bool)
	w.GH.On(route, func(x *ghtest.Exchange) {
		if x.Params[param] != number {
			return
		}
		c <- true
		select {
		case <-free:
		case <-x.Context().Done():
		}
	})
	return c, func() { close(free) }
}

// WantsNot fails if the comment contains the text. Without a comment, the check must not contain it.
func (w *World) WantsNot(pr *ghtest.PullRequest, text string) {
	w.Helper()
	c := w.Check(pr)
	body := c.Title + "\n" + c.Summary + "\n" + c.Text
	if c.Conclusion != "success" || len(pr.AppComments()) > 0 {
		body = w.Comment(pr).Body
	}
	if strings.Contains(body, text) {
		w.Errorf("the comment has %q:\n%s", text, body)
	}
}

// Post sends a delivery like GitHub, except for the changes of header.
func (w *World) Post(event string, body []byte, change func(*http.Request)) (status int, answer string) {
	w.Helper()
	req, err := http.NewRequest(http.MethodPost, "http://"+w.App.Addr()+app.HookPath, bytes.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	mac := hmac.New(sha256.New, []byte(Secret))
	mac.Write(body)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-GitHub-Event", event)
	sum := sha256.Sum256(append([]byte(event), body...))
	req.Header.Set("X-GitHub-Delivery", fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]))
	req.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	if change != nil {
		change(req)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.Fatalf("post %s: %v", event, err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text)
}

// Alive fails unless the server still answers.
func (w *World) Alive() {
	w.Helper()
	for path, want := range map[string]string{"/healthz": "alive\n", "/readyz": "ready\n"} {
		resp, err := http.Get("http://" + w.App.Addr() + path)
		if err != nil {
			w.Fatalf("%s: %v", path, err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK || string(body) != want {
			w.Errorf("%s: %d %s", path, resp.StatusCode, body)
		}
	}
}

// Work runs a periodic job now.
func (w *World) Work(kind ports.JobKind) {
	w.Helper()
	if err := w.App.Inside().Service.Work(w.Context(), ports.Job{Kind: kind, Attempt: 1}); err != nil {
		w.Fatalf("%s: %v", kind, err)
	}
	w.Idle()
}

// Away runs a function while no webhook is delivered.
func (w *World) Away(f func()) {
	w.GH.Webhook.Withhold()
	f()
	w.GH.Webhook.Resume()
}

// Result returns the stored result of a review that could not be answered.
func (w *World) Result(pr *ghtest.PullRequest) string {
	w.Helper()
	st, err := w.App.Inside().Store.Target(w.Context(), ports.Target{Kind: ports.TargetPull, RepoID: w.Repo.ID(), Number: pr.Number}.Key())
	if err != nil {
		w.Fatal(err)
	}
	return st.Result
}

// Forgotten fails if an incomplete review passed, or if the store still knows the pull
// request.
func (w *World) Forgotten(pr *ghtest.PullRequest) {
	w.Helper()
	for _, c := range pr.CheckRuns() {
		if c.Conclusion == "success" || c.Conclusion == "neutral" {
			w.Errorf("the check is %s", c.Conclusion)
		}
	}
	key := ports.Target{Kind: ports.TargetPull, RepoID: w.Repo.ID(), Number: pr.Number}.Key()
	if _, err := w.App.Inside().Store.Target(w.Context(), key); !errors.Is(err, ports.ErrNotFound) {
		w.Errorf("%s: %v, want that nothing is known of it", key, err)
	}
}

// WantsCheck fails unless the check has the conclusion and contains all texts.
func (w *World) WantsCheck(pr *ghtest.PullRequest, conclusion string, texts ...string) {
	w.Helper()
	c := w.Check(pr)
	if c.Conclusion != conclusion {
		w.Errorf("the check is %s (%s), want %s", c.Conclusion, c.Title, conclusion)
	}
	all := c.Title + "\n" + c.Summary + "\n" + c.Text
	for _, t := range texts {
		if !strings.Contains(all, t) {
			w.Errorf("the check lacks %q:\n%s", t, all)
		}
	}
}

// CallsTo counts the calls of a route after its first n.
func (w *World) CallsTo(route string, since int) int {
	n := 0
	for _, c := range w.GH.Calls.All()[since:] {
		if c.Route == route {
			n++
		}
	}
	return n
}

// Ours returns the App's first comment. Tests may write later ones in its name.
func (w *World) Ours(pr *ghtest.PullRequest) ghtest.Comment {
	w.Helper()
	all := pr.AppComments()
	if len(all) == 0 {
		w.Fatal("the App has no comment on the pull request")
	}
	return all[0]
}

// Latest returns the newest published review of a pull request.
func (w *World) Latest(pr *ghtest.PullRequest) *ports.StoredReview {
	w.Helper()
	r, err := w.App.Inside().Store.LatestReview(w.Context(), w.Key(pr))
	if err != nil || r == nil {
		w.Fatalf("no review is stored: %v", err)
	}
	return r
}
