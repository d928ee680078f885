package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/policies/glob"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// documentModel blocks each document, except those for which a test sets another answer.
type documentModel struct {
	each   time.Duration // duration of a question
	answer func(q llm.Question, times int) (llm.Answer, error)

	mu    sync.Mutex
	times map[string]int // number of questions, by document
	most  int            // at once
	now   int
}

func (m *documentModel) Ask(ctx context.Context, q llm.Question) (llm.Answer, error) {
	_, name, _ := strings.Cut(q.Text, " BEGIN\n")
	_, name, _ = strings.Cut(name, " document ")
	name, _, _ = strings.Cut(name, "\n")
	m.mu.Lock()
	if m.times == nil {
		m.times = map[string]int{}
	}
	m.times[name]++
	times := m.times[name]
	m.now++
	m.most = max(m.most, m.now)
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		m.now--
		m.mu.Unlock()
	}()
	select {
	case <-time.After(m.each):
	case <-ctx.Done():
		return llm.Answer{}, ctx.Err()
	}
	if m.answer != nil {
		if a, err := m.answer(q, times); a.Text != "" || err != nil {
			return a, err
		}
	}
	return llm.Answer{Text: reviewAnswer(map[string]any{"severity": "Critical"}, nil), Use: llm.Use{Input: 1000, Output: 100}}, nil
}

// manyDocuments are this many specifications that a change adds.
func manyDocuments(n int) (files []pipeline.File) {
	for i := range n {
		files = append(files, addedFile(numbered(i), fmt.Sprintf("# Spec %d\n", i)))
	}
	return files
}

func numbered(i int) string { return fmt.Sprintf("docs/01-planning/specifications/%02d/SPEC.md", i) }

// reviewedIn runs a task as a review does, within two minutes and with two more attempts.
func reviewedIn(t *testing.T, m llm.Model, task dispatch.Task, change ...func(*DocumentOptions)) pipeline.AgentResult {
	t.Helper()
	d := documentsOf(t, &scripted{}, reviewreport.AgentSpecReviewer, append(change, func(o *DocumentOptions) {
		o.Models = map[string]Endpoint{modelName: {Model: m, ModelEndpoint: config.ModelEndpoint{Name: modelName}}}
		o.Random = nil
	})...)
	task.Entry.Models = pipeline.List[string]{modelName}
	results, err := dispatch.Dispatch(t.Context(), pipeline.AgentManifest{Entries: pipeline.List[pipeline.ManifestEntry]{task.Entry}}, task.Facts, nil,
		map[string]dispatch.Agent{task.Entry.Agent: d},
		dispatch.Options{Concurrency: 4, Limits: func(string) dispatch.Limits { return dispatch.Limits{Timeout: 2 * time.Minute, Retries: 2} }})
	if err != nil || len(results) != 1 {
		t.Fatalf("%+v, %v", results, err)
	}
	return results[0]
}

// When a document is not reviewed, its reviewer does not finish. The other documents are not
// affected.
func TestUnreviewedDocuments(t *testing.T) {
	large := changed(specPath, "+x")
	down := func(q llm.Question, _ int) (llm.Answer, error) {
		if strings.Contains(q.Text, "# Spec 1\n") {
			return llm.Answer{}, &llm.Error{Kind: llm.Overloaded}
		}
		return llm.Answer{}, nil
	}
	for name, tt := range map[string]struct {
		files    []pipeline.File
		model    *documentModel
		status   pipeline.AgentStatus
		note     string
		reviewed int
	}{
		"more than the maximum": {
			manyDocuments(maxDocuments + 1), &documentModel{}, pipeline.AgentSkipped,
			"1 document was not reviewed: only the first 10 are: split the change (" + numbered(10) + ")", maxDocuments,
		},
		"many more than the maximum": {
			manyDocuments(maxDocuments + 5), &documentModel{}, pipeline.AgentSkipped,
			"5 documents were not reviewed: only the first 10 are: split the change (" + strings.Join([]string{numbered(10), numbered(11), numbered(12)}, ", ") + " and 2 more)", maxDocuments,
		},
		"one is too large": {
			append(manyDocuments(1), large), &documentModel{}, pipeline.AgentSkipped, specPath + " was not reviewed: it has more than 4 MiB: split it", 1,
		},
		"one is not there":      {append(manyDocuments(1), changed("docs/GONE.md", "+x")), &documentModel{}, pipeline.AgentFailed, "docs/GONE.md: read the document: the file does not exist", 1},
		"one is malformed":      {manyDocuments(3), &documentModel{answer: only("# Spec 1\n", "I can't help with that.")}, pipeline.AgentMalformed, numbered(1) + ": line 1: this is not JSON", 2},
		"one gets no answer":    {manyDocuments(3), &documentModel{answer: down}, pipeline.AgentFailed, numbered(1) + ": the model's API is overloaded", 2},
		"one panics":            {manyDocuments(3), &documentModel{answer: panicsOn("# Spec 1\n")}, pipeline.AgentFailed, "an internal error stopped it", 2},
		"the last are too late": {manyDocuments(10), &documentModel{each: 50 * time.Second}, pipeline.AgentTimedOut, "no answer within 2m0s: " + numbered(8) + ": timed out", 8},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := reviewedIn(t, tt.model, documentTask(tt.files...), func(o *DocumentOptions) {
					o.Files = texts{specPath: strings.Repeat("A requirement.\n", MaxDocument/10)}
				})
				if r.Status != tt.status || !strings.HasPrefix(r.Note, tt.note) {
					t.Errorf("%s: %s", r.Status, r.Note)
				}
				blocks := 0
				for _, f := range r.Output.Findings {
					if f.Category == reviewreport.CategoryOutcome {
						blocks++
					}
				}
				if blocks != tt.reviewed || len(r.Documents) != tt.reviewed {
					t.Errorf("%d of %d block, reviewed %+v", blocks, tt.reviewed, r.Documents)
				}
				for doc, n := range tt.model.times {
					if n > 1 && !strings.Contains(tt.note, doc) {
						t.Errorf("%s: %d questions", doc, n)
					}
				}
			})
		})
	}
}

func only(text, answer string) func(llm.Question, int) (llm.Answer, error) {
	return func(q llm.Question, _ int) (llm.Answer, error) {
		if strings.Contains(q.Text, text) {
			return llm.Answer{Text: answer}, nil
		}
		return llm.Answer{}, nil
	}
}

func panicsOn(text string) func(llm.Question, int) (llm.Answer, error) {
	return func(q llm.Question, _ int) (llm.Answer, error) {
		if strings.Contains(q.Text, text) {
			panic("secret detail")
		}
		return llm.Answer{}, nil
	}
}

// A few documents are reviewed in parallel. Another attempt only asks about documents without
// a review.
func TestParallelDocuments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &documentModel{each: 50 * time.Second, answer: func(q llm.Question, times int) (llm.Answer, error) {
			if strings.Contains(q.Text, "# Spec 0\n") && times == 1 {
				return llm.Answer{}, &llm.Error{Kind: llm.Overloaded}
			}
			return llm.Answer{}, nil
		}}
		r := reviewedIn(t, m, documentTask(manyDocuments(documentsAtOnce)...))
		if r.Status != pipeline.AgentOK || len(r.Documents) != documentsAtOnce || m.most != documentsAtOnce {
			t.Errorf("%s: %s, %d reviewed, %d in parallel", r.Status, r.Note, len(r.Documents), m.most)
		}
		if m.times[numbered(0)] != 2 || m.times[numbered(1)] != 1 {
			t.Errorf("asked %v", m.times)
		}
	})
}

// Parallel questions stay within the agent's limit. A question that does not fit beside
// others is asked after them.
func TestParallelDocumentsStayWithinTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &documentModel{each: time.Second}
		r := reviewedIn(t, m, documentTask(manyDocuments(3)...), func(o *DocumentOptions) { o.Tokens = 16_000 })
		if r.Status != pipeline.AgentOK || m.most != 1 || len(r.Documents) != 3 {
			t.Errorf("%s: %s, %d in parallel", r.Status, r.Note, m.most)
		}
	})
}

// A document is text, whatever bytes it contains.
func TestDocumentInAnotherEncoding(t *testing.T) {
	m := &scripted{answer: reviewAnswer(map[string]any{"severity": "Critical"}, nil)}
	d := documentsOf(t, m, reviewreport.AgentSpecReviewer, func(o *DocumentOptions) { o.Files = texts{specPath: "# Stock\n\nFast.\n\xff"} })
	answer, err := d.Review(t.Context(), documentTask(changed(specPath, "+Fast.")))
	if err != nil || answer.Note != "" || len(m.asked) != 1 || len(answer.Output.Findings) != 2 || !strings.Contains(m.asked[0].Text, "Fast.") {
		t.Errorf("%v, note %q, %d questions, %d findings", err, answer.Note, len(m.asked), len(answer.Output.Findings))
	}
}

// A document whose whole text can't be read is not reviewed.
func TestDocumentWithoutText(t *testing.T) {
	m := &scripted{}
	_, err := documentsOf(t, m, reviewreport.AgentSpecReviewer).Review(t.Context(), documentTask(changed(specPath, "+Fast.")))
	var skipped *dispatch.SkippedError
	if !errors.As(err, &skipped) || !strings.HasPrefix(skipped.Why, specPath+" was not reviewed: ") || len(m.asked) > 0 {
		t.Error(err)
	}
}

// A report replaces the model's review only if an agent of this review judges the report, in
// the reviewer's phase.
func TestUnjudgedReports(t *testing.T) {
	globs, err := glob.Compile([]string{"docs/**/*-report.md"})
	if err != nil {
		t.Fatal(err)
	}
	in := func(phase string, scope pipeline.AgentScope) []Reports { return []Reports{{phase, globs, scope}} }
	for name, tt := range map[string]struct {
		reports []Reports
		stands  bool
	}{
		"judged":                {in(pipeline.PhaseSpec, pipeline.AgentScope{All: true}), true},
		"in the agent's files":  {in(pipeline.PhaseSpec, pipeline.AgentScope{Files: pipeline.List[string]{reportPath}}), true},
		"none is judged":        {nil, false},
		"in other files":        {in(pipeline.PhaseSpec, pipeline.AgentScope{Files: pipeline.List[string]{specPath}}), false},
		"in the phase of plans": {in(pipeline.PhasePlan, pipeline.AgentScope{All: true}), false},
	} {
		m := &scripted{}
		task := documentTask(addedFile(specPath, "# Stock\n"), addedFile(reportPath, reportOf("spec-reviewer")))
		task.Entry.Scope = pipeline.AgentScope{Files: pipeline.List[string]{specPath}}
		answer, err := documentsOf(t, m, reviewreport.AgentSpecReviewer, func(o *DocumentOptions) { o.Reports = tt.reports }).Review(t.Context(), task)
		want := pipeline.DocumentReview{Path: specPath}
		if tt.stands {
			want.Report = reportPath
		}
		if err != nil || (len(m.asked) == 0) != tt.stands || !slices.Equal(answer.Output.Documents, pipeline.List[pipeline.DocumentReview]{want}) {
			t.Errorf("%s: %v, %d questions, %+v", name, err, len(m.asked), answer.Output.Documents)
		}
	}
}

// The enabled agents in the config's manifest are the ones that judge reports.
func TestReportsOfAConfig(t *testing.T) {
	cfg, problems := config.Load()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	m := &pipeline.AgentManifest{Entries: pipeline.List[pipeline.ManifestEntry]{{Agent: "review-reports", Scope: pipeline.AgentScope{All: true}}}}
	for name, tt := range map[string]struct {
		manifest *pipeline.AgentManifest
		phases   int
	}{"dispatched": {m, 2}, "not dispatched": {&pipeline.AgentManifest{}, 0}, "no manifest": {nil, 0}} {
		if list, err := reportsOf(cfg, tt.manifest); err != nil || len(list) != tt.phases {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
	}
}

// counting counts the reads of each file.
type counting struct {
	texts
	mu   sync.Mutex
	read map[string]int
}

func (c *counting) File(ctx context.Context, commit, path string, most int64) ([]byte, error) {
	c.mu.Lock()
	c.read[path]++
	c.mu.Unlock()
	return c.texts.File(ctx, commit, path, most)
}

// However many models are asked, and however often, each file is read once.
func TestFilesAreReadOnce(t *testing.T) {
	files := &counting{texts: texts{specPath: "# Stock\n", reportPath: reportOf("technical-pm")}, read: map[string]int{}}
	d := documentsOf(t, &scripted{}, reviewreport.AgentSpecReviewer, func(o *DocumentOptions) { o.Files, o.Random = files, nil })
	task := documentTask(changed(specPath, "+# Stock"), changed(reportPath, "+x"))
	var wg sync.WaitGroup
	for run := range 3 {
		wg.Go(func() {
			again := task
			again.Run = run
			if _, err := d.Review(t.Context(), again); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if files.read[specPath] != 1 || files.read[reportPath] != 1 {
		t.Errorf("read %v", files.read)
	}
}

// Thresholds are settings, so the instructions name no numbers for them.
func TestInstructionsNameNoThreshold(t *testing.T) {
	cfg, problems := config.Load()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	texts := []string{contractReport}
	for i := range cfg.Agents {
		if _, reviews := cfg.Agents[i].Reviewer(); reviews {
			prompt, _ := cfg.Prompt(&cfg.Agents[i])
			texts = append(texts, prompt.Text)
		}
	}
	for _, text := range texts {
		if at := strings.Index(strings.ToLower(text), "below 0"); at >= 0 {
			t.Errorf("the instructions contain %q", text[at:at+20])
		}
	}
	if len(texts) != 4 {
		t.Errorf("%d texts", len(texts))
	}
}
