package model

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/gapdetect"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// maxGaps bounds the entries of an answer that are looked at. The prompt asks for
// twenty.
const maxGaps = 100

// Characters of an entry's words that are kept to be checked.
const (
	maxGapConcern = 200
	maxGapMissed  = 1000
)

// gapSchema is that of the answer: proof and reasons come before the judgement, as
// in that of findings.
func gapSchema() llm.Schema { return llm.Schema{Name: "review_gaps", JSON: gapAnswer()} }

var gapAnswer = sync.OnceValue(func() json.RawMessage {
	text := func(about string) any { return map[string]any{"type": "string", "description": about} }
	return encoded(object{{"gaps", map[string]any{"type": "array", "items": object{
		{"path", text("The file, by its name in the change.")},
		{"quote", text("One added line of it, word for word.")},
		{"missed", text("What was missed, and why it needs a look, in one sentence.")},
		{"concern", text("Two or three words, lower case, with dashes.")},
		{"agent", text("The id of the reviewer to send.")},
		{"confidence", map[string]any{"type": "number", "description": "From 0 to 1."}},
	}}}})
})

// readGaps reads an answer. The error says why it can't be used.
func (a *Agent) readGaps(answer string, g gapGrounds) ([]gapdetect.Proposal, error) {
	list, err := entriesOf(answer, "gaps")
	if err != nil {
		return nil, err
	}
	unread := 0
	out := make([]gapdetect.Proposal, len(list))
	for i, n := range list {
		if i == maxGaps {
			break // the rest do not count as proposals, and are counted
		}
		f := jsontree.FieldsOf(n, "a gap")
		p := gapdetect.Proposal{
			Path: f.Needed("path"), Quote: f.Needed("quote"), Agent: strings.TrimSpace(f.Needed("agent")),
			Missed: a.line(f.Needed("missed"), maxGapMissed), Concern: a.line(f.Needed("concern"), maxGapConcern),
			Confidence: f.Share("confidence"),
		}
		if len(f.Wrong) > 0 {
			unread++
			continue
		}
		g.settle(&p)
		out[i] = p
	}
	if unread > 0 && unread == len(list) {
		return nil, fmt.Errorf("none of its %s has all that makes a gap", count(len(list), "entry", "entries"))
	}
	return out, nil
}

// gapGrounds are the lines that were shown as added, and what they are.
type gapGrounds struct {
	parts map[string]*part // by name
	texts map[string]map[int]string
}

func newGapGrounds(s *shown, facts *pipeline.PRFacts) gapGrounds {
	g := gapGrounds{parts: map[string]*part{}, texts: map[string]map[int]string{}}
	paths := map[string]bool{}
	for _, p := range s.parts {
		g.parts[p.name] = p
		paths[p.path] = true
	}
	for i := range facts.Files {
		f := &facts.Files[i]
		if !paths[f.Path] {
			continue
		}
		lines := map[int]string{}
		for j := range f.Hunks {
			for _, l := range f.Hunks[j].Lines {
				if l.Op == pipeline.LineAdded {
					lines[l.New] = l.Text
				}
			}
		}
		g.texts[f.Path] = lines
	}
	return g
}

// settle gives a proposal the path of the file that it names, and the added line
// that it quotes as that line is: what was shown of both may differ from what they
// are.
func (g gapGrounds) settle(p *gapdetect.Proposal) {
	shown := g.parts[strings.TrimPrefix(strings.TrimSpace(p.Path), "./")]
	if shown == nil {
		p.Quote = "" // of what was not shown nothing is proved
		return
	}
	p.Path = shown.path
	for _, quote := range readings(p.Quote) {
		for _, h := range shown.hunks {
			for _, l := range h.lines {
				if l.sign == '+' && strings.Contains(plaintext.Line(l.text), quote) {
					p.Quote, p.Line = g.texts[p.Path][l.number], l.number
					return
				}
			}
		}
	}
	p.Quote = ""
}
