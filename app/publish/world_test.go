package publish_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/lease"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/publish"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// store remembers what was written to GitHub.
type store struct {
	mu sync.Mutex // check and comment are written in parallel
	ports.Writes
	ports.Leases
	ports.Layers
	ports.History
	ports.Intake
	ports.Targets
	ports.Reviews
	ports.Backtests
	writes    []ports.Write // oldest first
	inline    []ports.InlineComment
	decisions []ports.HeadDecision // on the head
	answer    *ports.PublishedHead // the target's last
	own       string               // the repository's settings that are known
	release   string               // the settings of its branch release, if it has its own
	lost      bool                 // another holder has the lease of the target
	asks      []ports.ReviewAsk
	said      []string // notices
	noted     []string // what was recorded about the target and its review, in order
	latest    *ports.StoredReview
	backtest  *ports.ConfigBacktest
	unread    error // of a backtest that can't be read
}

func (s *store) NewestWrite(_ context.Context, kind ports.WriteKind, subject string) (*ports.Write, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range slices.Backward(s.writes) {
		if w.Kind == kind && w.Subject == subject {
			return &w, nil
		}
	}
	return nil, nil
}

func (s *store) OpenChecks(context.Context, int64) ([]ports.Write, error) {
	return slices.DeleteFunc(slices.Clone(s.writes), func(w ports.Write) bool {
		return w.Kind != ports.WriteCheck || w.State == ports.WriteCompleted
	}), nil
}

func (s *store) Intend(_ context.Context, _ ports.Lease, w ports.Write) (ports.Write, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.ID, w.State = int64(len(s.writes)+1), ports.WriteIntended
	s.writes = append(s.writes, w)
	return w, nil
}

func (s *store) Record(_ context.Context, w ports.Write) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes[w.ID-1] = w
	return nil
}

func (s *store) InlineComments(context.Context, string) ([]ports.InlineComment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.inline), nil
}

func (s *store) SaveInline(_ context.Context, _ ports.Lease, all []ports.InlineComment) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost {
		return ports.ErrLeaseLost
	}
	for _, c := range all {
		s.inline = append(slices.DeleteFunc(s.inline, func(o ports.InlineComment) bool { return o.Fingerprint == c.Fingerprint }), c)
	}
	slices.SortFunc(s.inline, func(a, b ports.InlineComment) int { return strings.Compare(a.Fingerprint, b.Fingerprint) })
	return nil
}

func (s *store) Acquire(_ context.Context, key, owner string, _ time.Duration) (ports.Lease, bool, error) {
	return ports.Lease{Key: key, Owner: owner}, true, nil
}

func (s *store) Renew(_ context.Context, l ports.Lease, _ time.Duration) error {
	if s.lost && l.Key == target.Key() {
		return ports.ErrLeaseLost
	}
	return nil
}

func (*store) Release(context.Context, ports.Lease) error { return nil }

func (*store) RepositoryNames(context.Context, int64) ([]string, error) { return nil, nil }

// ConfigBranch returns release for pull request 5, and main for all others.
func (*store) ConfigBranch(_ context.Context, key string) (string, error) {
	if key == on(5, "", false).Target.Key() {
		return "release", nil
	}
	return "", nil
}

func (s *store) GoodLayer(_ context.Context, _ int64, layer string) (*ports.GoodLayer, error) {
	text := ""
	switch layer {
	case config.LayerRepository:
		text = s.own
	case config.LayerRepository + ":release":
		text = s.release
	}
	if text == "" {
		return nil, nil
	}
	return &ports.GoodLayer{Files: []ports.ConfigBlob{{Layer: config.LayerRepository, Path: config.FileSettings, Text: []byte(text)}}}, nil
}

func (s *store) HeadDecisions(context.Context, int64, string) ([]ports.HeadDecision, error) {
	return s.decisions, nil
}

func (s *store) LastPublished(context.Context, string) (*ports.PublishedHead, error) {
	return s.answer, nil
}

func (s *store) LatestReview(context.Context, string) (*ports.StoredReview, error) {
	return s.latest, nil
}

func (s *store) NoticesWritten(_ context.Context, _ string, said []string) error {
	s.said = append(s.said, said...)
	return nil
}

func (s *store) note(format string, args ...any) error {
	s.noted = append(s.noted, fmt.Sprintf(format, args...))
	return nil
}

func (s *store) SetHead(_ context.Context, _, headSHA string) error {
	return s.note("head %s", headSHA)
}

func (s *store) SetClosed(_ context.Context, c ports.Close) error {
	return s.note("closed, merged %t", c.Merged)
}

func (s *store) SetResult(_ context.Context, _, result string) error {
	return s.note("result %q", result)
}

func (s *store) AddNotice(context.Context, string, string) error { return s.note("notice") }

func (s *store) DropReview(_ context.Context, run string) error { return s.note("dropped %s", run) }

func (s *store) MarkPublished(_ context.Context, run string, next ...ports.Job) error {
	for _, j := range next {
		if err := s.note("next %s %s", j.Kind, j.Args); err != nil {
			return err
		}
	}
	return s.note("published %s", run)
}

func (s *store) ConfigBacktest(context.Context, string) (*ports.ConfigBacktest, error) {
	return s.backtest, s.unread
}

func (s *store) Ask(_ context.Context, ask ports.ReviewAsk) error {
	s.asks = append(s.asks, ask)
	return nil
}

// review is a review on GitHub.
type review struct {
	ports.PullReview
	head    string
	verdict ports.ReviewVerdict
	why     string // it was dismissed
}

// check is a check run on GitHub.
type check struct {
	ports.CheckRun
	head  string
	title string
}

// github is a pull request and what is written to it.
type github struct {
	mu sync.Mutex
	ports.PullReader
	ports.CheckWriter
	ports.CommentWriter
	ports.ReviewWriter
	ports.LabelWriter
	threads  []ports.InlineThread // begun by us
	resolved []string             // ids of threads
	now      ports.PullState
	checks   []check // oldest first, as is all else
	comments []ports.Comment
	reviews  []review
	calls    []string                  // calls that change something
	refuses  map[string]ports.HostKind // calls, and how
	loses    string                    // a call that takes effect, but whose answer does not arrive
	updates  []ports.CheckWrite
	written  []ports.CheckWrite // all, created and updated
}

// trouble is how a call fails, nil if it does not.
func (g *github) trouble(call string) error {
	if kind := g.refuses[call]; kind != "" {
		return &ports.HostError{Op: call, Kind: kind, Err: errors.New("refused")}
	}
	return nil
}

// change records a call, and applies it unless it is refused.
func (g *github) change(call string, effect func()) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls = append(g.calls, call)
	if err := g.trouble(call); err != nil {
		return err
	}
	effect()
	if g.loses == call {
		g.loses = ""
		return &ports.HostError{Op: call, Kind: ports.HostTransient, Err: errors.New("unexpected EOF")}
	}
	return nil
}

// since returns the calls that f makes.
func (g *github) since(f func()) []string {
	before := len(g.calls)
	f()
	return g.calls[before:]
}

func (g *github) Pull(context.Context, ports.Target) (ports.PullState, error) {
	return g.now, g.trouble("read the pull request")
}

func (g *github) CreateCheck(_ context.Context, _ ports.Target, w ports.CheckWrite) (int64, error) {
	id := int64(len(g.checks) + 1)
	g.written = append(g.written, w)
	err := g.change("create check", func() {
		g.checks = append(g.checks, check{
			CheckRun: ports.CheckRun{ID: id, ExternalID: w.ExternalID, Completed: w.Conclusion != "", Conclusion: w.Conclusion}, head: w.HeadSHA, title: w.Output.Title,
		})
	})
	if err != nil {
		return 0, err
	}
	return id, nil
}

func (g *github) UpdateCheck(_ context.Context, _ ports.Target, id int64, w ports.CheckWrite) error {
	g.updates, g.written = append(g.updates, w), append(g.written, w)
	return g.change("update check", func() {
		c := &g.checks[id-1]
		c.Completed, c.Conclusion, c.title = w.Conclusion != "", w.Conclusion, w.Output.Title
	})
}

func (g *github) Checks(_ context.Context, _ ports.Target, head string) (runs []ports.CheckRun, err error) {
	for _, c := range slices.Backward(g.checks) {
		if c.head == head {
			runs = append(runs, c.CheckRun)
		}
	}
	return runs, g.trouble("list checks")
}

func (g *github) CreateComment(_ context.Context, _ ports.Target, body string) (int64, error) {
	id := int64(len(g.comments) + 1)
	err := g.change("create comment", func() { g.comments = append(g.comments, ports.Comment{ID: id, Body: body}) })
	if err != nil {
		return 0, err
	}
	return id, nil
}

// place is the index of a comment in the list, or -1.
func (g *github) place(id int64) int {
	return slices.IndexFunc(g.comments, func(c ports.Comment) bool { return c.ID == id })
}

func (g *github) UpdateComment(_ context.Context, _ ports.Target, id int64, body string) error {
	i := g.place(id)
	if i < 0 {
		return &ports.HostError{Op: "update comment", Kind: ports.HostNotFound, Err: errors.New("not found")}
	}
	return g.change("update comment", func() { g.comments[i].Body = body })
}

func (g *github) DeleteComment(_ context.Context, _ ports.Target, id int64) error {
	return g.change("delete comment", func() { g.comments = slices.Delete(g.comments, g.place(id), g.place(id)+1) })
}

func (g *github) Comments(context.Context, ports.Target, string) ([]ports.Comment, error) {
	return slices.Clone(g.comments), g.trouble("list comments")
}

func (g *github) CreateReview(_ context.Context, _ ports.Target, w ports.ReviewWrite) (int64, error) {
	id := int64(len(g.reviews) + 1)
	err := g.change("review: "+string(w.Verdict), func() {
		g.reviews = append(g.reviews, review{ports.PullReview{ID: id, Author: login, Bot: true, Body: w.Body}, w.HeadSHA, w.Verdict, ""})
	})
	if err != nil {
		return 0, err
	}
	return id, nil
}

func (g *github) CreateInline(_ context.Context, _ ports.Target, head string, all []ports.InlineWrite) error {
	return g.change(fmt.Sprintf("%d comments on lines of %s", len(all), head), func() {
		for _, w := range all {
			id := len(g.threads) + 1
			g.threads = append(g.threads, ports.InlineThread{ThreadID: fmt.Sprint("T", id), NodeID: fmt.Sprint("C", id), RemoteID: int64(id), Body: w.Body})
		}
	})
}

func (g *github) EditInline(_ context.Context, _ ports.Target, edits []ports.InlineEdit, list bool) (out ports.InlineEdited, err error) {
	call := fmt.Sprintf("edit %d comments on lines", len(edits))
	err = g.change(call, func() {
		for _, e := range edits {
			i := slices.IndexFunc(g.threads, func(t ports.InlineThread) bool { return t.NodeID == e.NodeID })
			if i < 0 {
				out.Gone = append(out.Gone, e.NodeID)
				continue
			}
			g.threads[i].Body = e.Body
			if e.Resolved {
				g.resolved = append(g.resolved, e.ThreadID)
			}
		}
		if list {
			out.Threads = slices.Clone(g.threads)
		}
	})
	return out, err
}

func (g *github) InlineThreads(context.Context, ports.Target) ([]ports.InlineThread, error) {
	return slices.Clone(g.threads), g.trouble("list the comments on lines")
}

func (g *github) DismissReview(_ context.Context, _ ports.Target, id int64, why string) error {
	return g.change("dismiss review", func() { g.reviews[id-1].Dismissed, g.reviews[id-1].why = true, why })
}

func (g *github) Reviews(context.Context, ports.Target) (all []ports.PullReview, err error) {
	for _, r := range g.reviews {
		all = append(all, r.PullReview)
	}
	return all, g.trouble("list reviews")
}

func (*github) Login(context.Context) (string, error) { return login, nil }

func (g *github) RequestReviews(_ context.Context, _ ports.Target, people []string) error {
	if len(people) > 1 && slices.ContainsFunc(people, func(who string) bool { return g.refuses[request([]string{who})] != "" }) {
		g.calls = append(g.calls, request(people))
		return &ports.HostError{Op: "request reviews", Kind: ports.HostInvalid, Err: errors.New("not a collaborator")}
	}
	return g.change(request(people), func() { g.now.Requested = append(g.now.Requested, people...) })
}

func request(people []string) string { return fmt.Sprintf("request %v", people) }

func (g *github) AddLabel(_ context.Context, _ ports.Target, label string) error {
	return g.change("add "+label, func() {})
}

func (g *github) RemoveLabel(_ context.Context, _ ports.Target, label string) error {
	return g.change("remove "+label, func() {})
}

// standing lists the verdicts of the reviews that were not dismissed, with their heads.
func (g *github) standing() (all []string) {
	for _, r := range g.reviews {
		if !r.Dismissed {
			all = append(all, string(r.verdict)+" "+r.head)
		}
	}
	return all
}

// login is the App's account.
const login = "reviewgate[bot]"

var (
	target = ports.Target{Kind: ports.TargetPull, Installation: 1, RepoID: 2, Owner: "acme", Name: "shop", Number: 3, HeadSHA: "aaa"}
	held   = ports.Lease{Key: target.Key(), Owner: "us"}
)

// world is a pull request on head aaa into main.
type world struct {
	store     store
	github    github
	checks    *publish.Checks
	comments  *publish.Comments
	verdicts  *publish.Verdicts
	requests  *publish.Requests
	labels    *publish.Labels
	inline    *publish.Inline
	publisher *publish.Publisher
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{github: github{now: ports.PullState{HeadSHA: "aaa", BaseRef: "main"}, refuses: map[string]ports.HostKind{}}}
	s, g := &w.store, &w.github
	configs, err := inforce.NewConfigs(inforce.Configs{Layers: s, Loader: config.NewLoader(1), Server: config.Layer{
		Name: config.LayerServer, Files: []config.File{{Path: config.FileSettings, Text: []byte(`{"config_branches": ["release"]}`)}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	leases := lease.Keeper{Store: s, Owner: "us", TTL: time.Minute}
	w.checks = &publish.Checks{
		Configs: configs, Followed: &publish.FollowedHeads{}, Writes: s, History: s, Intake: s, CheckWriter: g, Leases: leases,
		Now: func() time.Time { return time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC) }, Found: func(string) {},
	}
	w.requests = &publish.Requests{Writes: s, ReviewWriter: g, Leases: leases}
	w.verdicts = &publish.Verdicts{Checks: w.checks, Configs: configs, Writes: s, PullReader: g, ReviewWriter: g, Leases: leases}
	w.comments = &publish.Comments{
		Verdicts: w.verdicts, Requests: w.requests, Configs: configs, Writes: s, History: s, Targets: s, Backtests: s, Inline: s,
		CommentWriter: g, Leases: leases,
	}
	w.inline = &publish.Inline{Checks: w.checks, LineComments: s, InlineWriter: g, History: s, Leases: leases}
	w.labels = &publish.Labels{LabelWriter: g, Leases: leases}
	w.publisher = &publish.Publisher{
		Checks: w.checks, Comments: w.comments, Inline: w.inline, Verdicts: w.verdicts, Requests: w.requests, Labels: w.labels, Configs: configs,
		Targets: s, Reviews: s, History: s, PullReader: g, Now: w.checks.Now,
	}
	return w
}

// on is the state of another pull request on the head.
func on(number int, d pipeline.Decision, pending bool) ports.HeadDecision {
	other := target
	other.Number = number
	return ports.HeadDecision{Target: other, Decision: d, Pending: pending}
}

// publication is the publication of a review of the target, whose lease is held.
func publication(state ports.TargetState, r *ports.StoredReview, cfg *config.Config, now *ports.PullState) *publish.Publication {
	return &publish.Publication{Lease: held, State: state, Review: r, Config: cfg, Pull: now}
}

// known is the target's state in the store.
func known() ports.TargetState { return ports.TargetState{Target: target, Wanted: 1, Reason: "opened"} }

// reviewed is a review of head aaa into main with a decision.
func reviewed(d pipeline.Decision) *ports.StoredReview {
	r := &ports.StoredReview{RunID: "run", Key: target.Key(), RepoID: target.RepoID, HeadSHA: "aaa"}
	r.Review.Facts.Repository = pipeline.Repository{Owner: target.Owner, Name: target.Name}
	r.Review.Facts.Base.Ref = "main"
	r.Review.Facts.Author.Login = "alice"
	r.Review.Report.Decision = d
	return r
}

// settings is the shipped config with some settings from the repository.
func settings(t *testing.T, own string) *config.Config {
	t.Helper()
	cfg, problems := config.Load(config.Layer{Name: config.LayerRepository, Files: []config.File{{Path: config.FileSettings, Text: []byte(own)}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return cfg
}
