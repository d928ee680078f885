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
)

// Proposal is a gap that a language model claims. Nothing of it is believed that
// is not checked.
type Proposal struct {
	Concern string
	Path    string
	Quote   string // an added line of the file that shows the concern
	// Line is where the quote stands, of several places the one that is meant; 0
	// where it is not known.
	Line       int
	Missed     string // why the agents that run may overlook it
	Agent      string // that should look
	Confidence float64
}

// Bounds of what a model may propose.
const (
	maxProposed = 20  // entries of the log
	maxExamined = 100 // proposals that are looked at
	maxConcern  = 80  // characters
	maxMissed   = 300 // characters
	minProof    = 6   // letters and digits of a quote: a brace proves nothing
)

// Proposed is what proposals come to. Of all, those that are counted were dropped.
type Proposed struct {
	Manifest pipeline.AgentManifest
	Log      pipeline.List[pipeline.GapLogEntry] // what the signals found, then what was proposed

	All        int // proposals
	Ungrounded int // whose quote stands in no added line of the file that they name
	Unknown    int // that name no agent of [Detector.Agents]
	Unread     int // that don't say what the concern is, or what was missed
	More       int // beyond what is logged
}

// Dropped counts the proposals that don't count.
func (p *Proposed) Dropped() int { return p.Ungrounded + p.Unknown + p.Unread + p.More }

// Note says in words which proposals don't count, or is empty where all do.
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

// Agents are the agents that a proposal may name, in the config's order: those
// that look at files themselves. Those that take in what others said of a change
// can't be sent anywhere, and whether a change does what it should, which the spec
// stage looks at, is no concern of a line: where that stage fails, what models
// found otherwise is set aside, which is not for a model to bring about.
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
	return !documents && a.Kind != config.KindReport && a.Kind != config.KindCodeScanning && a.StageOf() != pipeline.StageSpec
}

// Propose adds what a model proposes to what the signals found. A proposal counts
// if its quote stands in an added line of the file that it names, and its agent is
// one of [Detector.Agents]. One for what the agent looks at anyway is no gap, and
// is left out. The manifest and the log that are given are not changed; in the
// manifest that is returned agents and files are added, and none are taken away.
func (d *Detector) Propose(facts *pipeline.PRFacts, manifest pipeline.AgentManifest, log []pipeline.GapLogEntry, model string, proposals []Proposal) Proposed {
	out := Proposed{Log: slices.Clone(log), All: len(proposals)}
	covered, missed := coveredBy(manifest), map[string][]string{}
	form := d.config.CompositionForm
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
		if c := covered[p.Agent]; c.all || c.files[p.Path] || slices.Contains(missed[p.Agent], p.Path) {
			continue
		}
		if len(out.Log)-len(log) == maxProposed {
			out.More++
			continue
		}
		missed[p.Agent] = append(missed[p.Agent], p.Path)
		entry := p.entry(line, model)
		entry.Suggestion = suggestion(config.FileComposition, form, dispatching(p.Agent, p.Path))
		out.Log = append(out.Log, entry)
		form = patched(form)
	}
	out.Manifest = d.amend(manifest, missed)
	return out
}

// check is the line on which a proposal stands. One that does not count is counted
// in out.
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

// entry is that of the log, but for the suggestion.
func (p *Proposal) entry(line *pipeline.Line, model string) pipeline.GapLogEntry {
	return pipeline.GapLogEntry{
		Concern:    words(p.Concern, maxConcern),
		Path:       p.Path,
		Line:       line.New,
		Quote:      strings.TrimSpace(cut(strings.TrimSpace(line.Text), maxQuote)),
		Missed:     words(p.Missed, maxMissed),
		Agent:      p.Agent,
		Source:     model,
		Confidence: share(p.Confidence),
	}
}

// Logged are a model's proposals as a log has them, so that they can be made again
// without asking it.
func Logged(log []pipeline.GapLogEntry, model string) (all []Proposal) {
	for _, g := range log {
		if g.Source == model && g.Suggestion.File == config.FileComposition {
			all = append(all, Proposal{
				Concern: g.Concern, Path: g.Path, Quote: g.Quote, Line: g.Line, Missed: g.Missed, Agent: g.Agent, Confidence: g.Confidence,
			})
		}
	}
	return all
}

// share is a confidence between 0 and 1, which what is not a number has none of.
func share(c float64) float64 {
	if c != c {
		return 0
	}
	return min(max(c, 0), 1)
}

// addedLines are the lines that a change adds, of each file that was asked for.
type addedLines struct {
	files map[string]*pipeline.File
	read  map[string][]addedLine
}

// addedLine is one with its white space collapsed, which is not compared.
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

// find is the added line that holds a proposal's quote, or nil: the one that it
// means, or else the first.
func (a *addedLines) find(p *Proposal) (found *pipeline.Line) {
	quote := strings.Join(strings.Fields(p.Quote), " ")
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
				lines = append(lines, addedLine{l, strings.Join(strings.Fields(l.Text), " ")})
			}
		}
	}
	a.read[path] = lines
	return lines
}

// proves reports whether a quote has enough to tell its line from others.
func proves(quote string) bool {
	n := 0
	for _, r := range quote {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' {
			n++
		}
	}
	return n >= minProof
}

// words is a model's text on one line, without characters that nobody sees.
func words(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsSpace(r) && !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// dispatching is a policy that sends an agent to a file. Like a mapping it is a
// map, and its id tells it from all others that are suggested.
func dispatching(agent, path string) map[string]any {
	sum := sha256.Sum256([]byte(agent + "\x00" + path))
	return map[string]any{
		"id":          "gap-" + hex.EncodeToString(sum[:6]),
		"description": "A file that " + agent + " should look at, found by a model.",
		"priority":    50,
		"trigger":     map[string]any{"type": "path", "globs": []string{fileGlob(path)}},
		"dispatch":    map[string]any{"agents": []string{agent}, "scope": "matched"},
	}
}
