package render

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// A finding says since when it is open, if that is known.
func TestStates(t *testing.T) {
	const id = "fedcba9876543210"
	was := func(s pipeline.FindingState, ids ...string) *pipeline.PreviousReport {
		return &pipeline.PreviousReport{HeadSHA: prevSHA, Findings: pipeline.List[pipeline.Finding]{{ID: "other", State: pipeline.StateNew}, {ID: ids[0], Fingerprints: ids, State: s}}}
	}
	both := func(a, b *pipeline.PreviousReport) *pipeline.PreviousReport {
		a.Findings = append(a.Findings, b.Findings...)
		return a
	}
	for name, tt := range map[string]struct {
		state    pipeline.FindingState
		reasons  pipeline.List[pipeline.Reason]
		previous *pipeline.PreviousReport
		first    bool // the pull request's first report
		want     string
	}{
		"new":                          {state: pipeline.StateNew, previous: was(pipeline.StateNew, "other"), want: "new"},
		"open since the last report":   {state: pipeline.StateOpen, previous: was(pipeline.StateNew, id), want: "open since `9f8e7d6`"},
		"open for longer":              {state: pipeline.StateOpen, previous: was(pipeline.StateOpen, id), want: "open since before `9f8e7d6`"},
		"known by another fingerprint": {state: pipeline.StateOpen, previous: was(pipeline.StateNew, "0000", "1111"), want: "open since `9f8e7d6`"},
		"merged with an older one":     {state: pipeline.StateOpen, previous: both(was(pipeline.StateNew, id), was(pipeline.StateOpen, "1111")), want: "open since before `9f8e7d6`"},
		"not confirmed in between": {state: pipeline.StateOpen, previous: &pipeline.PreviousReport{HeadSHA: prevSHA, Unconfirmed: was(pipeline.StateNew, id).Findings},
			want: "open since before `9f8e7d6`"},
		"not in the previous report":  {state: pipeline.StateOpen, previous: was(pipeline.StateNew, "2222"), want: "still open"},
		"without the previous report": {state: pipeline.StateOpen, want: "still open"},
		"back": {state: pipeline.StateNew, reasons: pipeline.List[pipeline.Reason]{{Text: "merged"}, {Kind: pipeline.ReasonBack, Text: "5a5b5c5"}},
			previous: was(pipeline.StateNew, "other"), want: "was fixed in `5a5b5c5`, is back"},
		"the first report": {state: pipeline.StateNew, first: true},
	} {
		t.Run(name, func(t *testing.T) {
			v := cleanView()
			f := findingsView().Review.Report.Findings[1]
			f.State, f.Reasons, f.Fingerprints = tt.state, tt.reasons, pipeline.List[string]{"1111", id}
			setFindings(&v, pipeline.DecisionNeedsFixes, "major > 0", f)
			v.Review.Previous = tt.previous
			if !tt.first {
				v.Review.Report.Changes.PreviousReport = prevSHA
			}
			want := "`fin-decimal-01` · " + tt.want + " · `/review dismiss"
			if tt.want == "" {
				want = "`fin-decimal-01` · `/review dismiss"
			}
			for format, text := range map[string]string{"comment": Comment(v).Body, "check": Check(v).Text} {
				if !strings.Contains(text, want) {
					t.Errorf("%s lacks %q:\n%s", format, want, text)
				}
			}
			if text := Text(v, TextOptions{Width: 1000}); !strings.Contains(text, "fin-decimal-01 · "+strings.ReplaceAll(tt.want, "`", "")) && tt.want != "" {
				t.Errorf("the text lacks %q:\n%s", tt.want, text)
			}
		})
	}
}

// A finding that came back does not share an item with new ones.
func TestReturnedIsNotGroupedWithNew(t *testing.T) {
	v := inPlaces(3, pipeline.SeverityMajor)
	v.Review.Report.Changes = pipeline.Changes{PreviousReport: prevSHA, New: 3}
	v.Review.Report.Findings[1].Reasons = pipeline.List[pipeline.Reason]{{Kind: pipeline.ReasonBack, Text: "5a5b5c5"}}
	c := Comment(v).Body
	if !strings.Contains(c, "1 more place") || !strings.Contains(c, "was fixed in `5a5b5c5`, is back") || !strings.Contains(c, ": 3 new (1 of them fixed before)\n") {
		t.Error(c)
	}
}

// A dismissed finding names the person who dismissed it, beside the reason.
func TestDismissedNamesThePerson(t *testing.T) {
	for name, tt := range map[string]struct {
		dismissals pipeline.List[pipeline.Dismissal]
		want       string
	}{
		"by its fingerprint":      {pipeline.List[pipeline.Dismissal]{{Fingerprint: "9999000011112222", By: "mira"}}, "- Dismissed by mira: info · "},
		"by a merged fingerprint": {pipeline.List[pipeline.Dismissal]{{Fingerprint: "x", By: "sam"}, {Fingerprint: "merged", By: "mira"}}, "- Dismissed by mira: info · "},
		"by an unknown person":    {nil, "- Dismissed: info · "},
	} {
		t.Run(name, func(t *testing.T) {
			v := cleanView()
			f := findingsView().Review.Report.Findings[5]
			f.State, f.Fingerprints = pipeline.StateDismissed, pipeline.List[string]{"9999000011112222", "merged"}
			v.Review.Report.Suppressed = pipeline.List[pipeline.Suppressed]{{Finding: f, Reason: "dismissed: it is a team"}}
			v.Review.Memory.Dismissed = tt.dismissals
			if c := Comment(v).Body; !strings.Contains(c, tt.want) || !strings.Contains(c, "; it is a team.\n") {
				t.Error(c)
			}
		})
	}
}
