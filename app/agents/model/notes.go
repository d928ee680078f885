package model

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/policies/memory"
)

// notesContract says what notes are. It follows the contract in questions that have notes.
//
//go:embed contract-notes.md
var notesContract string

// The bounds of the notes in a question.
const (
	maxRecords     = 20      // of memory, for each service
	maxRecordBytes = 4 << 10 // the same
	maxRules       = 20      // for each service, whose mappings may have as many each
	// notesShare is the part of the room for the change that notes may take: a quarter of it.
	notesShare = 4
)

// What a note shows of a text, in characters.
const (
	maxRule      = 300 // as in the config's schema
	maxNoteName  = 100 // of a rule's id and of a category
	maxNoteTitle = maxTitle
	maxNoteGlobs = 200
)

// notes are what a question tells of the services of the files in it.
type notes struct {
	groups                 []noteGroup
	tokens                 int // what all of it takes, with what the instructions say of notes
	recordsLeft, rulesLeft int // how many did not fit
}

// noteGroup has the notes on one service, as lines.
type noteGroup struct {
	on                 string // "the service billing"
	rules, wrong, look []string
}

// packNoted is pack with the notes on what is shown. The room that they take is set aside before it
// is known which files fit. If nothing of the change fits beside them, they are left out.
func (a *Agent) packNoted(task dispatch.Task, seen *seen, words []words, room int) (*shown, error) {
	aside := 0
	if n := a.notes(task, seen.files, room/notesShare); n != nil {
		aside = n.tokens
	}
	out, err := a.pack(seen, words, room-aside)
	switch {
	case aside == 0:
		return out, err
	case err != nil:
		return a.pack(seen, words, room)
	}
	files := make([]*file, 0, len(out.parts))
	for _, p := range out.parts {
		files = append(files, p.file)
	}
	out.notesOn = a.notes(task, files, aside)
	return out, nil
}

// notes returns the notes on files, as many as fit into so many tokens. It returns nil if there are
// none.
func (a *Agent) notes(task dispatch.Task, files []*file, room int) *notes {
	none := a.Memory == nil || len(a.Memory.FalsePositives)+len(a.Memory.Recurring) == 0
	if none && a.ServiceRules == nil {
		return nil
	}
	known := &pipeline.Memory{}
	if a.Memory != nil {
		known = a.Memory
		if isStronger(task) {
			known = &pipeline.Memory{Recurring: known.Recurring}
		}
	}
	paths := make([]string, 0, len(files))
	for _, f := range files {
		paths = append(paths, f.path)
	}
	n := &notes{tokens: Tokens(notesContract) + 3*heading} // BEGIN, END, and what is left out
	for _, about := range memory.NotesOn(known, task.Classification.Services, paths) {
		a.addNotes(n, &about, room)
	}
	if len(n.groups) == 0 {
		return nil
	}
	return n
}

// isStronger reports whether the task's model is the stronger of several. It is not told of false
// positives: so one voice in the review is never talked out of what it sees.
func isStronger(task dispatch.Task) bool {
	models := task.Entry.Models
	return len(models) > 0 && task.Model == models[len(models)-1] && task.Model != models[0]
}

// addNotes adds the notes on one service.
func (a *Agent) addNotes(n *notes, about *memory.Notes, room int) {
	g := noteGroup{on: "files of no service"}
	var rules []string
	if about.Service != "" {
		g.on = "the service " + a.Redact(pathName(about.Service))
		if a.ServiceRules != nil {
			rules = a.ServiceRules(about.Service)
		}
	}
	add := func(list *[]string, line string) bool {
		cost := Tokens(line) + lineSign
		if len(*list) == 0 {
			cost += heading + Tokens(g.on)
		}
		if n.tokens+cost > room {
			return false
		}
		n.tokens += cost
		*list = append(*list, line)
		return true
	}
	for i, r := range rules {
		if i == maxRules || !add(&g.rules, a.noteText(r, maxRule)) {
			n.rulesLeft += len(rules) - i
			break
		}
	}
	// The two kinds take turns, so that many of one leave room for the other.
	bytes, told, fits := 0, 0, true
	record := func(list *[]string, line string) {
		if bytes += len(line); told == maxRecords || bytes > maxRecordBytes || !add(list, line) {
			fits = false
			return
		}
		told++
	}
	for i := 0; fits && i < max(len(about.FalsePositives), len(about.Recurring)); i++ {
		if i < len(about.FalsePositives) {
			record(&g.wrong, a.falsePositive(&about.FalsePositives[i]))
		}
		if fits && i < len(about.Recurring) {
			record(&g.look, a.recurring(&about.Recurring[i]))
		}
	}
	n.recordsLeft += len(about.FalsePositives) + len(about.Recurring) - told
	if len(g.rules)+told > 0 {
		n.groups = append(n.groups, g)
	}
}

// falsePositive is the line of a false positive: "M-12: TITLE (rule R); in files **/*.sql: REASON".
func (a *Agent) falsePositive(f *pipeline.FalsePositive) string {
	line := a.noteText(f.Record, maxNoteName) + ": " + a.noteText(f.Title, maxNoteTitle) + a.noteKind(f.Rule, f.Category)
	if len(f.Globs) > 0 {
		line += "; in files " + a.noteText(strings.Join(f.Globs, ", "), maxNoteGlobs)
	}
	// Two harmless texts may be a secret together, such as a title "api_key" and a reason.
	return a.Redact(line + ": " + a.noteText(f.Reason, pipeline.MaxMemoryReason))
}

// recurring returns the line about a recurring finding: "in at least 5 pull requests: TITLE (rule R)".
func (a *Agent) recurring(f *pipeline.RecurringFinding) string {
	return a.Redact(fmt.Sprintf("in at least %s: %s%s", count(f.Frequency, "pull request", "pull requests"),
		a.noteText(f.Title, maxNoteTitle), a.noteKind(f.Rule, f.Category)))
}

// noteKind names the rule or else the category that a record is about.
func (a *Agent) noteKind(rule, category string) string {
	switch {
	case rule != "":
		return " (rule " + a.noteText(rule, maxNoteName) + ")"
	case category != "":
		return " (" + a.noteText(category, maxNoteName) + ")"
	}
	return ""
}

// noteText is what people see of a text, on one line and without secrets.
func (a *Agent) noteText(s string, most int) string {
	return plaintext.Cut(a.Redact(plaintext.Line(prose(s))), most)
}

// notes writes the notes on services.
func (w *writer) notes(n *notes) {
	if n == nil {
		return
	}
	w.b.WriteString("\n")
	w.heading("BEGIN")
	for _, g := range n.groups {
		w.noteLines("rules of "+g.on, g.rules)
		w.noteLines("judged wrong here, in "+g.on, g.wrong)
		w.noteLines("look here first, in "+g.on, g.look)
	}
	if n.recordsLeft+n.rulesLeft > 0 {
		w.heading(fmt.Sprintf("left out of the notes for want of room: %s and %s",
			count(n.recordsLeft, "record", "records"), count(n.rulesLeft, "rule", "rules")))
	}
	w.heading("END")
}

func (w *writer) noteLines(heading string, lines []string) {
	if len(lines) == 0 {
		return
	}
	w.heading(heading + ":")
	for _, l := range lines {
		w.line(">", l)
	}
}
