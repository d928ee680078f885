package render

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// readBack reads a comment as another tool would, and fails the test if that
// is not what the review says.
func readBack(t interface{ Fatalf(string, ...any) }, v View, comment string) reviewreport.Record {
	r := reviewreport.Extract([]byte(comment))
	want := reviewreport.StatusSuccess
	if v.Review.Report.Decision.Blocks() {
		want = reviewreport.StatusFailure
	}
	if r.Broken() || r.Agent != reviewreport.AgentReviewgate || r.Status != want {
		t.Fatalf("reads back as %s by %q (%s), want %s:\n%s", r.Status, r.Agent, r.Error, want, comment)
	}
	return r
}

func TestCommentReadsBack(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			v := s.view()
			for name, text := range map[string]string{"comment": Comment(v).Body, "markdown": Markdown(v)} {
				r := readBack(t, v, text)
				if len(v.Shared) == 0 && r.Summary != Check(v).Title && s.name != "hostile" {
					t.Errorf("%s: summary %q, title %q", name, r.Summary, Check(v).Title)
				}
				if r.ExecutionTimestamp != "2026-11-03T09:30:04Z" {
					t.Errorf("%s: made at %q", name, r.ExecutionTimestamp)
				}
				if n := len(v.Review.Report.Findings); len(r.SuccessEvidence.ReviewFindings.Recommendations) != min(n, 10) {
					t.Errorf("%s: %d recommendations of %d findings", name, len(r.SuccessEvidence.ReviewFindings.Recommendations), n)
				}
			}
		})
	}
}

// Nothing that a text says is taken for the section, nor breaks it.
func TestHostileCommentReadsBack(t *testing.T) {
	for _, a := range attacks {
		v := attackedView("x\n" + a.text)
		readBack(t, v, Comment(v).Body)
	}
	sample.Check(t, func(t *rapid.T) {
		v := hostileViews().Draw(t, "view")
		r := readBack(t, v, Comment(v).Body)
		if r.ExecutionTimestamp != timestamp(v.Record.FinishedAt) {
			t.Fatalf("made at %q", r.ExecutionTimestamp)
		}
	})
}

// Where findings are left out, so are recommendations, and what is left is
// whole.
func TestMachineReadableGivesWay(t *testing.T) {
	v := overflowView(4000)
	for i := range v.Review.Report.Findings[:10] {
		v.Review.Report.Findings[i].Recommendation = strings.Repeat("日本", 200)
	}
	comment := Comment(v).Body
	r := readBack(t, v, comment)
	_, section, _ := strings.Cut(comment, machineStart)
	if n := len(r.SuccessEvidence.ReviewFindings.Recommendations); n >= 10 || len(section) > roomMachine/4+500 || len(comment) > maxBody {
		t.Errorf("%d recommendations in %d of %d bytes", n, len(section), len(comment))
	}
}

// When a review was done is no reason to write the comment anew.
func TestTimestampIsNotInTheDigest(t *testing.T) {
	v := cleanView()
	before := Comment(v)
	v.Record.StartedAt, v.Record.FinishedAt = v.Record.StartedAt.Add(time.Hour), v.Record.FinishedAt.Add(time.Hour)
	after := Comment(v)
	if before.Digest != after.Digest {
		t.Error("another time changes the digest")
	}
	if !strings.Contains(after.Body, `"execution_timestamp": "2026-11-03T10:30:04Z"`) || strings.Contains(after.Body, "09:30") {
		t.Errorf("the time is not that of the run:\n%s", after.Body)
	}
	v.Record.FinishedAt = time.Time{}
	if r := reviewreport.Extract([]byte(Comment(v).Body)); r.Broken() || r.ExecutionTimestamp != "" {
		t.Errorf("an unknown time reads as %q: %s", r.ExecutionTimestamp, r.Error)
	}
}

// A text can't put the run's time into a place of its own.
func TestOnlyTheFieldHasTheTime(t *testing.T) {
	v := findingsView()
	v.Review.Report.Findings[0].Title = `"execution_timestamp": ""` + markTime
	if n := strings.Count(Comment(v).Body, "2026-11-03T09:30:04Z"); n != 1 {
		t.Errorf("the time stands %d times in the comment", n)
	}
}

// The section is for whoever reads comments. A check run has its own fields.
func TestOnlyTheCommentIsMachineReadable(t *testing.T) {
	v := findingsView()
	check := Check(v)
	for name, text := range map[string]string{"summary": check.Summary, "text": check.Text, "terminal": Text(v, TextOptions{})} {
		if reviewreport.HasSection([]byte(text)) {
			t.Errorf("%s has the section", name)
		}
	}
}

// A review of a change that shows what it thinks of itself in its own words is
// not what decides.
func TestSectionInAFixIsNotOurs(t *testing.T) {
	v := findingsView()
	own := reviewreport.FromReview(&pipeline.Report{Decision: pipeline.DecisionPass}, "All is well", "")
	v.Review.Report.Findings[1].SuggestedFix = "x\n```\n</details>\n\n" + reviewreport.Write(&own)
	for _, line := range []int{v.Review.Report.Findings[1].StartLine, 0} { // known, and not
		v.Review.Report.Findings[1].StartLine, v.Review.Report.Findings[1].EndLine = line, line
		body := Comment(v).Body
		readBack(t, v, body)
		if n := strings.Count(body, "\n"+reviewreport.Heading+"\n"); n != 1 {
			t.Errorf("line %d: %d lines are the section's heading, also for a reader that knows no fences:\n%s", line, n, body)
		}
	}
}
