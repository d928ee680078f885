package render

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/commands"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fixloop"
)

// Notice is what a comment says once, and no longer than a while: the answer to
// a command, why one was refused, or that a review could not be completed. It is
// kept as text, and worded when it is said, beside the review that the comment
// shows then.
type Notice struct {
	Kind    NoticeKind    `json:"kind"`
	By      string        `json:"by,omitempty"`      // login of who gave the command
	Command commands.Name `json:"command,omitempty"` // that it is about
	Text    string        `json:"text,omitempty"`    // word, name or sentence that it is about
	Wrong   string        `json:"wrong,omitempty"`   // see commands.Wrong, and the Takes constants
	Limit   int           `json:"limit,omitempty"`
	Names   []Named       `json:"names,omitempty"` // what could have been meant
	More    int           `json:"more,omitempty"`  // how many more there are
	Status  *Status       `json:"status,omitempty"`
}

// NoticeKind tells what a notice says.
type NoticeKind string

// The kinds of notice.
const (
	NoticeText         NoticeKind = "text"          // Text as it is
	NoticeNotCompleted NoticeKind = "not_completed" // the newest review was not; Text says why
	NoticeUnknown      NoticeKind = "unknown"       // no command of the name Text
	NoticeUsage        NoticeKind = "usage"         // Wrong, with Text
	NoticePermission   NoticeKind = "permission"    // By lacks what the command takes; Wrong says what that is
	NoticeRate         NoticeKind = "rate"          // Limit commands an hour
	NoticeNoAgent      NoticeKind = "no_agent"      // of the name Text; Names are the agents there are
	NoticeNoFinding    NoticeKind = "no_finding"    // whose id begins with Text; Names are those there are
	NoticeAllRead      NoticeKind = "all_read"      // there is nothing unread to accept
	NoticeSeveral      NoticeKind = "several"       // Names are findings whose id begins with Text
	NoticeUnsaid       NoticeKind = "unsaid"        // nobody dismissed or accepted the finding Text; Names are those that were
	NoticeNoReview     NoticeKind = "no_review"     // there is none yet to be about
	NoticeHeadMoved    NoticeKind = "head_moved"    // the newest head has no review yet
	NoticeNotPaused    NoticeKind = "not_paused"
	NoticeHelp         NoticeKind = "help"
	NoticeStatus       NoticeKind = "status"
	NoticeExplain      NoticeKind = "explain" // the agent or file Text, or all agents
	// NoticeReviewRefused and NoticeReviewStuck are of a review on GitHub, whose
	// verdict is Wrong and whose head Text.
	NoticeReviewRefused NoticeKind = "review_refused"
	NoticeReviewStuck   NoticeKind = "review_stuck"
)

// What a command takes, as Wrong of NoticePermission.
const (
	TakesAuthor   = "author"
	TakesWrite    = "write"
	TakesMaintain = "maintain"
	TakesOwn      = "own"      // maintain, since it is the sender's own pull request
	TakesOther    = "other"    // to be somebody else than the pull request's authors
	TakesUnseen   = "unseen"   // maintain, since it is not known who sent every push
	TakesCritical = "critical" // maintain, since the finding is critical
	TakesFinal    = "final"    // to be named under final_authority, since the finding is final
)

// Named is a finding, by its id and title, or an agent, by its id.
type Named struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
}

// MaxNamed is how many names a notice lists.
const MaxNamed = 10

// Status is where a pull request stands.
type Status struct {
	At       time.Time              `json:"at"`
	Decision pipeline.Decision      `json:"decision,omitempty"` // of the newest review, empty without any
	HeadSHA  string                 `json:"head_sha,omitempty"` // of that review
	Asked    string                 `json:"asked,omitempty"`    // what asked for the review that is under way, empty if none is
	Since    time.Time              `json:"since"`              // when it was asked for
	Attempts int                    `json:"attempts,omitempty"` // of it that failed
	GaveUp   bool                   `json:"gave_up,omitempty"`  // the newest review could not be completed
	Said     []SaidOf               `json:"said,omitempty"`
	More     int                    `json:"more,omitempty"` // of these
	ByHand   *pipeline.HandDecision `json:"by_hand,omitempty"`
	Loop     *LoopStatus            `json:"fix_loop,omitempty"` // nil where nothing is to be told of it
	Left     int                    `json:"left"`               // commands this hour
	Limit    int                    `json:"limit"`              // commands an hour
}

// LoopStatus is where the fix loop stands.
type LoopStatus struct {
	Status  fixloop.Status `json:"status"`
	Attempt int            `json:"attempt,omitempty"`
	Max     int            `json:"max,omitempty"`
	Turns   int            `json:"turns,omitempty"` // commits in the attempt
}

// SaidOf is what somebody said of a finding.
type SaidOf struct {
	Named
	Accepted bool   `json:"accepted,omitempty"` // else it was dismissed
	By       string `json:"by"`
	Reason   string `json:"reason,omitempty"`
}

// String is the notice as it is kept.
func (n Notice) String() string {
	text, err := json.Marshal(n)
	if err != nil { // a time that no clock shows
		return string(n.Kind)
	}
	return string(text)
}

// parseNotice reads a kept notice. What is none, from before there were kinds,
// is a text.
func parseNotice(kept string) Notice {
	var n Notice
	if !strings.HasPrefix(kept, "{") || json.Unmarshal([]byte(kept), &n) != nil || n.Kind == "" {
		return Notice{Kind: NoticeText, Text: kept}
	}
	return n
}

// StillTrue lists those of the kept notices that another review leaves true.
func StillTrue(kept []string) []string {
	changing := []NoticeKind{NoticeStatus, NoticeNotCompleted, NoticeNoReview, NoticeUnsaid}
	return slices.DeleteFunc(slices.Clone(kept), func(text string) bool { return slices.Contains(changing, parseNotice(text).Kind) })
}

// NewestNotCompleted is for a comment that shows an older review, since the
// newest could not be completed. What says why.
func NewestNotCompleted(what string) string {
	return Notice{Kind: NoticeNotCompleted, Text: what}.String()
}

// NoticeComment renders a comment with nothing but notices in it, where there is
// no review that they could stand beside.
func NoticeComment(kept []string) Document {
	none := &pipeline.Review{}
	p, k := markdownPen{}, newLinker(Links{}, &none.Facts)
	parts := []safe{say("md notices alone", nil)}
	for _, n := range (sections{none, p, k, newFindings(View{}, p, k), nil}).notices(kept) {
		parts = append(parts, say("md notice", n))
	}
	text := blocks(parts)
	return Document{Body: Marker + "\n" + string(text), Digest: digest(text)}
}

// noticed is a notice in words.
type noticed struct {
	Lead safe // a paragraph
	Help []helpLine
	List []safe
}

// helpLine is a command in the help.
type helpLine struct {
	Usage safe
	Does  safe
	Who   safe
}

// What a notice's list may take, and what all lists and all leads may, in bytes.
// Leads of ours are far shorter, as many as are kept.
const (
	roomNotice  = 8000
	roomNotices = 2 * roomNotice
	roomLeads   = 10_000
)

// notices words the notices that are kept. The help stands once, below the last
// that has it, and of where the pull request stands only the newest is told.
func (s sections) notices(kept []string) []noticed {
	var all []Notice
	for _, text := range kept {
		n := parseNotice(text)
		if n.Kind == NoticeStatus {
			all = slices.DeleteFunc(all, func(old Notice) bool { return old.Kind == NoticeStatus })
		}
		all = append(all, n)
	}
	room, leads, help := roomNotices, roomLeads, -1
	var out []noticed
	for i, n := range all {
		worded := s.notice(n, min(room, roomNotice))
		if leads -= len(worded.Lead); leads < 0 && i > 0 {
			last := &out[i-1]
			last.List = append(last.List, moreOf(len(all)-i))
			break
		}
		for _, line := range worded.List {
			room = max(0, room-len(line)-bullet)
		}
		if worded.Help != nil {
			if help >= 0 {
				out[help].Help = nil
			}
			help = i
		}
		out = append(out, worded)
	}
	return out
}

// notice words a notice, whose list may take so many bytes.
func (s sections) notice(n Notice, room int) noticed {
	lead := struct {
		Kind           word
		By, Text, Name safe
		Command, Usage safe
		Wrong          word
		Limit          int
		Any            bool
	}{
		Kind: word(n.Kind), By: s.p.text(n.By, maxName), Text: sentence(s.p.para(n.Text, maxMessage)), Name: s.p.code(n.Text, maxName),
		Wrong: word(n.Wrong), Limit: n.Limit, Any: len(n.Names) > 0,
	}
	if k := commandOf(n.Command); k != nil {
		usage := k.Usage()
		lead.Usage, lead.Command = s.p.code(usage, maxName), s.p.code(strings.TrimSpace(strings.TrimSuffix(usage, k.Follows)), maxName)
	}
	var out noticed
	list := each(n.Names, func(m *Named) safe { return say("named", s.named(*m)) })
	hidden := n.More
	switch n.Kind {
	case NoticeUnknown, NoticeHelp:
		out.Help = s.help()
	case NoticeStatus:
		list, hidden = s.status(n.Status), 0
	case NoticeExplain:
		var known bool
		if list, known = s.explained(n.Text); !known {
			lead.Kind = "explain nothing"
		}
	}
	out.Lead = say("notice", lead)
	shown, more := list.take(room)
	out.List = shown
	if hidden += more; hidden > 0 {
		out.List = append(out.List, moreOf(hidden))
	}
	return out
}

// commandOf is the command of a name, or nil.
func commandOf(name commands.Name) *commands.Kind {
	for _, k := range commands.All() {
		if k.Name == name {
			return &k
		}
	}
	return nil
}

// CommandTable is the table of the commands in markdown, as the help has it.
func CommandTable() string {
	s := sections{p: markdownPen{}}
	return string(say("md commands", s.help()))
}

func (s sections) help() []helpLine {
	var out []helpLine
	for _, k := range commands.All() {
		out = append(out, helpLine{s.p.code(k.Usage(), maxName), say("does", word(k.Name)), say("who may", struct {
			Who                     int
			Own, Critical, Accepted bool
		}{int(k.Who), k.Own, k.Critical, k.Accepted})})
	}
	return out
}

type named struct{ ID, Title safe }

func (s sections) named(n Named) named {
	return named{s.p.code(shortID(n.ID), maxName), s.p.text(n.Title, maxTitle)}
}

// shortID is how ids of findings are shown. Agents' names are left whole.
func shortID(id string) string {
	if strings.Trim(id, "0123456789abcdef") == "" {
		return id[:min(8, len(id))]
	}
	return id
}

// status lists where the pull request stands.
func (s sections) status(st *Status) items {
	if st == nil {
		return items{}
	}
	var out []safe
	add := func(phrase string, data any) { out = append(out, say(phrase, data)) }
	add("status decision", struct {
		Decision word
		Head     safe
		GaveUp   bool
	}{decisionWord(st.Decision), s.p.code(shortSHA(st.HeadSHA), maxName), st.GaveUp})
	add("status running", struct {
		Asked, Since safe
		Attempts     int
	}{s.p.text(st.Asked, maxReason), s.moment(st.Since), st.Attempts})
	if h := st.ByHand; h != nil {
		add("status by hand", struct {
			Override       bool
			By, Reason, At safe
		}{h.Action == pipeline.HandOverride, s.p.text(h.By, maxName), sentence(s.p.text(h.Reason, maxReason)), s.moment(h.At)})
	}
	if l := st.Loop; l != nil {
		add("status loop", struct {
			Status              word
			Attempt, Max, Turns int
		}{word(l.Status), l.Attempt, l.Max, l.Turns})
	}
	for _, v := range st.Said {
		add("status said", struct {
			named
			Accepted   bool
			By, Reason safe
		}{s.named(v.Named), v.Accepted, s.p.text(v.By, maxName), sentence(s.p.text(v.Reason, maxReason))})
	}
	if st.More > 0 {
		out = append(out, moreOf(st.More))
	}
	add("status left", struct {
		Left, Limit int
		At          safe
	}{st.Left, st.Limit, s.moment(st.At)})
	return listOf(out)
}

// moment is a time of ours.
func (s sections) moment(t time.Time) safe {
	if t.IsZero() {
		return ""
	}
	return s.p.text(t.UTC().Format("15:04:05 UTC on 2 January 2006"), maxName)
}
