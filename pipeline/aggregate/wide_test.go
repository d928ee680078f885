package aggregate

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies/models"
)

// trial holds everything that a review is made from: agents' findings and statuses, people's
// earlier decisions, and the settings.
type trial struct {
	outputs  outputs
	ends     map[reviewer]pipeline.AgentStatus // a reviewer without an entry has status ok
	memory   pipeline.Memory
	previous *pipeline.PreviousReport
	change   func(*Input)
}

func (tr trial) input() Input {
	in := panel(tr.outputs)
	in.Facts.Files[1] = file("b.go", "one", "two // reviewgate:ignore r1 known", "two", "two")
	in.Facts.Files = append(in.Facts.Files,
		pipeline.File{Path: "new.go", PreviousPath: "old.go", Status: pipeline.FileRenamed},
		pipeline.File{Path: "gone.go", Status: pipeline.FileRemoved})
	tr.change(&in)
	for i := range in.Results {
		r := &in.Results[i]
		if s := tr.ends[reviewer{r.Agent, r.Model, r.Stage}]; s != "" {
			r.Status = s
		}
	}
	in.Memory, in.Previous = tr.memory, tr.previous
	return in
}

// drawWide is a finding like those of drawFinding, with more fields set.
func drawWide(t *rapid.T) pipeline.Finding {
	f := drawFinding(t)
	if rapid.Bool().Draw(t, "plain") {
		return f
	}
	f.Title = rapid.SampledFrom([]string{f.Title, "==", "!=", "Trade-off: T", "T impossible"}).Draw(t, "odd title")
	f.Path = rapid.SampledFrom([]string{f.Path, "new.go", "gone.go", "b.go"}).Draw(t, "odd path")
	f.Recommendation = rapid.SampledFrom([]string{"", "Remove it.", "Keep it.", "Add a test.", "Delete the file."}).Draw(t, "recommendation")
	f.Evidence = rapid.SampledFrom([]pipeline.List[string]{nil, {"three"}, {"three", "nowhere"}}).Draw(t, "evidence")
	f.FindingType = rapid.SampledFrom([]pipeline.FindingType{"", "omission"}).Draw(t, "type")
	if f.Path != "" && rapid.Bool().Draw(t, "section too") {
		f.Section = rapid.SampledFrom([]string{"title", "?"}).Draw(t, "odd section")
	}
	return f
}

func drawnWide(t *rapid.T, most int) outputs {
	o := outputs{}
	for range rapid.IntRange(0, most).Draw(t, "n") {
		r := rapid.SampledFrom(staff).Draw(t, "reviewer")
		o[r] = append(o[r], drawWide(t))
	}
	return o
}

func drawTrial(t *rapid.T, most int) trial {
	blocking := rapid.SampledFrom([]string{models.BlockingAgreed, models.BlockingGrounded}).Draw(t, "blocking")
	hold := rapid.SampledFrom([]string{models.HoldCritical, models.HoldNever, models.HoldAlways}).Draw(t, "hold")
	ignore := rapid.SampledFrom([]string{config.IgnoreNone, "", config.IgnoreAll}).Draw(t, "ignore")
	tr := trial{outputs: drawnWide(t, most), ends: map[reviewer]pipeline.AgentStatus{}, change: func(in *Input) {
		in.Config.Settings.Models.Blocking, in.Config.Settings.Models.HoldForPerson = blocking, hold
		in.Config.Settings.Synthesis.InlineIgnore = ignore
		in.Config.Settings.Synthesis.JudgementCategories = []string{"scope"}
	}}
	for _, r := range staff {
		if rapid.IntRange(0, 5).Draw(t, "ends") == 0 {
			tr.ends[r] = rapid.SampledFrom([]pipeline.AgentStatus{pipeline.AgentFailed, pipeline.AgentDiscarded, pipeline.AgentTimedOut}).Draw(t, "status")
		}
	}
	if rapid.Bool().Draw(t, "history") {
		before := trial{outputs: drawnWide(t, most), change: tr.change}
		for _, r := range staff { // much of the trial was in the last review
			f := tr.outputs[r]
			before.outputs[r] = append(before.outputs[r], f[:rapid.IntRange(0, len(f)).Draw(t, "before")]...)
		}
		second := before
		second.outputs = drawnWide(t, most)
		second.previous = previous(Aggregate(before.input()))
		tr.previous = previous(Aggregate(second.input()))
	}
	return tr
}

// dismiss makes people dismiss some of the trial's findings, and mark others as false positives.
func (tr *trial) dismiss(t *rapid.T) {
	for _, f := range Aggregate(tr.input()).Findings {
		if rapid.IntRange(0, 3).Draw(t, "dismissed") > 0 {
			continue
		}
		override := rapid.Bool().Draw(t, "override")
		for _, id := range f.Fingerprints {
			tr.memory.Dismissed = append(tr.memory.Dismissed, pipeline.Dismissal{Fingerprint: id, Path: f.Path, Reason: "no", By: "ann", Override: override})
		}
	}
	if rapid.Bool().Draw(t, "known false") {
		tr.memory.FalsePositives = drawFalsePositives(t)
	}
}

func TestWideOrderDoesNotMatter(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		tr := drawTrial(t, 10)
		tr.dismiss(t)
		want := encoded(t, Aggregate(tr.input()))
		for _, r := range staff {
			findings := tr.outputs[r]
			if findings == nil {
				continue
			}
			tr.outputs[r] = rapid.Permutation(findings).Draw(t, "findings")
		}
		in := tr.input()
		in.Results = rapid.Permutation(in.Results).Draw(t, "results")
		before, _ := json.Marshal(in)
		if got := encoded(t, Aggregate(in)); got != want {
			t.Errorf("the order of the input changes the report:\n%s\n%s", want, got)
		}
		if after, _ := json.Marshal(in); string(before) != string(after) {
			t.Errorf("input changed:\n%s\n%s", before, after)
		}
	})
}

// Every finding of the agents and of the last report is accounted for, with any statuses and any
// earlier decisions.
func TestWideEveryFindingIsAccountedFor(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		tr := drawTrial(t, 12)
		tr.dismiss(t)
		w := withMemory(newWork(tr.input()), func(*work) {})
		r := w.report
		if err := config.ValidateData("review-report", []byte(encoded(t, r))); err != nil {
			t.Error(err)
		}
		came, out := 0, w.folded+len(r.Suppressed)
		for _, f := range tr.outputs {
			came += len(f)
		}
		for _, f := range slices.Concat(w.findings, w.residuals) {
			for _, m := range f.each() {
				if !m.unraised {
					out++
				}
			}
		}
		for _, s := range r.Suppressed {
			if s.Finding.HasReason(pipeline.ReasonNotRaised) {
				out-- // its agent did not report it this time
			}
		}
		attributed := 0
		for _, c := range r.Coverage {
			out += c.Dropped
			attributed += c.Findings
			if c.Findings != c.Auto+c.Present {
				t.Errorf("coverage %+v does not add up", c)
			}
		}
		if came != out {
			t.Errorf("%d findings, %d are accounted for", came, out)
		}
		if n := len(r.Findings); attributed != n || r.Counts.Total() != n || r.Changes.New+r.Changes.Open != n {
			t.Errorf("%d findings: coverage has %d, counts %d, new and open are %d and %d", n, attributed, r.Counts.Total(), r.Changes.New, r.Changes.Open)
		}
		checkHistory(t, tr.previous, &r)
	})
}

// checkHistory fails unless each finding of the last report is in exactly one place: in this
// report, resolved or unconfirmed. It also fails if a fixed finding is in this report.
func checkHistory(t *rapid.T, prev *pipeline.PreviousReport, r *pipeline.Report) {
	if prev == nil {
		return
	}
	here := map[string]bool{}
	for _, f := range r.Findings {
		for _, id := range f.Fingerprints {
			here[id] = true
		}
	}
	for _, x := range r.Changes.Fixed {
		if here[x.Fingerprint] {
			t.Errorf("%s is fixed and still in the report", x.Fingerprint)
		}
	}
	for _, s := range r.Suppressed {
		for _, id := range s.Finding.Fingerprints {
			here[id] = true
		}
	}
	has := func(list []pipeline.Finding, f pipeline.Finding) bool {
		return slices.ContainsFunc(list, func(x pipeline.Finding) bool {
			x.State = f.State // the state may have changed
			return cmp.Equal(x, f)
		})
	}
	for _, f := range slices.Concat(prev.Findings, prev.Unconfirmed) {
		n := 0
		for _, yes := range []bool{
			slices.ContainsFunc(fingerprintsOf(&f), func(id string) bool { return here[id] }), has(r.Changes.Resolved, f), has(r.Changes.Unconfirmed, f), has(r.Changes.NotRaised, f),
		} {
			if yes {
				n++
			}
		}
		if n != 1 {
			t.Errorf("a finding of the last report is in %d places, not in one: %+v", n, f)
		}
	}
}

// Dismissals are left out: they depend on the position among equal findings, which more findings
// may change.
func TestWideAnotherFindingNeverUnblocks(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		tr := drawTrial(t, 8)
		before := Aggregate(tr.input())
		tr.outputs = plus(tr.outputs, drawnWide(t, 4))
		after := Aggregate(tr.input())
		if before.Decision.Blocks() && !after.Decision.Blocks() {
			t.Errorf("%s became %s", before.Decision, after.Decision)
		}
	})
}

func TestWideModelsOnlyTightenTheGate(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		tr := drawTrial(t, 12)
		tr.dismiss(t)
		with := Aggregate(tr.input())
		tr.outputs = tr.outputs.withoutModels()
		if alone := Aggregate(tr.input()); with.Decision.Rank() < alone.Decision.Rank() {
			t.Errorf("%s without models, %s with them", alone.Decision, with.Decision)
		}
	})
}
