package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/agents/model"
	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/app/llm/tape"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// agreement holds pairs of findings in the words of real reviews, and the answers of two
// language models that were asked about the pairs as the App asks.
const agreement = "../../testdata/agreement"

// wordedPair holds two findings at one place, and whether they name the same defect.
type wordedPair struct {
	Name      string
	Path      string
	Code      []string
	FirstLine int `json:"first_line"`
	A, B      pipeline.Finding
	Same      bool
	Why       string
	file      string
}

func wordedPairs(t testing.TB) []wordedPair {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(agreement, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no pairs: %v", err)
	}
	var all []wordedPair
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var pairs []wordedPair
		if err := json.Unmarshal(text, &pairs); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for i := range pairs {
			pairs[i].file = strings.TrimSuffix(filepath.Base(file), ".json")
		}
		all = append(all, pairs...)
	}
	return all
}

// input is the review of a change with these lines by two models. Each model made one of the
// findings.
func (p *wordedPair) input(cfg *config.Config) aggregate.Input {
	h := pipeline.Hunk{NewStart: p.FirstLine, NewLines: len(p.Code)}
	for i, l := range p.Code {
		h.Lines = append(h.Lines, pipeline.Line{Op: pipeline.LineAdded, New: p.FirstLine + i, Text: l})
	}
	facts := &pipeline.PRFacts{Files: []pipeline.File{{Path: p.Path, Status: pipeline.FileModified, Additions: len(p.Code), Hunks: []pipeline.Hunk{h}}}}
	in := aggregate.Input{Facts: facts, Config: cfg}
	for i, f := range []pipeline.Finding{p.A, p.B} {
		f.Path, f.Confidence = p.Path, 0.9
		in.Results = append(in.Results, pipeline.AgentResult{
			Agent: "quality-reviewer", Model: []string{"one", "other"}[i], Stage: pipeline.ReviewStageQuality, Status: pipeline.AgentOK,
			Output: pipeline.AgentOutput{Findings: pipeline.List[pipeline.Finding]{f}},
		})
	}
	return in
}

// agreed reports whether the report has one finding of both models.
func agreed(in aggregate.Input) bool {
	r := aggregate.Aggregate(in)
	return len(r.Findings) == 1 && len(r.Findings[0].FoundBy) == 2
}

// told holds the answers for pairs: whether they agree.
type told struct {
	who        string
	says       map[string]bool
	unanswered int
}

// score computes precision and recall of answers for pairs.
func (s told) score(pairs []wordedPair) (precision, recall ratio) {
	for _, p := range pairs {
		said := s.says[p.Name]
		if said {
			precision.add(p.Same)
		}
		if p.Same {
			recall.add(said)
		}
	}
	return precision, recall
}

// ratio is a share, with Wilson's 95 % interval.
type ratio struct{ hits, of int }

func (r *ratio) add(hit bool) {
	r.of++
	if hit {
		r.hits++
	}
}

func (r ratio) share() float64 { return float64(r.hits) / float64(max(1, r.of)) }

func (r ratio) String() string {
	if r.of == 0 {
		return "–"
	}
	m := wilson(r.hits, r.of)
	return fmt.Sprintf("%.2f (%d of %d, %.2f to %.2f)", m.Value, r.hits, r.of, m.Low, m.High)
}

// perQuestion is the number of pairs in one question: as many as in a review with some
// findings.
const perQuestion = 10

// askAbout asks a model about all pairs as a review does, and aggregates with its answers.
func askAbout(t testing.TB, cfg *config.Config, name string, m llm.Model, pairs []wordedPair) told {
	t.Helper()
	comparer := model.NewComparer(model.Options{
		Models: map[string]model.Endpoint{name: {Model: m, ModelEndpoint: config.ModelEndpoint{Name: name}}},
		Needs:  model.Needs{Redact: func(s string) string { return s }},
	})
	out := told{who: name, says: map[string]bool{}}
	for some := range slices.Chunk(pairs, perQuestion) {
		var asked []aggregate.Pair
		for i := range some {
			in := some[i].input(cfg)
			asked = append(asked, aggregate.Undecided(in, 1, func(*aggregate.Pair) bool { return true })...)
			out.says[some[i].Name] = agreed(in) // without a question
		}
		said, _, err := comparer.Compare(context.Background(), dispatch.Task{Entry: pipeline.ManifestEntry{Agent: pipeline.Matcher}, Model: name}, asked)
		var failed *model.Error
		if err != nil && !errors.As(err, &failed) {
			t.Fatal(err)
		} else if err != nil {
			out.unanswered += len(asked)
			continue
		}
		for i := range some {
			in := some[i].input(cfg)
			in.Results = append(in.Results, pipeline.AgentResult{Agent: pipeline.Matcher, Model: name, Status: pipeline.AgentOK, Comparisons: said})
			out.says[some[i].Name] = agreed(in)
		}
	}
	return out
}

// Findings of two models agree where they name the same defect. The words alone do not show
// that: different defects at one place are often described in the same words, and one defect
// in different words. Language models can tell, if they are asked as the App asks.
func TestAgreement(t *testing.T) {
	cfg, problems := config.Load()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	pairs := wordedPairs(t)
	words := told{who: "words alone", says: map[string]bool{}}
	for i := range pairs {
		words.says[pairs[i].Name] = agreed(pairs[i].input(cfg))
	}
	recorded, err := tape.Open(filepath.Join(agreement, "answers.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all := []told{words}
	for _, name := range []string{"model-1", "model-2"} {
		all = append(all, askAbout(t, cfg, name, recorded.Model(name, nil), pairs))
	}
	groups := []struct {
		what string
		of   func(wordedPair) bool
	}{
		{"all pairs", func(wordedPair) bool { return true }},
		{"one category", func(p wordedPair) bool { return p.A.Category == p.B.Category }},
		{"two categories", func(p wordedPair) bool { return p.A.Category != p.B.Category }},
	}
	for _, file := range []string{"pairs", "unseen"} {
		groups = append(groups, struct {
			what string
			of   func(wordedPair) bool
		}{file, func(p wordedPair) bool { return p.file == file }})
	}
	page, err := os.ReadFile("../../docs/eval.md")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, g := range groups {
		some := slices.DeleteFunc(slices.Clone(pairs), func(p wordedPair) bool { return !g.of(p) })
		if len(some) == 0 {
			continue
		}
		for _, s := range all {
			precision, recall := s.score(some)
			fmt.Fprintf(&b, "%-15s %3d pairs  %-12s precision %-32s recall %s\n", g.what, len(some), s.who, precision, recall)
			if s.who != words.who && (precision.share() < 0.95 || recall.share() < 0.85) && g.what == "all pairs" {
				t.Errorf("%s, asked about %s: precision %s, want 0.95; recall %s, want 0.85", s.who, g.what, precision, recall)
			}
			shown := g.what == "all pairs" || g.what == "unseen"
			if row := fmt.Sprintf("| %s | %s | %s | %s |", g.what, s.who, precision, recall); shown && !strings.Contains(string(page), row) {
				t.Errorf("docs/eval.md does not have the row %s", row)
			}
			if s.unanswered > 0 {
				t.Errorf("%s has no answers about %d pairs", s.who, s.unanswered)
			}
		}
	}
	t.Logf("do two findings at one place name one defect?\n%s", b.String())
	for _, p := range pairs {
		for _, s := range all[1:] {
			if s.says[p.Name] != p.Same {
				t.Logf("%s is wrong about %s, which is the same: %v (%s)", s.who, p.Name, p.Same, p.Why)
			}
		}
	}
}

// The table contains hard pairs: two defects of one category at one place, and one defect
// under two categories.
func TestAgreementTable(t *testing.T) {
	pairs := wordedPairs(t)
	count := func(of func(wordedPair) bool) (n int) {
		for _, p := range pairs {
			if of(p) {
				n++
			}
		}
		return n
	}
	names := map[string]bool{}
	for _, p := range pairs {
		if names[p.Name] {
			t.Errorf("two pairs have the name %s", p.Name)
		}
		names[p.Name] = true
		if !config.Specific(p.A.Category) || !config.Specific(p.B.Category) {
			t.Errorf("%s: %s", p.Name, cmp.Or(p.A.Category, p.B.Category))
		}
	}
	same := count(func(p wordedPair) bool { return p.Same })
	alike := count(func(p wordedPair) bool { return !p.Same && p.A.Category == p.B.Category })
	unlike := count(func(p wordedPair) bool { return p.Same && p.A.Category != p.B.Category })
	t.Logf("%d pairs, %d of one defect; %d of one category with two defects, %d of two categories with one", len(pairs), same, alike, unlike)
	if len(pairs) < 120 || 2*same < len(pairs)-2 || 2*same > len(pairs)+2 || alike < 30 || unlike < 20 {
		t.Errorf("want 120 pairs, half of them of one defect, 30 of one category with two and 20 of two with one")
	}
}
