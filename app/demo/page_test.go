package demo

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// request asks the demo's server, as a browser would that has these headers. It follows no redirect.
func request(t *testing.T, d *demo, method, path string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+d.app.Addr()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
		if name == "Host" {
			req.Host = value
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// Only this machine can read the page, and only the page's own forms take steps.
func TestPageIsForThisMachineAlone(t *testing.T) {
	d := started(t)
	for _, c := range []struct {
		method, path string
		headers      []string
		want         int
	}{
		{"GET", "/demo", nil, 200},
		{"GET", "/demo", []string{"Host: localhost:1"}, 200},
		{"GET", "/demo", []string{"Host: [::1]:1"}, 200},
		{"GET", "/demo", []string{"Host: evil.example"}, 421},
		{"GET", "/demo/style.css", []string{"Host: 127.0.0.1.evil.example:80"}, 421},
		{"POST", "/demo/open", []string{"Host: evil.example", "Origin: http://evil.example"}, 421},
		{"POST", "/demo/open", []string{"Origin: http://evil.example"}, 403},
		{"POST", "/demo/open", []string{"Sec-Fetch-Site: cross-site"}, 403},
		{"POST", "/demo/open", []string{"Sec-Fetch-Site: same-site"}, 403},
		{"GET", "/demo/open", nil, 405},
		{"POST", "/demo", nil, 405},
		{"POST", "/demo/merge", nil, 404},
		{"GET", "/demo/page.tmpl", nil, 405},
	} {
		resp, body := request(t, d, c.method, c.path, c.headers...)
		if resp.StatusCode != c.want {
			t.Errorf("%s %s with %q: %s, want %d: %s", c.method, c.path, c.headers, resp.Status, c.want, body)
		}
		if policy := resp.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "script") {
			t.Errorf("%s %s: policy %q", c.method, c.path, policy)
		}
	}
	if d.pr != nil {
		t.Fatal("a refused request opened the pull request")
	}
	resp, _ := request(t, d, "POST", "/demo/open", "Sec-Fetch-Site: same-origin")
	if resp.StatusCode != 303 || resp.Header.Get("Location") != pagePath {
		t.Errorf("open: %s to %q", resp.Status, resp.Header.Get("Location"))
	}
	if c, ok := d.check(); !ok || !c.Completed() {
		t.Error("the page came before the review")
	}
}

// A step that makes no sense changes nothing.
func TestRefusedSteps(t *testing.T) {
	d := started(t)
	for range 2 {
		request(t, d, "POST", "/demo/push")
		request(t, d, "POST", "/demo/override")
		if d.pr != nil || d.last != nil {
			t.Fatal("there is something to push to")
		}
	}
	request(t, d, "POST", "/demo/open")
	request(t, d, "POST", "/demo/open")
	if d.pr.Number != 1 || len(d.pr.AppComments()) != 1 {
		t.Errorf("pull request %d with %d comments", d.pr.Number, len(d.pr.AppComments()))
	}
	request(t, d, "POST", "/demo/override")
	if s := d.next(); s == nil || s.name != "push" {
		t.Errorf("after an override that came early the next step is %v", s)
	}
	request(t, d, "POST", "/demo/push")
	if ok, _ := d.pr.Mergeable(); ok {
		t.Error("the override outlives the push")
	}
}

// The page comes although the review takes long, and says so.
func TestSlowReview(t *testing.T) {
	d := started(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	resume := d.gh.On("GET /repos/{owner}/{repo}/pulls/{pull_number}/files", func(*ghtest.Exchange) { <-ctx.Done() })
	defer resume()
	if err := d.play(t.Context(), story[0], 100*time.Millisecond); err == nil {
		t.Error("the review was not awaited")
	}
	d.files.head = d.pr.HeadSHA() // the page must not ask for the files, which are held
	if _, body := request(t, d, "GET", "/demo"); !strings.Contains(body, "the answer did not come within 100ms") || !strings.Contains(body, "Waiting for a required check") {
		t.Errorf("the page says:\n%s", body)
	}
	cancel()
	if err := d.reviewed(d.pr.HeadSHA())(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, body := request(t, d, "GET", "/demo"); !strings.Contains(body, "merging is blocked") || strings.Contains(body, "did not come") {
		t.Errorf("after the review the page says:\n%s", body)
	}
}

// GitHub's kinds of markup are shown, and what could act is not.
func TestMarkdown(t *testing.T) {
	link := func(to string) string { return "#" + strings.TrimPrefix(to, webURL) }
	for _, c := range []struct{ text, want string }{
		{"a\nb", "<p>a<br/>\nb</p>\n"},
		{"> [!WARNING]\n> **x**", "<blockquote class=\"alert warning\">\n<p><strong class=\"kind\">Warning</strong><br/>\n<strong>x</strong></p>\n</blockquote>\n"},
		{"> [!WARNING] x", "<blockquote>\n<p>[!WARNING] x</p>\n</blockquote>\n"},
		{"<sub>small</sub>", "<p><sub>small</sub></p>\n"},
		{"```json\n{}\n```", "<p><em>GitHub shows 1 line of JSON here. This page leaves them out.</em></p>\n"},
		{"[x](" + webURL + "/y)", "<p><a href=\"#/y\" rel=\"nofollow noreferrer\">x</a></p>\n"},
		{"[x](https://a.example/)", "<p><a href=\"https://a.example/\" rel=\"nofollow noreferrer\">x</a></p>\n"},
		{"[x](javascript:alert(1))", "<p><a>x</a></p>\n"},
		{"[x](JaVaScRiPt:alert(1)) [y](data:text/html,z) [z](//a.example) [w](/demo)", "<p><a>x</a> <a>y</a> <a>z</a> <a>w</a></p>\n"},
		{"<a href=\"https://a.example\" onclick=\"x\" id=\"y\" style=\"z\">b</a>", "<p><a href=\"https://a.example\" rel=\"nofollow noreferrer\">b</a></p>\n"},
		{"<script>x</script><style>y</style>z", "z"},
		{"a <script>x</script>b", "<p>a b</p>\n"},
		{"a <b><img src=x onerror=y><i>c</i></b>", "<p>a <b><i>c</i></b></p>\n"},
		{"a <svg><p onload=x>b</svg>", "<p>a </p><p>b</p>\n"},
		{"a <math><mtext><table><mglyph><style><img src=x onerror=y>", "<p>a </p>"},
		{"a <form><button formaction=x>b</button></form>", "<p>a </p>b<p></p>\n"},
		{"a <noscript><p title=\"</noscript><img src=x onerror=y>\">", "<p>a &#34;&gt;</p>\n"},
	} {
		got, err := markdown(c.text, link)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != c.want {
			t.Errorf("%q\n is %q\nwant %q", c.text, got, c.want)
		}
	}
}
