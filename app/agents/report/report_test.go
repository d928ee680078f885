package report

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

const (
	specs = "docs/01-planning/specifications/"
	plans = "docs/02-plans/"
)

// markdown is a passing report, or one by another agent.
func markdown(agent, operation string) string {
	r := reviewreport.Record{Status: reviewreport.StatusSuccess, Agent: agent, OperationType: operation, Summary: "Reviewed by " + agent + "."}
	one := 1.0
	r.SuccessEvidence.QualityAssessment = &reviewreport.QualityAssessment{CompletenessScore: &one, TestabilityScore: &one, ClarityScore: &one, PainPointAlignment: &one}
	r.SuccessEvidence.ValidationResults = reviewreport.ValidationResults{QualityThresholdMet: true, PainPointAligned: 1, ArchitectureFeasible: 1}
	return "# Review\n\n" + reviewreport.Write(&r) + "\n"
}

var (
	spec     = markdown(reviewreport.AgentSpecReviewer, "spec_quality_review")
	business = markdown(reviewreport.AgentTechnicalPM, "business_review")
	plan     = markdown(reviewreport.AgentArchitectureReview, operationPlan)
)

// added is an added file in the form of the facts.
func added(path, text string) pipeline.File {
	f := pipeline.File{Path: path, Status: pipeline.FileAdded}
	h := pipeline.Hunk{NewStart: 1}
	for i, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		h.Lines = append(h.Lines, pipeline.Line{Op: pipeline.LineAdded, New: i + 1, Text: l})
	}
	h.NewLines, f.Additions = len(h.Lines), len(h.Lines)
	f.Hunks = pipeline.List[pipeline.Hunk]{h}
	return f
}

// host holds the files at the head and the people's comments.
type host struct {
	files    map[string]string
	comments []ports.Remark
	writers  []string
	may      ports.Permission // the writers' permission; empty means write
	err      error            // every call's error

	mu   sync.Mutex
	read []string
}

func (h *host) File(_ context.Context, commit, path string, most int64) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.read = append(h.read, commit+":"+path)
	text, ok := h.files[path]
	if !ok {
		return nil, errors.Join(h.err, errors.New("it is not there"))
	}
	return []byte(text[:min(int64(len(text)), most)]), h.err
}

func (h *host) Remarks(_ context.Context, words string) ([]ports.Remark, error) {
	return slices.DeleteFunc(slices.Clone(h.comments), func(c ports.Remark) bool { return !strings.Contains(c.Body, words) }), h.err
}

func (h *host) Permission(_ context.Context, login string) (ports.Permission, error) {
	h.read = append(h.read, "permission of "+login)
	if slices.Contains(h.writers, login) {
		if h.may != "" {
			return h.may, h.err
		}
		return ports.PermissionWrite, h.err
	}
	return ports.PermissionTriage, h.err
}

func (h *host) agent(sources *config.ReportSources) *Agent {
	c, _ := config.Load()
	return New(Options{
		Sources: sources, Thresholds: c.Settings.Thresholds, Files: h, Discussion: h,
		Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") },
		Audit:  func(reviewreport.Audit) {},
	})
}

func task(files ...pipeline.File) dispatch.Task {
	return dispatch.Task{
		Entry: pipeline.ManifestEntry{Agent: "review-reports", Scope: pipeline.AgentScope{All: true}},
		Facts: &pipeline.PRFacts{Head: pipeline.Head{SHA: "h"}, Files: files},
	}
}

// outline is an outcome in short form.
func outline(outcomes []pipeline.ReviewReportOutcome) []string {
	var lines []string
	for _, o := range outcomes {
		lines = append(lines, fmt.Sprintf("%s %s %t %s", o.Phase, strings.TrimSuffix(o.Place, "/"), o.Proceed, strings.Join(o.ReviewPaths, "+")))
	}
	return lines
}

// Reports are grouped by their directory. A comment joins a group where its subject is
// certain.
func TestGroups(t *testing.T) {
	said := func(bodies ...string) (list []ports.Remark) {
		for i, b := range bodies {
			list = append(list, ports.Remark{ID: int64(i + 1), Author: "alice", Body: b})
		}
		return list
	}
	no := false
	tests := map[string]struct {
		sources *config.ReportSources
		files   []pipeline.File
		said    []ports.Remark
		want    []string
	}{
		"nothing": {},
		"one specification": {files: []pipeline.File{added(specs+"1/review/a-report.md", business), added(specs+"1/review/b-report.md", spec)},
			want: []string{"spec " + specs + "1/review true technical-pm+spec-reviewer"}},
		"several documents": {files: []pipeline.File{added(specs+"1/review/a-report.md", spec), added(specs+"2/review/a-report.md", business), added(plans+"1/review/a-report.md", plan)},
			want: []string{"plan " + plans + "1/review true architecture-review", "spec " + specs + "1/review true spec-reviewer", "spec " + specs + "2/review false technical-pm"}},
		"in the order of their places": {files: []pipeline.File{added(plans+"a/review/x-report.md", plan), added(plans+"a-b/review/x-report.md", plan)}, want: []string{
			"plan " + plans + "a-b/review true architecture-review", "plan " + plans + "a/review true architecture-review"}},
		"files that are not reports": {files: []pipeline.File{added(specs+"1/review/notes.md", spec), added(specs+"1/2/review/a-report.md", spec), {Path: specs + "1/review/a-report.md", Status: pipeline.FileRemoved}}},
		"both phases name a file": {sources: &config.ReportSources{Spec: []string{"r/*.md"}, Plan: []string{"r/*.md"}}, files: []pipeline.File{added("r/a.md", spec)},
			want: []string{"plan r false spec-reviewer", "spec r true spec-reviewer"}},
		"comments join their document": {files: []pipeline.File{added(specs+"1/review/a-report.md", business), added(plans+"1/review/a-report.md", plan)}, said: said(spec, plan),
			want: []string{"plan " + plans + "1/review true architecture-review+architecture-review", "spec " + specs + "1/review true technical-pm+spec-reviewer"}},
		"comments on one of several": {files: []pipeline.File{added(specs+"1/review/a-report.md", spec), added(specs+"2/review/a-report.md", spec)}, said: said(business),
			want: []string{"spec comments false technical-pm", "spec " + specs + "1/review true spec-reviewer", "spec " + specs + "2/review true spec-reviewer"}},
		"only comments":              {said: said(plan, "Nothing to add.", spec), want: []string{"plan comments true architecture-review", "spec comments true spec-reviewer"}},
		"a heading with more blanks": {said: said(strings.Replace(plan, "## ", "##   ", 1)), want: []string{"plan comments true architecture-review"}},
		"a broken comment": {files: []pipeline.File{added(specs+"1/review/a-report.md", spec)}, said: said(strings.Replace(business, "{", "", 1)),
			want: []string{"spec " + specs + "1/review false spec-reviewer+unknown"}},
		"comments that only mention one": {said: said("Where is the Machine-Readable Review Data?", "```\n"+reviewreport.Heading+"\n```")},
		"no comments wanted":             {sources: &config.ReportSources{Comments: &no}, said: said(spec)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := &host{comments: tt.said, writers: []string{"alice"}}
			answer, err := h.agent(tt.sources).Review(t.Context(), task(tt.files...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, outline(answer.Reports)); diff != "" {
				t.Errorf("outcomes (-want +got):\n%s", diff)
			}
		})
	}
}

// A file that the facts show completely is not read again. Every other file is read at the
// pinned head, and its secrets are redacted.
func TestWhereTextComesFrom(t *testing.T) {
	const path = specs + "1/review/a-report.md"
	cut := added(path, spec)
	cut.Additions++
	late := added(path, spec)
	late.Hunks[0].NewStart = 2
	instead := added(path, spec) // a patch that also removes lines of another file
	instead.Hunks[0].OldLines = 1
	parts := added(path, "x\n"+spec) // its first hunk is as long as the whole file
	parts.Hunks[0].Lines, parts.Hunks = parts.Hunks[0].Lines[1:], append(parts.Hunks, pipeline.Hunk{})
	parts.Additions--
	copied := added(path, spec)
	copied.Status = pipeline.FileCopied
	odd := added(path, spec)
	odd.Binary = true
	tests := map[string]struct {
		file pipeline.File
		read bool
	}{
		"added, in place of lines": {instead, true},
		"added, in parts":          {parts, true},
		"added, yet binary":        {odd, true},
		"copied":                   {copied, true},
		"added":                    {added(path, spec), false},
		"added, shown cut":         {cut, true},
		"added, from later":        {late, true},
		"added, not shown":         {pipeline.File{Path: path, Status: pipeline.FileAdded, Additions: 40}, true},
		"added, binary":            {pipeline.File{Path: path, Status: pipeline.FileAdded, Binary: true}, true},
		"modified":                 {pipeline.File{Path: path, Status: pipeline.FileModified, Hunks: added(path, "x\n").Hunks}, true},
		"renamed":                  {pipeline.File{Path: path, Status: pipeline.FileRenamed}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := &host{files: map[string]string{path: strings.Replace(spec, "Reviewed by", "The password is hunter2. Reviewed by", 1)}}
			answer, err := h.agent(nil).Review(t.Context(), task(tt.file))
			if err != nil || len(answer.Reports) != 1 || !answer.Reports[0].Proceed {
				t.Fatalf("%+v, %v", answer.Reports, err)
			}
			var want []string
			if tt.read {
				want = []string{"h:" + path}
			}
			if diff := cmp.Diff(want, h.read); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
		})
	}
}

// No secret in a file or comment is stored or shown.
func TestSecretsAreRedacted(t *testing.T) {
	const path = plans + "1/review/a-report.md"
	leaky := strings.Replace(plan, "Reviewed by", "The password is hunter2. Reviewed by", 1)
	for name, h := range map[string]*host{
		"file":    {files: map[string]string{path: leaky}},
		"comment": {comments: []ports.Remark{{ID: 1, Author: "alice", Body: leaky}}, writers: []string{"alice"}},
	} {
		var files []pipeline.File
		if h.files != nil {
			files = []pipeline.File{{Path: path, Status: pipeline.FileModified}}
		}
		answer, err := h.agent(nil).Review(t.Context(), task(files...))
		if err != nil {
			t.Fatal(err)
		}
		if all := fmt.Sprintf("%+v %+v", answer.Output, answer.Reports); strings.Contains(all, "hunter2") || !strings.Contains(all, "The password is [redacted].") {
			t.Errorf("%s: shown: %s", name, all)
		}
	}
}

// A panic while reading a report reaches the caller's goroutine, which can recover from it.
func TestPanicReachesTheCaller(t *testing.T) {
	const path = plans + "1/review/a-report.md"
	a := (&host{files: map[string]string{path: plan}}).agent(nil)
	a.Redact = func(string) string { panic("odd text") }
	defer func() {
		if v := recover(); v != "odd text" {
			t.Errorf("recovered %v", v)
		}
	}()
	_, err := a.Review(t.Context(), task(pipeline.File{Path: path, Status: pipeline.FileModified}))
	t.Errorf("no panic, and %v", err)
}

// Each aggregation is recorded in the audit log.
func TestAudit(t *testing.T) {
	h := &host{comments: []ports.Remark{{ID: 7, Author: "alice", Body: plan}}, writers: []string{"alice"}}
	var places []string
	a := h.agent(nil)
	a.Audit = func(r reviewreport.Audit) {
		places = append(places, fmt.Sprintf("%s %s of %d", r.Phase, r.Place, len(r.Inputs)))
	}
	if _, err := a.Review(t.Context(), task(added(specs+"1/review/a-report.md", spec), added(specs+"2/review/a-report.md", spec))); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"plan comments of 1", "spec " + specs + "1/review of 1", "spec " + specs + "2/review of 1"}, places); diff != "" {
		t.Errorf("audit log (-want +got):\n%s", diff)
	}
}

// If comments are not available, only files are read.
func TestNoComments(t *testing.T) {
	a := (&host{}).agent(nil)
	a.Discussion = nil
	if answer, err := a.Review(t.Context(), task(added(plans+"1/review/a-report.md", plan))); err != nil || len(answer.Reports) != 1 {
		t.Errorf("%+v, %v", answer.Reports, err)
	}
}

// Only reports by people with write permission count, and each person's permission is read
// once.
func TestTrust(t *testing.T) {
	h := &host{writers: []string{"alice"}, comments: []ports.Remark{{ID: 1, Author: "bob", Body: plan}, {ID: 2, Author: "alice", Body: spec}, {ID: 3, Author: "Bob", Body: spec}, {ID: 4, Author: "alice", Body: business}, {ID: 5, Author: "carol", Body: "Fine."}}}
	answer, err := h.agent(nil).Review(t.Context(), task())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"spec comments true spec-reviewer+technical-pm"}, outline(answer.Reports)); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"permission of bob", "permission of alice"}, h.read); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(pipeline.List[string]{"The review report in a comment by bob does not count: that takes write permission."}, answer.Output.ResidualConcerns); diff != "" {
		t.Errorf("note about reports that don't count (-want +got):\n%s", diff)
	}
}

// Write permission is enough for a report to count, and triage permission is not.
func TestWhoMayWrite(t *testing.T) {
	for may, want := range map[ports.Permission]int{
		ports.PermissionAdmin: 1, ports.PermissionMaintain: 1, ports.PermissionWrite: 1,
		ports.PermissionTriage: 0, ports.PermissionRead: 0, ports.PermissionNone: 0,
	} {
		h := &host{writers: []string{"alice"}, may: may, comments: []ports.Remark{{ID: 1, Author: "alice", Body: spec}}}
		answer, err := h.agent(nil).Review(t.Context(), task())
		if err != nil || len(answer.Reports) != want {
			t.Errorf("%s: %+v, %v", may, answer.Reports, err)
		}
	}
}

// crowd is one more comment by one person, and one more person, than are read.
func crowd() (said, people []ports.Remark) {
	for i := range maxComments + 1 {
		said = append(said, ports.Remark{ID: int64(i), Author: "alice", Body: spec})
	}
	for i := range maxAuthors + 1 {
		people = append(people, ports.Remark{ID: int64(i), Author: fmt.Sprintf("u%d", i), Body: spec})
	}
	return said, people
}

// The allowed number of comments is read. People without write permission can't use it up,
// however much they comment.
func TestAsManyAsAllowed(t *testing.T) {
	said, people := crowd()
	for name, tt := range map[string]struct {
		host *host
		want int
	}{
		"comments":           {&host{comments: said[1:], writers: []string{"alice"}}, maxComments},
		"people":             {&host{comments: people[1:]}, 0},
		"comments by others": {&host{comments: append(said, ports.Remark{ID: 1000, Author: "bob", Body: spec}), writers: []string{"bob"}}, 1},
	} {
		answer, err := tt.host.agent(nil).Review(t.Context(), task())
		read := 0
		for _, o := range answer.Reports {
			read += len(o.ReviewPaths)
		}
		if err != nil || read != tt.want {
			t.Errorf("%s: %d read, want %d; %v", name, read, tt.want, err)
		}
	}
}

// Whatever can't be read fails the agent, so that a review without it does not pass.
func TestTrouble(t *testing.T) {
	modified := pipeline.File{Path: specs + "1/review/a-report.md", Status: pipeline.FileModified}
	var many []pipeline.File
	for i := range maxFiles + 1 {
		many = append(many, added(fmt.Sprintf("%s%d/review/a-report.md", specs, i), spec))
	}
	said, people := crowd()
	trouble := errors.New("no such host")
	tests := map[string]struct {
		host  *host
		files []pipeline.File
		want  string
	}{
		"a file that is not there": {&host{}, []pipeline.File{modified}, "read the review report " + modified.Path + ": it is not there"},
		"comments that can't be":   {&host{err: trouble}, nil, "read the comments: no such host"},
		"too many files":           {&host{}, many, "the change has 101 files with review reports, more than the limit of 100: split it"},
		"too many comments":        {&host{comments: said, writers: []string{"alice"}}, nil, "more than 100 comments with review reports count: delete those that are out of date"},
		"too many people":          {&host{comments: people}, nil, "more than 30 people commented review reports: delete those that are out of date"},
	}
	for name, tt := range tests {
		answer, err := tt.host.agent(nil).Review(t.Context(), task(tt.files...))
		if err == nil || err.Error() != tt.want || answer.Reports != nil {
			t.Errorf("%s: %v, %v", name, answer.Reports, err)
		}
	}
}

// A text above the limit is not read to its end, and its report blocks.
func TestLongText(t *testing.T) {
	const path = specs + "1/review/a-report.md"
	for name, text := range map[string]string{
		"a report at its end":      strings.Repeat("x", 4<<20) + spec,
		"one byte more than holds": spec + strings.Repeat("x", reviewreport.MaxBytes+1-len(spec)),
	} {
		h := &host{files: map[string]string{path: text}}
		answer, err := h.agent(nil).Review(t.Context(), task(pipeline.File{Path: path, Status: pipeline.FileModified}))
		if err != nil || len(answer.Reports) != 1 || answer.Reports[0].Proceed || len(answer.Reports[0].Errors) != 1 || answer.Reports[0].Errors[0].Source != path {
			t.Errorf("%s: %+v, %v", name, answer.Reports, err)
		}
	}
}

// Every file is read, however many are read in parallel, and each file's own text counts.
func TestManyFiles(t *testing.T) {
	h := &host{files: map[string]string{}}
	var files []pipeline.File
	var want []string
	for i := range 2*readsAtOnce + 1 {
		path := fmt.Sprintf("%s%02d/review/a-report.md", plans, i)
		h.files[path] = markdown(fmt.Sprintf("reviewer-%d", i), operationPlan)
		files = append(files, pipeline.File{Path: path, Status: pipeline.FileModified})
		want = append(want, fmt.Sprintf("plan %s%02d/review false reviewer-%d", plans, i, i))
	}
	answer, err := h.agent(nil).Review(t.Context(), task(files...))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, outline(answer.Reports)); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
}

// Only files in the scope are read.
func TestScope(t *testing.T) {
	one, two := specs+"1/review/a-report.md", specs+"2/review/a-report.md"
	of := task(added(one, spec), added(two, spec))
	of.Entry.Scope = pipeline.AgentScope{Files: pipeline.List[string]{two}}
	answer, err := (&host{}).agent(nil).Review(t.Context(), of)
	if err != nil || len(answer.Reports) != 1 || answer.Reports[0].Place != specs+"2/review" {
		t.Errorf("%+v, %v", answer.Reports, err)
	}
}
