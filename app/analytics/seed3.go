package analytics

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// Describe returns what a finding of a review said, if the review of the run is still kept.
type Describe func(ctx context.Context, run, finding string) (string, bool)

// Seed3 writes review-analytics.json as agentic review workflows write it: one entry in reviews for
// each stage of each review, and a summary that counts these entries. The logs must be those of the
// summary s.
//
//   - feature is the repository, task the number of the pull request, and service the services that
//     the change touches, with commas between them.
//   - Keys such as haiku_verdict begin with the model's name in [a-z0-9_]. A second model of the same
//     name in these characters gets _2.
//   - A review without models has one entry, of the stage quality and the strategy rules. Its
//     confidence is null, and its auto_decision is human, because nothing was decided in a person's
//     place. Findings of deterministic agents are in the stage quality, too, with the category rules.
//     If models did not review that stage, it has an entry without models.
//   - A finding is in the entry of the review that had it first. Findings that were not shown are in
//     none. description is what the finding said, or its rule, or its category.
//   - severity is critical, important (our major), or minor (our warning and info), and resolution
//     the outcome in our words, such as fixed or merged_open.
//   - fix_iterations and final_verdict are those of the pull request's newest review. A person's
//     override or reject of that head decides the final verdict.
//   - human_override is what a person decided last about the head of the review.
func Seed3(ctx context.Context, w io.Writer, logs iter.Seq2[[]learning.Entry, error], s *Summary, describe Describe) error {
	x := seed3{w: w, since: s.Since, describe: describe, keys: map[string]string{}, taken: map[string]bool{"final": true}, services: map[string]int{}}
	for _, m := range slices.SortedFunc(slices.Values(s.models), func(a, b Row) int { return cmp.Compare(a.Name, b.Name) }) {
		x.key(m.Name)
	}
	x.write("{\n  \"reviews\": [")
	for log, err := range logs {
		if err != nil {
			return fmt.Errorf("read the logs of pull requests: %w", err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		h := learning.Replay(log)
		x.pull(ctx, &h)
	}
	if x.entries > 0 {
		x.write("\n  ")
	}
	x.write("],\n  \"summary\": ")
	x.indented(x.summary(s), "  ")
	x.write("\n}\n")
	return x.err
}

// seed3 writes the entries one by one.
type seed3 struct {
	w        io.Writer
	since    time.Time
	describe Describe
	err      error             // of the first write that failed
	keys     map[string]string // by model
	taken    map[string]bool   // keys

	entries, approved, rejected, human, iterations int
	services                                       map[string]int
}

func (x *seed3) write(s string) {
	if x.err == nil {
		if _, x.err = io.WriteString(x.w, s); x.err != nil {
			x.err = fmt.Errorf("write the reviews: %w", x.err)
		}
	}
}

// indented writes a value. All its lines but the first are indented.
func (x *seed3) indented(v any, by string) {
	text, err := render.Indented(v)
	if err != nil {
		x.err = cmp.Or(x.err, err)
		return
	}
	x.write(strings.ReplaceAll(strings.TrimSuffix(string(text), "\n"), "\n", "\n"+by))
}

// key returns what keys about a model begin with.
func (x *seed3) key(model string) string {
	if key, known := x.keys[model]; known {
		return key
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(model))
	name = cmp.Or(name, "model")
	key := name
	for n := 2; x.taken[key]; n++ {
		key = name + "_" + strconv.Itoa(n)
	}
	x.taken[key], x.keys[model] = true, key
	return key
}

// pull writes the entries of a pull request.
func (x *seed3) pull(ctx context.Context, h *learning.History) {
	for _, e := range h.Reviews {
		if e.At.Before(x.since) {
			continue
		}
		found := map[string][]*learning.Followed{} // by stage
		for i := range h.Findings {
			if f := &h.Findings[i]; f.FoundIn() == e.Review && counts(f) {
				stage := cmp.Or(f.Stage, pipeline.ReviewStageQuality)
				found[stage] = append(found[stage], f)
			}
		}
		stages := slices.Clone(e.Review.Stages)
		for _, name := range slices.Sorted(maps.Keys(found)) {
			if !slices.ContainsFunc(stages, func(s learning.Stage) bool { return s.Stage == name }) {
				stages = append(stages, learning.Stage{Stage: name})
			}
		}
		if len(stages) == 0 {
			stages = append(stages, learning.Stage{Stage: pipeline.ReviewStageQuality})
		}
		for i := range stages {
			x.entry(ctx, h, e, &stages[i], found[stages[i].Stage])
		}
	}
}

// object is a JSON object whose keys have an order.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, m := range o {
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, key...), ':'), value...)
	}
	return append(out, '}'), nil
}

// entry writes what one stage of a review said.
func (x *seed3) entry(ctx context.Context, h *learning.History, e *learning.Entry, s *learning.Stage, found []*learning.Followed) {
	r := e.Review
	newest := h.Reviews[len(h.Reviews)-1].Review
	models := pipeline.List[string]{}
	var verdicts, only object
	for _, m := range s.Models {
		models = append(models, m.Model)
		verdicts = append(verdicts, member{x.key(m.Model) + "_verdict", strings.ToLower(cmp.Or(string(m.Verdict), "none"))})
	}
	for _, m := range s.Only {
		only = append(only, member{x.key(m.Model) + "_only_count", m.Count})
	}
	var confidence *float64
	if r.AutoDecision != "" {
		confidence = &r.Confidence
	}
	out := object{
		{"date", e.At.UTC().Format("2006-01-02")}, {"feature", e.Repository}, {"task", e.Number}, {"service", strings.Join(r.Services, ", ")},
		{"strategy", cmp.Or(r.Strategy, "rules")}, {"models", models}, {"stage", s.Stage},
	}
	out = append(out, verdicts...)
	out = append(out, member{"agreed_count", s.Agreed})
	out = append(out, only...)
	out = append(out, object{
		{"contradiction_count", s.Contradictions}, {"confidence", confidence}, {"auto_decision", x.automatic(r.AutoDecision)}, {"human_override", said(h, r)},
		{"fix_iterations", newest.FixIterations}, {"final_verdict", final(h, newest)}, {"findings", x.findings(ctx, e, found)},
	}...)
	if x.entries > 0 {
		x.write(",")
	}
	x.write("\n    ")
	x.indented(out, "    ")
	x.entries++
	x.iterations += newest.FixIterations
	for _, name := range r.Services {
		x.services[name]++
	}
}

// automatic counts and names what was decided without a person.
func (x *seed3) automatic(d pipeline.AutoDecision) string {
	switch d {
	case pipeline.AutoApprove, pipeline.AutoApproveWithNotes:
		x.approved++
		return "auto_approve"
	case pipeline.AutoReject:
		x.rejected++
		return "auto_reject"
	}
	x.human++
	return "human"
}

// said returns what a person decided last about the head of a review, or nil.
func said(h *learning.History, r *learning.Review) (action *learning.Action) {
	for _, d := range h.Decisions {
		if d.Decided.HeadSHA == r.HeadSHA && d.Decided.BaseRef == r.BaseRef {
			action = &d.Decided.Action
		}
	}
	return action
}

// final returns the verdict on a pull request whose newest review is given.
func final(h *learning.History, newest *learning.Review) string {
	blocks := newest.Decision.Blocks()
	for _, d := range h.Decisions {
		if d.Decided.HeadSHA == newest.HeadSHA && d.Decided.BaseRef == newest.BaseRef {
			switch d.Decided.Action {
			case learning.Overrode:
				blocks = false
			case learning.Rejected:
				blocks = true
			}
		}
	}
	if blocks {
		return "fail"
	}
	return "pass"
}

// seedFinding is a finding in an entry.
type seedFinding struct {
	ID            string           `json:"id"`
	Description   string           `json:"description"`
	Severity      string           `json:"severity"`
	Category      string           `json:"category"`
	Resolution    learning.Outcome `json:"resolution"`
	FalsePositive bool             `json:"false_positive"`
}

func (x *seed3) findings(ctx context.Context, e *learning.Entry, found []*learning.Followed) (out pipeline.List[seedFinding]) {
	for _, f := range found {
		y := seedFinding{ID: f.ID, Severity: seedSeverity(f.Severity), Category: "rules", Resolution: f.Outcome, FalsePositive: f.FalsePositive()}
		switch models := byModel(f.ShownFirst.Models); len(models) { // as the counts of that review
		case 0:
		case 1:
			y.Category = x.key(models[0]) + "_only"
		default:
			y.Category = "agreed"
		}
		text, kept := "", false
		if x.describe != nil {
			text, kept = x.describe(ctx, e.Event, f.ID)
		}
		if y.Description = text; !kept {
			y.Description = cmp.Or(f.Rule, f.Category)
		}
		out = append(out, y)
	}
	return out
}

// byModel returns the models, each once.
func byModel(all []learning.Stated) (models []string) {
	for _, m := range all {
		if !slices.Contains(models, m.Model) {
			models = append(models, m.Model)
		}
	}
	return models
}

func seedSeverity(s pipeline.Severity) string {
	switch s {
	case pipeline.SeverityCritical:
		return "critical"
	case pipeline.SeverityMajor:
		return "important"
	}
	return "minor"
}

type seedAccuracy struct {
	TruePositive  int `json:"true_positive"`
	FalsePositive int `json:"false_positive"`
	Missed        int `json:"missed"`
}

type seedService struct {
	Reviews      int                   `json:"reviews"`
	CommonIssues pipeline.List[string] `json:"common_issues"`
}

// summary counts the entries that were written.
func (x *seed3) summary(s *Summary) object {
	var mean float64
	if x.entries > 0 {
		mean = float64(x.iterations) / float64(x.entries)
	}
	accuracy := map[string]seedAccuracy{}
	for i := range s.models {
		m := &s.models[i]
		accuracy[x.key(m.Name)] = seedAccuracy{m.Addressed(), m.Dismissals.FalsePositive, *m.Missed}
	}
	services := map[string]seedService{}
	for name, n := range x.services {
		services[name] = seedService{Reviews: n}
	}
	for _, service := range s.Services {
		y := services[service.Service]
		for _, i := range service.Issues {
			y.CommonIssues = append(y.CommonIssues, i.Name())
		}
		services[service.Service] = y
	}
	return object{
		{"total_reviews", x.entries}, {"auto_approved", x.approved}, {"auto_rejected", x.rejected}, {"human_decided", x.human},
		{"avg_fix_iterations", mean}, {"model_accuracy", accuracy}, {"by_service", services},
	}
}
