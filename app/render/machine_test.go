package render

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// readBack reads a comment as another tool would. It fails the test if the result does not
// match the review.
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
			for name, text := range map[string]string{"comment": wholeComment(v), "markdown": Markdown(v), "check": Check(v).Text} {
				r := readBack(t, v, text)
				if len(v.Shared) == 0 && r.Summary != Check(v).Title && !strings.HasSuffix(s.name, "hostile") {
					t.Errorf("%s: summary %q, title %q", name, r.Summary, Check(v).Title)
				}
				if r.ExecutionTimestamp != "2026-11-03T09:30:04Z" {
					t.Errorf("%s: timestamp %q", name, r.ExecutionTimestamp)
				}
				if n := len(v.Review.Report.Findings); len(r.SuccessEvidence.ReviewFindings.Recommendations) != min(n, 10) {
					t.Errorf("%s: %d recommendations for %d findings", name, len(r.SuccessEvidence.ReviewFindings.Recommendations), n)
				}
			}
		})
	}
}

// A text cannot imitate the machine-readable section or break it.
func TestHostileCommentReadsBack(t *testing.T) {
	for _, a := range attacks {
		v := attackedView("x\n" + a.text)
		readBack(t, v, wholeComment(v))
		readBack(t, v, Check(v).Text)
	}
	sample.Check(t, func(t *rapid.T) {
		v := hostileViews().Draw(t, "view")
		r := readBack(t, v, wholeComment(v))
		if r.ExecutionTimestamp != timestamp(v.Record.FinishedAt) {
			t.Fatalf("timestamp %q", r.ExecutionTimestamp)
		}
	})
}

// If findings do not fit, the section leaves out recommendations and can still be read.
func TestMachineReadableLeavesOutRecommendations(t *testing.T) {
	v := overflowView(4000)
	for i := range v.Review.Report.Findings[:10] {
		v.Review.Report.Findings[i].Recommendation = strings.Repeat("日本", 200)
	}
	comment := wholeComment(v)
	r := readBack(t, v, comment)
	_, section, _ := strings.Cut(comment, machineStart)
	if n := len(r.SuccessEvidence.ReviewFindings.Recommendations); n >= 10 || len(section) > roomMachine/4+500 || len(comment) > maxBody {
		t.Errorf("%d recommendations in %d of %d bytes", n, len(section), len(comment))
	}
}

// Another time of the review does not change the digest.
func TestTimestampIsNotInTheDigest(t *testing.T) {
	v := cleanView()
	v.Sections = []string{config.SectionReport}
	before := Comment(v)
	v.Record.StartedAt, v.Record.FinishedAt = v.Record.StartedAt.Add(time.Hour), v.Record.FinishedAt.Add(time.Hour)
	after := Comment(v)
	if before.Digest != after.Digest {
		t.Error("another time changes the digest")
	}
	if !strings.Contains(after.Body, `"execution_timestamp": "2026-11-03T10:30:04Z"`) || strings.Contains(after.Body, "09:30") {
		t.Errorf("the comment lacks the time of the run:\n%s", after.Body)
	}
	v.Record.FinishedAt = time.Time{}
	if r := reviewreport.Extract([]byte(wholeComment(v))); r.Broken() || r.ExecutionTimestamp != "" {
		t.Errorf("an unknown time reads as %q: %s", r.ExecutionTimestamp, r.Error)
	}
}

// A text cannot get the run's time into another place.
func TestOnlyTheFieldHasTheTime(t *testing.T) {
	v := findingsView()
	v.Review.Report.Findings[0].Title = `"execution_timestamp": ""` + markTime
	if n := strings.Count(wholeComment(v), "2026-11-03T09:30:04Z"); n != 1 {
		t.Errorf("the comment has the time %d times", n)
	}
}

// The check has the section. The comment has it only if the settings ask for it.
func TestCheckIsMachineReadable(t *testing.T) {
	v := findingsView()
	check := Check(v)
	readBack(t, v, check.Text)
	for name, text := range map[string]string{"summary": check.Summary, "comment": Comment(v).Body, "terminal": Text(v, TextOptions{})} {
		if reviewreport.HasSection([]byte(text)) {
			t.Errorf("%s has the section", name)
		}
	}
}

// A machine-readable section in a suggested fix is not read as reviewgate's own.
func TestSectionInAFixIsNotRead(t *testing.T) {
	v := findingsView()
	own := reviewreport.FromReview(&pipeline.Report{Decision: pipeline.DecisionPass}, "All is well", "")
	v.Review.Report.Findings[1].SuggestedFix = "x\n```\n</details>\n\n" + reviewreport.Write(&own)
	for _, line := range []int{v.Review.Report.Findings[1].StartLine, 0} { // a known line, and no line
		v.Review.Report.Findings[1].StartLine, v.Review.Report.Findings[1].EndLine = line, line
		body := wholeComment(v)
		readBack(t, v, body)
		if n := strings.Count(body, "\n"+reviewreport.Heading+"\n"); n != 1 {
			t.Errorf("line %d: a reader that ignores fences finds %d headings of the section:\n%s", line, n, body)
		}
	}
}

// A report that is far too long for the check is left out without encoding it.
func TestLongReportIsNotEncoded(t *testing.T) {
	v := cleanView()
	long := strings.Repeat("text ", 10_000)
	v.Review.Report.Findings = slices.Repeat(pipeline.List[pipeline.Finding]{{Title: "Title", Message: long, Path: "a.go"}}, 10_000)
	r := newReport(v, maxBody)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if text := r.wholeReport(maxBody); text != "" {
		t.Fatalf("the check has %d bytes of the report", len(text))
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("leaving out a report of 500 MB allocates %d bytes", n)
	}
}
