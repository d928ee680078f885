package model

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// sessionContract explains the texts of a session. It follows the contract in questions with such texts.
//
//go:embed contract-session.md
var sessionContract string

// The bounds of a session's texts in a question.
const (
	maxSessionAgents = 20
	maxSessionNames  = 50 // files and areas, each
	// sessionShare limits these texts to a quarter of the room for the change.
	sessionShare = 4
)

// brief is what a question says about the session in which the agent reviews.
type brief struct {
	groups []noteLines
	tokens int // of all of it, with the contract
	left   int // texts that did not fit
}

// noteLines are lines under a heading.
type noteLines struct {
	heading string
	lines   []string
}

// packSession is packNoted with the brief on the session. It leaves the brief out if nothing of the
// change would fit beside it.
func (a *Agent) packSession(task dispatch.Task, seen *seen, words []words, room int) (*shown, error) {
	session := a.brief(room / sessionShare)
	if session == nil {
		return a.packNoted(task, seen, words, room)
	}
	out, err := a.packNoted(task, seen, words, room-session.tokens)
	if err != nil {
		return a.packNoted(task, seen, words, room)
	}
	out.session = session
	return out, nil
}

// brief returns what a question says about the session, as far as it fits into room tokens. It is nil if
// there is nothing to say.
func (a *Agent) brief(room int) *brief {
	c := a.Cycle
	if c == nil || len(c.Context)+len(c.Files)+len(c.FocusAreas) == 0 {
		return nil
	}
	b := &brief{tokens: Tokens(sessionContract) + 3*heading}
	add := func(title string, lines []string, most int) {
		g := noteLines{heading: title}
		cost := heading + Tokens(title)
		for i, l := range lines {
			cost += Tokens(l) + lineSign
			if i == most || b.tokens+cost > room {
				b.left += len(lines) - i
				break
			}
			g.lines = append(g.lines, l)
			b.tokens, cost = b.tokens+cost, 0
		}
		if len(g.lines) > 0 {
			b.groups = append(b.groups, g)
		}
	}
	add("asked to look at", a.told(c.FocusAreas), maxSessionNames)
	for i, s := range c.Context {
		if i == maxSessionAgents {
			b.left += len(c.Context) - i
			break
		}
		text := a.RedactBeside(prose(s.Text))
		add("summary by "+a.noteText(s.Agent, maxNoteName), strings.Split(strings.TrimSpace(text), "\n"), 1000)
	}
	add("files named", a.told(c.Files), maxSessionNames)
	if len(b.groups) == 0 {
		return nil
	}
	return b
}

// told returns short texts of agents as a question shows them.
func (a *Agent) told(texts []string) (out []string) {
	for _, t := range texts {
		out = append(out, plaintext.Cut(a.RedactBeside(plaintext.Line(prose(t))), maxNoteGlobs))
	}
	return out
}

// brief writes the brief on the session.
func (w *writer) brief(b *brief) {
	if b == nil {
		return
	}
	w.b.WriteString("\n")
	w.heading("BEGIN")
	for _, g := range b.groups {
		w.noteLines(g.heading, g.lines)
	}
	if b.left > 0 {
		w.heading(fmt.Sprintf("left out for want of room: %s", count(b.left, "text", "texts")))
	}
	w.heading("END")
}
