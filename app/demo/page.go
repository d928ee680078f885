package demo

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// pagePath is where the App's server serves the demo's page.
const pagePath = "/demo"

// answerPatience is how long the answer to a button waits for the review.
const answerPatience = 10 * time.Second

//go:embed page.tmpl
var pageText string

//go:embed static
var static embed.FS

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"count": count,
	"clock": func(t time.Time) string { return t.Local().Format("15:04:05.000") },
	"short": func(sha string) string { return sha[:min(7, len(sha))] },
	"words": func(s string) string { return strings.ReplaceAll(s, "_", " ") },
	"inc":   func(i int) int { return i + 1 },
}).Parse(pageText))

// page returns the handler of the page. It answers only requests for this machine, and takes steps
// only for forms of the page itself, so that no other web site can read the page or press its buttons.
func (d *demo) page() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+pagePath, d.show)
	mux.HandleFunc("POST "+pagePath+"/{step}", d.press)
	for _, file := range []string{"style.css", "icon.svg"} {
		mux.HandleFunc("GET "+pagePath+"/"+file, func(w http.ResponseWriter, r *http.Request) {
			http.ServeFileFS(w, r, static, "static/"+file)
		})
	}
	protected := http.NewCrossOriginProtection().Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !isThisMachine(r.Host) {
			http.Error(w, "The demo answers only at 127.0.0.1, [::1] and localhost.", http.StatusMisdirectedRequest)
			return
		}
		protected.ServeHTTP(w, r)
	})
}

// isThisMachine reports whether a request's Host names this machine. Another site's name may have been
// pointed at this machine.
func isThisMachine(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// press takes a step. It sends the browser back to the page once the App has answered, or
// after answerPatience.
func (d *demo) press(w http.ResponseWriter, r *http.Request) {
	i := slices.IndexFunc(story, func(s *step) bool { return s.name == r.PathValue("step") })
	if i < 0 {
		http.NotFound(w, r)
		return
	}
	// A browser that goes away must not lose the result. The page shows the error.
	_ = d.play(context.WithoutCancel(r.Context()), story[i], answerPatience)
	http.Redirect(w, r, pagePath, http.StatusSeeOther)
}

func (d *demo) show(w http.ResponseWriter, r *http.Request) {
	v, err := d.view(r.Context())
	var b bytes.Buffer
	if err == nil {
		err = pageTemplate.Execute(&b, v)
	}
	if err != nil {
		http.Error(w, "The page can't be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // the browser may be gone
}

// view is what the page shows.
type view struct {
	Steps    []stepView
	Last     *step  // the newest step, nil before the first
	Trouble  string // why the newest step has no result yet
	Done     bool   // nothing is left of the story
	Repo     string
	Pull     *pullView // nil before it is opened
	Timeline []moment
}

type stepView struct {
	*step
	Refused     string
	Next, Taken bool
}

// Name, Button, Does and Look are for the template, which reads only exported names.
func (s *step) Name() string   { return s.name }
func (s *step) Button() string { return s.button }
func (s *step) Does() string   { return s.does }
func (s *step) Look() string   { return s.look }

type pullView struct {
	Number      int
	Title, Head string
	Body        template.HTML
	Comments    []commentView
	Commits     int
	Mergeable   bool
	Why         string // the check's state, if the pull request can't be merged
	Check       *checkView
	Files       []file
}

type commentView struct {
	ghtest.Comment
	Bot  bool
	Name string
	Text template.HTML
}

type checkView struct {
	ghtest.CheckRun
	Runs          int // on this head
	Good          bool
	Summary, Text template.HTML
}

func (d *demo) view(ctx context.Context) (*view, error) {
	v := &view{Repo: repository, Timeline: d.timeline.all()}
	if err := d.unanswered(); err != nil {
		v.Trouble = err.Error()
	}
	next := d.next()
	v.Done = next == nil
	for _, s := range story {
		d.mu.Lock()
		taken := d.taken[s.name]
		d.mu.Unlock()
		v.Steps = append(v.Steps, stepView{s, d.refusal(s), s == next, taken})
	}
	d.mu.Lock()
	pr := d.pr
	v.Last = d.last
	commits := 1
	if d.pushed {
		commits = 2
	}
	d.mu.Unlock()
	if pr == nil {
		return v, nil
	}
	var err error
	v.Pull, err = d.pullView(ctx, pr)
	if err == nil {
		v.Pull.Commits = commits
	}
	return v, err
}

func (d *demo) pullView(ctx context.Context, pr *ghtest.PullRequest) (*pullView, error) {
	p := &pullView{Number: pr.Number, Head: pr.HeadSHA()}
	shown, err := d.pull(ctx, pr)
	if err != nil {
		return nil, err
	}
	p.Title, p.Files = shown.Title, shown.files
	p.Mergeable, p.Why = pr.Mergeable()
	link := func(to string) string { return p.link(to) }
	if p.Body, err = markdown(shown.Body, link); err != nil {
		return nil, err
	}
	for _, c := range pr.Comments() {
		name, bot := strings.CutSuffix(c.Author, "[bot]")
		text, err := markdown(c.Body, link)
		if err != nil {
			return nil, err
		}
		p.Comments = append(p.Comments, commentView{Comment: c, Bot: bot, Name: name, Text: text})
	}
	if c, ok := d.check(); ok {
		p.Check = &checkView{CheckRun: c, Runs: len(pr.CheckRuns()), Good: p.Mergeable}
		if p.Check.Summary, err = markdown(c.Summary, link); err != nil {
			return nil, err
		}
		if p.Check.Text, err = markdown(c.Text, link); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// link returns the place on the page for an address on GitHub, or "".
func (p *pullView) link(to string) string {
	path := strings.TrimPrefix(to, webURL+"/"+repository+"/")
	kind, rest, _ := strings.Cut(path, "/")
	switch kind {
	case "blob":
		_, rest, _ = strings.Cut(rest, "/")
		name, at, _ := strings.Cut(rest, "#L")
		first, _, _ := strings.Cut(at, "-")
		for _, f := range p.Files {
			if f.Filename != name {
				continue
			}
			for _, l := range f.Lines {
				if l.ID != "" && l.ID == fmt.Sprintf("%s-L%s", f.ID, first) {
					return "#" + l.ID
				}
			}
			return "#" + f.ID
		}
	case "runs":
		return "#check"
	case "commit":
		return "#files"
	case "pull":
		if _, id, ok := strings.Cut(rest, "#issuecomment-"); ok {
			return "#comment-" + id
		}
		return "#pull"
	}
	return ""
}

// Reacted writes a reaction as its emoji.
func (c commentView) Reacted() []string {
	var all []string
	for _, r := range c.Reactions {
		all = append(all, cmp.Or(map[string]string{"eyes": "👀", "rocket": "🚀", "confused": "😕"}[r.Content], r.Content))
	}
	return all
}
