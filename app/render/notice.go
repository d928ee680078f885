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

// Notice is a temporary message in the comment: the answer to a command, the reason
// why a command was refused, or that a review could not be completed. It is stored
// as text. Its words are chosen when the comment is rendered, beside the review that
// the comment then shows.
type Notice struct {
	Kind    NoticeKind    `json:"kind"`
	By      string        `json:"by,omitempty"`      // login of the command's sender
	Command commands.Name `json:"command,omitempty"` // the command that it is about
	Text    string        `json:"text,omitempty"`    // the word, name or sentence that it is about
	Wrong   string        `json:"wrong,omitempty"`   // see commands.Wrong, and the Takes constants
	Limit   int           `json:"limit,omitempty"`
	Names   []Named       `json:"names,omitempty"` // what could have been meant
	More    int           `json:"more,omitempty"`  // how many more there are
	Status  *Status       `json:"status,omitempty"`
	Memory  *MemoryAnswer `json:"memory,omitempty"`
	// Loop, Escalation and Pause say what was resumed, for NoticeResumed.
	Loop       bool                   `json:"loop,omitempty"`
	Escalation *pipeline.SessionPause `json:"escalation,omitempty"`
	Pause      *pipeline.SessionPause `json:"pause,omitempty"`
}

// NoticeKind is the kind of a notice.
type NoticeKind string

// The kinds of notice.
const (
	NoticeText         NoticeKind = "text"          // Text as it is
	NoticeNotCompleted NoticeKind = "not_completed" // the newest review was not completed; Text says why
	NoticeUnknown      NoticeKind = "unknown"       // no command has the name Text
	NoticeUsage        NoticeKind = "usage"         // Wrong says what is wrong, with Text
	NoticePermission   NoticeKind = "permission"    // By may not use the command; Wrong says what it requires
	NoticeRate         NoticeKind = "rate"          // Limit commands an hour
	NoticeNoAgent      NoticeKind = "no_agent"      // no agent has the name Text; Names are the existing agents
	NoticeNoFinding    NoticeKind = "no_finding"    // no finding's id begins with Text; Names are the existing findings
	NoticeAllRead      NoticeKind = "all_read"      // there is nothing unread to accept
	NoticeSeveral      NoticeKind = "several"       // Names are findings whose id begins with Text
	NoticeUndecided    NoticeKind = "unsaid"        // nobody dismissed or accepted the finding Text; Names are the findings that somebody did
	NoticeNoReview     NoticeKind = "no_review"     // there is no review yet
	NoticeHeadMoved    NoticeKind = "head_moved"    // the newest head has no review yet
	NoticeNotPaused    NoticeKind = "not_paused"
	NoticeResumed      NoticeKind = "resumed" // By resumed what Loop, Escalation and Pause say
	NoticeHelp         NoticeKind = "help"
	NoticeStatus       NoticeKind = "status"
	NoticeExplain      NoticeKind = "explain" // the agent or file Text, or all agents
	// NoticeReviewRefused and NoticeReviewStuck are about a review on GitHub. Wrong is
	// its verdict, and Text its head.
	NoticeReviewRefused NoticeKind = "review_refused"
	NoticeReviewStuck   NoticeKind = "review_stuck"
	NoticeMemory        NoticeKind = "memory"    // what became of a record of memory
	NoticeNoRecord      NoticeKind = "no_record" // no record has the name Text
	// NoticeBacktest has no words. It has the comment written again, with the backtest of a
	// proposed config.
	NoticeBacktest NoticeKind = "backtest"
)

// The requirements of a command, as values of Wrong for NoticePermission.
const (
	TakesAuthor        = "author"
	TakesWrite         = "write"
	TakesMaintain      = "maintain"
	TakesOwn           = "own"      // maintain, since it is the sender's own pull request
	TakesOther         = "other"    // not to be an author of the pull request
	TakesUnknownPusher = "unseen"   // maintain, since not every pusher is known
	TakesCritical      = "critical" // maintain, since the finding is critical
	TakesFinal         = "final"    // to be named under final_authority, since the finding is final
	TakesApprover      = "approver" // maintain, or to be named under memory.approvers
	TakesOtherApprover = "other approver"
	TakesOrganisation  = "organisation" // admin of the organisation's own repository
)

// Named is a finding, by its id and title, or an agent, by its id.
type Named struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
}

// MaxNamed is how many names a notice lists.
const MaxNamed = 10

// Status is the state of a pull request.
type Status struct {
	At        time.Time              `json:"at"`
	Decision  pipeline.Decision      `json:"decision,omitempty"` // of the newest review; empty before the first
	HeadSHA   string                 `json:"head_sha,omitempty"` // of that review
	Asked     string                 `json:"asked,omitempty"`    // the trigger of the review in progress, empty if there is none
	Since     time.Time              `json:"since"`              // when it was asked for
	Attempts  int                    `json:"attempts,omitempty"` // its failed attempts
	GaveUp    bool                   `json:"gave_up,omitempty"`  // the newest review could not be completed
	Decisions []FindingDecision      `json:"said,omitempty"`
	More      int                    `json:"more,omitempty"` // of these
	ByHand    *pipeline.HandDecision `json:"by_hand,omitempty"`
	Loop      *LoopStatus            `json:"fix_loop,omitempty"` // nil if there is nothing to report about it
	Session   *SessionStatus         `json:"session,omitempty"`  // nil without a session
	Lately    *Lately                `json:"lately,omitempty"`   // nil if there is nothing to report about it
	Left      int                    `json:"left"`               // commands this hour
	Limit     int                    `json:"limit"`              // commands an hour
}

// Lately is what analytics say of the repository's last days.
type Lately struct {
	Days         int `json:"days"`
	Reviews      int `json:"reviews"`
	PullRequests int `json:"pull_requests"`
	Blocked      int `json:"blocked"`   // reviews
	Overrides    int `json:"overrides"` // by people
	Shown        int `json:"shown"`     // findings; those below add up to it
	Fixed        int `json:"fixed"`
	Accepted     int `json:"accepted"`
	Dismissed    int `json:"dismissed"`
	Others       int `json:"others"`
	// FalsePositives counts the dismissed findings that were wrong.
	FalsePositives int    `json:"false_positives"`
	Blocking       Judged `json:"blocking"`
	Other          Judged `json:"not_blocking"`
}

// Judged is how often findings were right, by judged pull requests. The percentages are 0 unless
// enough were judged.
type Judged struct {
	Judged int  `json:"judged"`
	Shown  int  `json:"shown"` // pull requests with such a finding
	Enough bool `json:"enough"`
	Right  int  `json:"right_percent"`
	Low    int  `json:"low_percent"` // of the interval of 95 %
	High   int  `json:"high_percent"`
}

// LoopStatus is the state of the fix loop.
type LoopStatus struct {
	Status  fixloop.Status `json:"status"`
	Attempt int            `json:"attempt,omitempty"`
	Max     int            `json:"max,omitempty"`
	Turns   int            `json:"turns,omitempty"` // commits in the attempt
}

// FindingDecision is a person's decision about a finding.
type FindingDecision struct {
	Named
	Accepted bool   `json:"accepted,omitempty"` // else it was dismissed
	Class    string `json:"class,omitempty"`    // of a dismissal; see pipeline.Dismissal
	By       string `json:"by"`
	Reason   string `json:"reason,omitempty"`
}

// String returns the notice in its stored form.
func (n Notice) String() string {
	text, err := json.Marshal(n)
	if err != nil { // a time that JSON can't represent
		return string(n.Kind)
	}
	return string(text)
}

// parseNotice reads a stored notice. A text that is not JSON comes from a version
// without kinds.
func parseNotice(stored string) Notice {
	var n Notice
	if !strings.HasPrefix(stored, "{") || json.Unmarshal([]byte(stored), &n) != nil || n.Kind == "" {
		return Notice{Kind: NoticeText, Text: stored}
	}
	return n
}

// StillTrue lists the stored notices that remain true after another review.
func StillTrue(stored []string) []string {
	changing := []NoticeKind{NoticeStatus, NoticeNotCompleted, NoticeNoReview, NoticeUndecided}
	return slices.DeleteFunc(slices.Clone(stored), func(text string) bool { return slices.Contains(changing, parseNotice(text).Kind) })
}

// NewestNotCompleted returns a notice for a comment that shows an older review, because
// the newest could not be completed. what says why.
func NewestNotCompleted(what string) string {
	return Notice{Kind: NoticeNotCompleted, Text: what}.String()
}

// NoticeComment renders a comment that contains only notices, because there is no
// review yet.
func NoticeComment(stored []string) Document {
	none := &pipeline.Review{}
	p, k := markdownPen{}, newLinker(Links{}, &none.Facts)
	parts := []safe{say("md notices alone", nil)}
	for _, n := range (noticeWords{coverageWords{none, p}, newFindings(View{}, p, k)}).notices(stored) {
		parts = append(parts, say("md notice", n))
	}
	text := blocks(parts)
	return Document{Body: Marker + "\n" + string(text), Digest: digest(text)}
}

// noticeWords puts notices into words. An answer to a command may explain what a review covers.
type noticeWords struct {
	coverageWords
	fs *findings
}

func (s sections) noticeWords() noticeWords { return noticeWords{s.coverageWords(), s.fs} }

// wordedNotice is a notice in words.
type wordedNotice struct {
	Lead safe // a paragraph
	Help []helpLine
	List []safe
	Code safe // a block of code
}

// helpLine is a command in the help.
type helpLine struct {
	Usage safe
	Does  safe
	Who   safe
}

// The room for one notice's list, for all lists and for all leads, in bytes. Our own
// leads are far shorter.
const (
	roomNotice  = 8000
	roomNotices = 2 * roomNotice
	roomLeads   = 10_000
)

// notices puts the stored notices into words. The help appears once, below the last
// notice that has it. Only the newest status appears.
func (nw noticeWords) notices(stored []string) []wordedNotice {
	var all []Notice
	for _, text := range stored {
		n := parseNotice(text)
		if n.Kind == NoticeBacktest {
			continue
		}
		if n.Kind == NoticeStatus {
			all = slices.DeleteFunc(all, func(old Notice) bool { return old.Kind == NoticeStatus })
		}
		all = append(all, n)
	}
	room, leads, help := roomNotices, roomLeads, -1
	var out []wordedNotice
	for i, n := range all {
		worded := nw.notice(n, min(room, roomNotice))
		if leads -= len(worded.Lead); leads < 0 && i > 0 {
			last := &out[i-1]
			last.List = append(last.List, moreOf(len(all)-i))
			break
		}
		for _, line := range worded.List {
			room = max(0, room-len(line)-bullet)
		}
		room = max(0, room-len(worded.Code))
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

// notice puts a notice into words. Its list and code may take room bytes.
func (nw noticeWords) notice(n Notice, room int) wordedNotice {
	lead := struct {
		Kind           word
		By, Text, Name safe
		Command, Usage safe
		Wrong          word
		Limit          int
		Any            bool
		Resumed        resumed
	}{
		Kind: word(n.Kind), By: nw.p.text(n.By, maxName), Text: sentence(nw.p.para(n.Text, maxMessage)), Name: nw.p.code(n.Text, maxName),
		Wrong: word(n.Wrong), Limit: n.Limit, Any: len(n.Names) > 0,
	}
	if k := commandOf(n.Command); k != nil {
		usage := k.Usage()
		lead.Usage, lead.Command = nw.p.code(usage, maxName), nw.p.code(strings.TrimSpace(strings.TrimSuffix(usage, k.Follows)), maxName)
	}
	var out wordedNotice
	list := each(n.Names, func(m *Named) safe { return say("named", nw.named(*m)) })
	hidden := n.More
	switch n.Kind {
	case NoticeUnknown, NoticeHelp:
		out.Help = help(nw.p)
	case NoticeStatus:
		list, hidden = nw.status(n.Status), 0
	case NoticeMemory:
		out.Lead, list, hidden, out.Code = nw.memory(n.Memory)
	case NoticeResumed:
		lead.Resumed = nw.resumed(&n)
	case NoticeExplain:
		var known bool
		if list, known = nw.explained(n.Text); !known {
			lead.Kind = "explain nothing"
		}
	}
	if n.Kind != NoticeMemory {
		out.Lead = say("notice", lead)
	}
	if len(out.Code) > room {
		out.Code = ""
	}
	shown, more := list.take(room - len(out.Code))
	out.List = shown
	if hidden += more; hidden > 0 {
		out.List = append(out.List, moreOf(hidden))
	}
	return out
}

// commandOf returns the command with a name, or nil.
func commandOf(name commands.Name) *commands.Kind {
	for _, k := range commands.All() {
		if k.Name == name {
			return &k
		}
	}
	return nil
}

// CommandTable returns the help's table of commands in markdown.
func CommandTable() string {
	return string(say("md commands", help(markdownPen{})))
}

// help lists the commands.
func help(p pen) []helpLine {
	var out []helpLine
	for _, k := range commands.All() {
		out = append(out, helpLine{p.code(k.Usage(), maxName), say("does", word(k.Name)), say("who may", struct {
			Who                     int
			Own, Critical, Accepted bool
			Resumes                 bool
		}{int(k.Who), k.Own, k.Critical, k.Accepted, k.Name == commands.Resume})})
	}
	return out
}

type named struct{ ID, Title safe }

func (nw noticeWords) named(n Named) named {
	return named{nw.p.code(shortID(n.ID), maxName), nw.p.text(n.Title, maxTitle)}
}

// shortID shortens the ids of findings. It does not shorten agents' names.
func shortID(id string) string {
	if strings.Trim(id, "0123456789abcdef") == "" {
		return id[:min(8, len(id))]
	}
	return id
}

// status lists the state of the pull request.
func (nw noticeWords) status(st *Status) items {
	if st == nil {
		return items{}
	}
	var out []safe
	add := func(phrase string, data any) { out = append(out, say(phrase, data)) }
	add("status decision", struct {
		Decision word
		Head     safe
		GaveUp   bool
	}{decisionWord(st.Decision), nw.p.code(shortSHA(st.HeadSHA), maxName), st.GaveUp})
	add("status running", struct {
		Asked, Since safe
		Attempts     int
	}{nw.p.text(st.Asked, maxReason), nw.moment(st.Since), st.Attempts})
	if h := st.ByHand; h != nil {
		add("status by hand", struct {
			Override       bool
			By, Reason, At safe
		}{h.Action == pipeline.HandOverride, nw.p.text(h.By, maxName), sentence(nw.p.text(h.Reason, maxReason)), nw.moment(h.At)})
	}
	if l := st.Loop; l != nil {
		add("status loop", struct {
			Status              word
			Attempt, Max, Turns int
		}{word(l.Status), l.Attempt, l.Max, l.Turns})
	}
	if s := st.Session; s != nil {
		out = append(out, nw.sessionStatus(s)...)
	}
	for _, v := range st.Decisions {
		add("status finding", struct {
			named
			Accepted   bool
			Class      word
			By, Reason safe
		}{nw.named(v.Named), v.Accepted, word(v.Class), nw.p.text(v.By, maxName), sentence(nw.p.text(v.Reason, maxReason))})
	}
	if st.More > 0 {
		out = append(out, moreOf(st.More))
	}
	if l := st.Lately; l != nil {
		add("status reviews", *l)
		add("status findings", *l)
		add("status precision", *l)
	}
	add("status left", struct {
		Left, Limit int
		At          safe
	}{st.Left, st.Limit, nw.moment(st.At)})
	return listOf(out)
}

// moment formats a time from our own clock.
func (nw noticeWords) moment(t time.Time) safe {
	if t.IsZero() {
		return ""
	}
	return nw.p.text(t.UTC().Format("15:04:05 UTC on 2 January 2006"), maxName)
}
