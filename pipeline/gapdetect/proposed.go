package gapdetect

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Proposal is a gap that a language model claims. Nothing of it is believed that
// is not checked.
type Proposal struct {
	Concern    string
	Path       string
	Quote      string // an added line of the file that shows the concern
	Missed     string // why the agents that run may overlook it
	Agent      string // that should look
	Confidence float64
}

// Bounds of what a model may propose.
const (
	maxProposed = 20  // entries of the log
	maxConcern  = 80  // characters
	maxMissed   = 300 // characters
	minProof    = 6   // letters and digits of a quote: a brace proves nothing
)

// Propose adds what a model proposes to what the signals found, and counts the
// proposals that are not borne out: those whose quote stands in no added line of
// the file that they name, and those that name no agent of the config. One for
// what the agent looks at anyway is no gap, and is left out.
func (d *Detector) Propose(facts *pipeline.PRFacts, manifest pipeline.AgentManifest, log []pipeline.GapLogEntry, model string, proposals []Proposal) (amended pipeline.AgentManifest, all []pipeline.GapLogEntry, dropped int) {
	files := map[string]*pipeline.File{}
	for i := range facts.Files {
		files[facts.Files[i].Path] = &facts.Files[i]
	}
	covered, missed := coveredBy(manifest), map[string][]string{}
	all = slices.Clone(log)
	form := d.config.CompositionForm
	for _, p := range proposals {
		line := addedLine(files[p.Path], p.Quote)
		if line == nil || d.agents[p.Agent] == nil {
			dropped++
			continue
		}
		if c := covered[p.Agent]; c.all || c.files[p.Path] || slices.Contains(missed[p.Agent], p.Path) {
			continue
		}
		if len(all)-len(log) == maxProposed {
			dropped++
			continue
		}
		missed[p.Agent] = append(missed[p.Agent], p.Path)
		all = append(all, pipeline.GapLogEntry{
			Concern:    words(p.Concern, maxConcern),
			Path:       p.Path,
			Line:       line.New,
			Quote:      cut(strings.TrimSpace(line.Text), maxQuote),
			Missed:     words(p.Missed, maxMissed),
			Suggestion: suggestion(config.FileComposition, form, dispatching(p.Agent, p.Path)),
			Agent:      p.Agent,
			Source:     model,
			Confidence: min(max(p.Confidence, 0), 1),
		})
		form = patched(form)
	}
	return d.amend(manifest, missed), all, dropped
}

// addedLine is the first added line that holds a quote, or nil. White space is
// not compared.
func addedLine(f *pipeline.File, quote string) *pipeline.Line {
	quote = strings.Join(strings.Fields(quote), " ")
	if f == nil || !proves(quote) {
		return nil
	}
	for i := range f.Hunks {
		for j := range f.Hunks[i].Lines {
			l := &f.Hunks[i].Lines[j]
			if l.Op == pipeline.LineAdded && strings.Contains(strings.Join(strings.Fields(l.Text), " "), quote) {
				return l
			}
		}
	}
	return nil
}

// proves reports whether a quote has enough to tell its line from others.
func proves(quote string) bool {
	n := 0
	for _, r := range quote {
		if r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r >= utf8.RuneSelf {
			n++
		}
	}
	return n >= minProof
}

// words is a model's text on one line.
func words(s string, most int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
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
