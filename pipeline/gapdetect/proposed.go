package gapdetect

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// Proposal is a gap that a language model claims. Every part of it is checked.
type Proposal struct {
	Concern string
	Path    string
	Quote   string // an added line of the file that shows the concern
	// Line is the line of the quote, which tells several places apart. It is 0 if it is not known.
	Line       int
	Missed     string // why the running agents may overlook it
	Agent      string // the agent that should look
	Confidence float64
}

// Bounds of what a model may propose.
const (
	maxProposed = 20  // entries of the log
	maxExamined = 100 // proposals that are checked
	maxConcern  = 80  // characters
	maxMissed   = 300 // characters
	minProof    = 6   // letters and digits of a quote: a brace proves nothing
)

// Proposed is the result of proposals, with counts of those that were dropped.
type Proposed struct {
	Manifest pipeline.AgentManifest
	Log      pipeline.List[pipeline.GapLogEntry] // what the signals found, then what was proposed

	All        int // all proposals
	Ungrounded int // the quote is in no added line of the named file
	Unknown    int // the agent is not one of [Detector.Agents]
	Unread     int // the concern or the reason is missing
	More       int // above the limit of the log
}

// Dropped is the number of proposals that were dropped.
func (p *Proposed) Dropped() int { return p.Ungrounded + p.Unknown + p.Unread + p.More }

// Note says which proposals were dropped, or is empty if none were.
func (p *Proposed) Note() string {
	if p.Dropped() == 0 {
		return ""
	}
	var why []string
	for _, n := range []struct {
		of   int
		what string
	}{
		{p.Ungrounded, "quoting what the change does not add there"},
		{p.Unknown, "naming no agent that can be sent"},
		{p.Unread, "without all that makes one"},
		{p.More, "beyond the first that count"},
	} {
		if n.of > 0 {
			why = append(why, fmt.Sprintf("%d %s", n.of, n.what))
		}
	}
	return fmt.Sprintf("%d of %d proposals dropped: %s", p.Dropped(), p.All, strings.Join(why, ", "))
}

// Agents are the agents that a proposal may name, in the config's order: those that read files
// themselves. Agents that only collect what others said about a change can't be sent to a file. The
// agents of the spec stage check whether the change does what it should, which does not depend on a
// line. If that stage fails, models' other findings are suppressed, and a model must not be able to
// cause that.
func (d *Detector) Agents() []config.Agent {
	var out []config.Agent
	for i := range d.config.Agents {
		if a := &d.config.Agents[i]; d.agents[a.ID] == a && sendable(a) {
			out = append(out, *a)
		}
	}
	return out
}

func sendable(a *config.Agent) bool {
	_, documents := a.Reviewer()
	return !documents && !a.KindOf().TakesIn && a.StageOf() != pipeline.ReviewStageSpec
}

// Propose adds what a model proposes to what the signals found. A proposal counts if its quote is
// in an added line of the named file and its agent is one of [Detector.Agents]. If the agent
// already looks at the file, the proposal is not a gap and is left out. Propose does not change the
// given manifest and log. The returned manifest has more agents and files, and never fewer.
func (d *Detector) Propose(facts *pipeline.PRFacts, manifest pipeline.AgentManifest, log []pipeline.GapLogEntry, model string, proposals []Proposal) Proposed {
	out := Proposed{Log: slices.Clone(log), All: len(proposals)}
	covered, missed := coveredBy(manifest), map[string][]string{}
	lines := newAddedLines(facts)
	for i := range proposals {
		if i == maxExamined {
			out.More += len(proposals) - i
			break
		}
		p := &proposals[i]
		line := d.check(p, lines, &out)
		if line == nil {
			continue
		}
		if covered[p.Agent].has(p.Path) || slices.Contains(missed[p.Agent], p.Path) {
			continue
		}
		if len(out.Log)-len(log) == maxProposed {
			out.More++
			continue
		}
		missed[p.Agent] = append(missed[p.Agent], p.Path)
		entry := p.entry(line, model)
		entry.Suggestion = config.AppendPatch(d.config.FileName(config.FileComposition), d.config.CompositionForm, dispatching([]string{p.Agent}, p.Path, "model"))
		out.Log = append(out.Log, entry)
	}
	out.Manifest = d.amend(manifest, missed)
	return out
}

// check returns the line of a proposal. If the proposal does not count, it counts it in out and
// returns nil.
func (d *Detector) check(p *Proposal, lines *addedLines, out *Proposed) *pipeline.Line {
	if words(p.Concern, maxConcern) == "" || words(p.Missed, maxMissed) == "" {
		out.Unread++
		return nil
	}
	if agent := d.agents[p.Agent]; agent == nil || !sendable(agent) {
		out.Unknown++
		return nil
	}
	line := lines.find(p)
	if line == nil {
		out.Ungrounded++
	}
	return line
}

// entry is the log entry of a proposal without the suggestion.
func (p *Proposal) entry(line *pipeline.Line, model string) pipeline.GapLogEntry {
	return pipeline.GapLogEntry{
		Concern:    words(p.Concern, maxConcern),
		Path:       p.Path,
		Line:       line.New,
		Quote:      strings.TrimSpace(plaintext.Bytes(strings.TrimSpace(line.Text), maxQuote)),
		Missed:     words(p.Missed, maxMissed),
		Agent:      p.Agent,
		Source:     model,
		Confidence: share(p.Confidence),
	}
}

// Logged are a model's proposals as recorded in a log, so that they can be made again without
// asking the model.
func Logged(log []pipeline.GapLogEntry, model string) (all []Proposal) {
	for _, g := range log {
		if g.Source == model && config.FileOf(g.Suggestion.File) == config.FileComposition {
			all = append(all, Proposal{
				Concern: g.Concern, Path: g.Path, Quote: g.Quote, Line: g.Line, Missed: g.Missed, Agent: g.Agent, Confidence: g.Confidence,
			})
		}
	}
	return all
}

// share limits a confidence to the range from 0 to 1. NaN becomes 0.
func share(c float64) float64 {
	if c != c {
		return 0
	}
	return min(max(c, 0), 1)
}

// addedLines are the lines that a change adds, read by file when needed.
type addedLines struct {
	files map[string]*pipeline.File
	read  map[string][]addedLine
}

// addedLine is an added line with its collapsed text for comparison.
type addedLine struct {
	*pipeline.Line
	text string
}

func newAddedLines(facts *pipeline.PRFacts) *addedLines {
	out := &addedLines{files: map[string]*pipeline.File{}, read: map[string][]addedLine{}}
	for i := range facts.Files {
		out.files[facts.Files[i].Path] = &facts.Files[i]
	}
	return out
}

// find returns the added line with a proposal's quote, or nil. Of several it returns the line that
// the proposal names, or else the first.
func (a *addedLines) find(p *Proposal) (found *pipeline.Line) {
	quote := plaintext.Line(p.Quote)
	if !proves(quote) {
		return nil
	}
	for _, l := range a.of(p.Path) {
		if !strings.Contains(l.text, quote) {
			continue
		}
		if found == nil || l.New == p.Line {
			found = l.Line
		}
	}
	return found
}

func (a *addedLines) of(path string) []addedLine {
	f, known := a.files[path], a.read[path]
	if f == nil || known != nil {
		return known
	}
	lines := []addedLine{}
	for i := range f.Hunks {
		for j := range f.Hunks[i].Lines {
			if l := &f.Hunks[i].Lines[j]; l.Op == pipeline.LineAdded {
				lines = append(lines, addedLine{l, plaintext.Line(l.Text)})
			}
		}
	}
	a.read[path] = lines
	return lines
}

// proves reports whether a quote is long enough to identify its line.
func proves(quote string) bool {
	n := 0
	for _, r := range quote {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' {
			n++
		}
	}
	return n >= minProof
}

// words is a model's text on one line, without invisible characters.
func words(s string, most int) string { return plaintext.Cut(plaintext.Printable(s), most) }

// dispatching is a policy that sends agents to a file, found by a signal or a model. Like a mapping it is
// a map. Its id differs from those of suggestions for other agents or files.
func dispatching(agents []string, path, foundBy string) map[string]any {
	sum := sha256.Sum256([]byte(strings.Join(agents, ",") + "\x00" + path))
	return map[string]any{
		"id":          "gap-" + hex.EncodeToString(sum[:6]),
		"description": "A file that " + inWords(agents) + " should look at, found by a " + foundBy + ".",
		"priority":    50,
		"trigger":     map[string]any{"type": "path", "globs": []string{fileGlob(path)}},
		"dispatch":    map[string]any{"agents": agents, "scope": "matched"},
	}
}
