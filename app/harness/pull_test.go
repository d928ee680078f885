package harness

import (
	"fmt"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// maxCommands is the number of commands for a pull request, below the limit of 20 answered
// commands an hour.
const maxCommands = 8

// pull is a pull request with its history, which determines the right answer.
type pull struct {
	*ghtest.PullRequest
	repo         *ghtest.Repo
	name, author string
	base         string
	agents       *agents // that work on it; nil in runs without agents
	title        int

	open     bool
	insecure bool // whether its content has a major finding
	pushes   int
	heads    []string
	// renewals counts the events that may each give a head another check run: a permitted
	// command, a re-run, and events that cancel or change the answer.
	renewals int
	commands []command
	groups   []*group
	asked    time.Time // when its review was last requested
	resumes  []int64   // comments that resume its session
	events   int       // of agents
	closes   int
	story    []string
}

type command struct {
	id        int64
	permitted bool
	closed    bool // whether the pull request was closed after it
}

type group struct {
	*ghtest.MergeGroup
	insecure, destroyed bool
	asked               time.Time
}

// ask records an event that requests a review. It must be called before the event, whose
// webhook is answered when the event's method returns.
func (p *pull) ask(format string, args ...any) {
	p.asked = time.Now()
	p.tell(format, args...)
}

// tell records any other event.
func (p *pull) tell(format string, args ...any) {
	p.story = append(p.story, clock(time.Now())+"  "+fmt.Sprintf(format, args...))
}

// lastAsked is the time when the answer on a head was last requested.
func (p *pull) lastAsked(head string) time.Time {
	for _, g := range p.groups {
		if g.HeadSHA == head {
			return g.asked
		}
	}
	return p.asked
}

func clock(t time.Time) string { return t.Local().Format("15:04:05.000") }

const body = "Orders are read from the warehouse, so that stock is never stale."

// files are the change's files, which differ from those of each earlier push.
func (p *pull) files() ghtest.Files {
	p.pushes++
	text := secure
	if p.insecure {
		text = insecure
	}
	return ghtest.Files{
		"store/" + p.name + ".go":      strings.ReplaceAll(text, "VERSION", fmt.Sprintf("%d of %s", p.pushes, p.name)),
		"store/" + p.name + "_test.go": "package store\n",
	}
}

// conclusion is the right conclusion of the check for a content.
func conclusion(insecure bool) string {
	if insecure {
		return "action_required"
	}
	return "success"
}

func (p *pull) begin(insecure bool) {
	p.open, p.insecure = true, insecure
	p.ask("opened by %s in %s, %s", p.author, p.repo.FullName(), conclusion(insecure))
	p.PullRequest = p.repo.OpenPR(ghtest.PR{Title: "feat: read stock from the warehouse", Body: body, Author: p.author, Head: p.name, Files: p.files()})
	p.heads = append(p.heads, p.HeadSHA())
}

func (p *pull) push(insecure bool) {
	p.insecure = insecure
	p.ask("pushed, %s", conclusion(insecure))
	p.moved(p.Push(p.files(), "feat: stock"))
}

func (p *pull) forcePush(insecure bool) {
	p.insecure = insecure
	p.ask("force-pushed, %s", conclusion(insecure))
	p.moved(p.ForcePush(p.files(), "feat: stock"))
}

func (p *pull) moved(head string) {
	p.heads = append(p.heads, head)
	p.story[len(p.story)-1] += fmt.Sprintf(" (head %.7s)", head)
}

// edit changes nothing that the review reads, so its answer stays the same.
func (p *pull) edit(bool) {
	p.title++
	title := fmt.Sprintf("feat: read stock from warehouse %d", p.title)
	p.ask("title edited")
	p.Edit(ghtest.Edit{Title: &title})
}

func (p *pull) retarget(bool) {
	p.base = map[string]string{"main": "release", "release": "main"}[p.base]
	p.renewals++
	p.ask("retargeted to %s", p.base)
	p.Edit(ghtest.Edit{Base: &p.base})
}

func (p *pull) command(login string, permitted bool) {
	if len(p.commands) == maxCommands {
		p.say()
		return
	}
	p.ask("/review by %s", login)
	if permitted {
		p.renews(1)
	}
	c := p.Comment(login, "Please have a look.\n/review\n")
	p.commands = append(p.commands, command{id: c.ID, permitted: permitted})
}

// renews records something that may give a head n more check runs. If there are reviewers, it may also
// begin a cycle, and their answers then give the head more.
func (p *pull) renews(n int) {
	if p.agents != nil {
		n += cycleRuns
	}
	p.renewals += n
}

// cycleRuns is how many check runs a cycle may give a head: when it begins, at a blocker, at the last
// answer or the deadline, and at a late answer of each of two reviewers.
const cycleRuns = 5

// speak has an agent report an event about the pull request.
func (p *pull) speak(twice bool) {
	if p.agents == nil {
		p.say()
		return
	}
	p.events++
	agent, kind := agentNames[p.events%len(agentNames)], eventKinds[p.events%len(eventKinds)]
	id := fmt.Sprintf("%s-%d", p.name, p.events)
	p.ask("%s reports %s, event %s", agent, kind, id)
	p.renews(1)
	p.renews(1) // for the fallback that may follow
	p.agents.speak(p, agent, id, kind, twice)
}

// resume is a person's /review resume.
func (p *pull) resume() {
	if p.agents == nil || len(p.resumes) == maxCommands {
		p.say()
		return
	}
	p.ask("/review resume by dave")
	p.renews(1)
	c := p.Comment("dave", "/review resume")
	p.resumes = append(p.resumes, c.ID)
}

func (p *pull) say() {
	p.tell("a comment that is not a command")
	p.Comment("alice", "Looks good.\n> /review\n")
}

func (p *pull) close() {
	p.open = false
	p.closes++
	p.renewals++ // its check may be cancelled
	for i := range p.commands {
		p.commands[i].closed = true
	}
	p.tell("closed")
	p.Close()
}

func (p *pull) reopen() {
	p.open = true
	p.ask("reopened")
	p.Reopen()
}

// rerequest presses "Re-run" below the newest check run, if there is one.
func (p *pull) rerequest() {
	runs := p.CheckRuns()
	if len(runs) == 0 {
		return
	}
	p.renewals++
	p.ask("check run %d: re-run", runs[len(runs)-1].ID)
	p.repo.Checks.Rerequest("alice", runs[len(runs)-1].ID)
}

// queue puts the pull request into the merge queue. Half of the groups are removed at once,
// as when the queue is rebuilt.
func (p *pull) queue(destroy bool) {
	p.tell("queued, destroyed at once: %v", destroy)
	g := &group{MergeGroup: p.repo.MergeGroup(p.PullRequest), insecure: p.insecure, destroyed: destroy, asked: time.Now()}
	p.groups = append(p.groups, g)
	p.story[len(p.story)-1] += fmt.Sprintf(" (head %.7s)", g.HeadSHA)
	if destroy {
		g.Destroy("dequeued")
	}
}

// again requests a review once more after it was given up: by a command, or by a re-run of a
// merge group's check.
func (p *pull) again(f fault) {
	p.renews(1)
	for _, g := range p.groups {
		if runs := g.CheckRuns(); f.head == g.HeadSHA && len(runs) > 0 {
			p.tell("merge group %.7s: re-run", f.head)
			p.repo.Checks.Rerequest("alice", runs[len(runs)-1].ID)
			return
		}
	}
	p.ask("/review by alice, after it was given up")
	c := p.Comment("alice", "/review")
	p.commands = append(p.commands, command{id: c.ID, permitted: true})
}

// insecure is a Go file with a major finding.
const insecure = `package store

import (
	"crypto/tls"
	"net/http"
)

// Client talks to the warehouse. Version VERSION.
func Client() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
}
`

// secure is the same file without the finding.
const secure = `package store

import "net/http"

// Client talks to the warehouse. Version VERSION.
func Client() *http.Client { return &http.Client{} }
`
