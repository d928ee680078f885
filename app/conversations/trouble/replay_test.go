package trouble

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
)

// step is an event on a stand-in for GitHub. Do names a person's action, or the method and
// the path of a request by the App.
type step struct {
	Next   int64           `json:"next"` // id of the first object that it creates
	Do     string          `json:"do"`
	Repo   string          `json:"repo"`
	Pull   int             `json:"pull"`
	Who    string          `json:"who"`
	Text   string          `json:"text"`
	Branch string          `json:"branch"`
	Base   string          `json:"base"`
	Title  string          `json:"title"`
	Files  ghtest.Files    `json:"files"`
	Body   json.RawMessage `json:"body"`
	Made   string          `json:"made"` // SHA or id of the object that it creates
}

// replay repeats the steps of another stand-in. All objects that they create get the same ids
// and SHAs as there.
type replay struct {
	*testing.T
	gh    *ghtest.Server
	pulls map[string]*ghtest.PullRequest // by head branch
	byNo  map[string]map[int]*ghtest.PullRequest
}

// repeat repeats steps, one JSON object a line.
func repeat(t *testing.T, gh *ghtest.Server, steps string) map[string]*ghtest.PullRequest {
	t.Helper()
	r := &replay{T: t, gh: gh, pulls: map[string]*ghtest.PullRequest{}, byNo: map[string]map[int]*ghtest.PullRequest{}}
	for line := range strings.Lines(steps) {
		var s step
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatalf("read a step: %v", err)
		}
		// The deliveries caused by the previous step are done by now, so that they take no
		// id.
		if err := gh.Webhook.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		gh.NextID(s.Next)
		do := r.person
		if strings.Contains(s.Do, " ") {
			do = r.request
		}
		if made := do(s); made != s.Made && s.Made != "" {
			t.Fatalf("%s %q made %s, want %s", s.Do, s.Text, made, s.Made)
		}
	}
	return r.pulls
}

// request makes a request in the App's name. It returns the id of the object that it creates.
func (r *replay) request(s step) (made string) {
	r.Helper()
	method, path, _ := strings.Cut(s.Do, " ")
	req, err := http.NewRequestWithContext(r.Context(), method, r.gh.URL+path, bytes.NewReader(s.Body))
	if err != nil {
		r.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.gh.Token("acme"))
	req.Header.Set("User-Agent", "reviewgate/test")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= http.StatusMultipleChoices {
		r.Fatalf("%s: %d %s (%v)", s.Do, resp.StatusCode, body, err)
	}
	var one struct{ ID int64 }
	if len(body) > 0 && body[0] == '{' {
		err = json.Unmarshal(body, &one)
	}
	if err != nil {
		r.Fatal(err)
	}
	return fmt.Sprint(one.ID)
}

// person repeats a person's action. It returns the SHA or the id of the object that it
// creates.
func (r *replay) person(s step) (made string) {
	r.Helper()
	repo, pr := r.gh.Repo(s.Repo), r.byNo[s.Repo][s.Pull]
	switch s.Do {
	case "repo":
		r.byNo[s.Repo] = map[int]*ghtest.PullRequest{}
	case "grant":
		repo.Grant(s.Who, s.Text)
	case "commit":
		return repo.Commit(s.Branch, s.Files, s.Text)
	case "open":
		pr = repo.OpenPR(ghtest.PR{Title: s.Title, Body: s.Text, Head: s.Branch, Base: s.Base, Files: s.Files})
		if pr.Number != s.Pull {
			r.Fatalf("%s has the number %d, want %d", s.Branch, pr.Number, s.Pull)
		}
		r.byNo[s.Repo][pr.Number], r.pulls[s.Branch] = pr, pr
		return pr.HeadSHA()
	case "push":
		return pr.Push(s.Files, s.Text)
	case "comment":
		return fmt.Sprint(pr.Comment(s.Who, s.Text).ID)
	case "merge":
		return pr.Merge()
	case "close":
		pr.Close()
	case "group":
		return repo.MergeGroup(pr).HeadSHA
	case "check":
		var a ghtest.Annotation
		if err := json.Unmarshal(s.Body, &a); err != nil {
			r.Fatal(err)
		}
		repo.Checks.OtherCheck(s.Who, "lint", s.Text, "failure", a)
	case "uninstall":
		repo.Settings.SetInstalled(false)
	default:
		r.Fatalf("there is no step %q", s.Do)
	}
	return ""
}

// quiet are the options of a stand-in on which a long history is repeated quickly.
func quiet(events ...string) ghtest.Options {
	limits := ghtest.GitHubLimits()
	limits.PointsPerMinute, limits.CreationsPerMinute, limits.CreationsPerHour = 0, 0, 0
	may := ghtest.DefaultPermissions()
	may["issues"], may["security_events"] = "write", "read"
	return ghtest.Options{
		WebhookSecret: apptest.Secret, WebhookTimeout: apptest.Patience, Limits: &limits, Permissions: may,
		Events: append(ghtest.DefaultEvents(), events...),
	}
}
