package aggregate

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

func TestDismissed(t *testing.T) {
	for _, tt := range []struct {
		name       string
		severity   pipeline.Severity
		override   bool
		id         string // the id of another finding
		suppressed bool
		reason     string
	}{
		{"major", pipeline.SeverityMajor, false, "", true, "dismissed by ann"},
		{"critical", pipeline.SeverityCritical, false, "", false, "not dismissed: only somebody who may override can dismiss a critical finding"},
		{"critical, with override", pipeline.SeverityCritical, true, "", true, "dismissed by ann"},
		{"another finding", pipeline.SeverityMajor, true, "0123456789abcdef", false, ""},
	} {
		in := one(finding("a.go", 1, "T", tt.severity))
		id := Aggregate(in).Findings[0].ID
		if tt.id != "" {
			id = tt.id
		}
		in.Memory.Dismissed = pipeline.List[pipeline.Dismissal]{{Fingerprint: id, Reason: "it is a test", By: "ann", Override: tt.override}}
		r := Aggregate(in)
		var f pipeline.Finding
		switch {
		case tt.suppressed && len(r.Suppressed) == 1 && len(r.Findings) == 0:
			f = r.Suppressed[0].Finding
			if got := r.Suppressed[0].Reason; got != "dismissed: it is a test" || f.State != pipeline.StateDismissed || f.ID != id || r.Decision != pipeline.DecisionPass {
				t.Errorf("%s: %q, %s, %s", tt.name, got, f.State, r.Decision)
			}
		case !tt.suppressed && len(r.Findings) == 1 && len(r.Suppressed) == 0 && r.Decision.Blocks():
			f = r.Findings[0]
		default:
			t.Errorf("%s: %d findings, %+v", tt.name, len(r.Findings), r.Suppressed)
			continue
		}
		if got := strings.Join(inWords(f.Reasons), "; "); got != tt.reason {
			t.Errorf("%s: reasons %q, want %q", tt.name, got, tt.reason)
		}
	}
}

// If one finding is dismissed twice, the dismissal with more rights counts, in any order.
func TestDismissedTwice(t *testing.T) {
	in := one(finding("a.go", 1, "T", pipeline.SeverityCritical))
	id := Aggregate(in).Findings[0].ID
	with, without := pipeline.Dismissal{Fingerprint: id, Override: true}, pipeline.Dismissal{Fingerprint: id}
	for _, list := range [][]pipeline.Dismissal{{with, without}, {without, with}} {
		in.Memory.Dismissed = list
		if r := Aggregate(in); len(r.Suppressed) != 1 {
			t.Errorf("%+v: not dismissed", list)
		}
	}
}

// A dismissed finding is removed before other findings are merged with it: the other agent's
// finding on the next line stays.
func TestDismissedBeforeItMerges(t *testing.T) {
	in := world(map[string][]pipeline.Finding{"x": {finding("a.go", 1, "T", pipeline.SeverityMajor)}, "y": {finding("a.go", 2, "T", pipeline.SeverityWarning)}})
	merged := Aggregate(in)
	if len(merged.Findings) != 1 || len(merged.Findings[0].Fingerprints) != 2 || merged.Findings[0].Agent != "x" {
		t.Fatalf("%+v", merged.Findings)
	}
	in.Memory.Dismissed = pipeline.List[pipeline.Dismissal]{{Fingerprint: merged.Findings[0].ID}}
	r := Aggregate(in)
	if len(r.Findings) != 1 || r.Findings[0].Agent != "y" || r.Decision != pipeline.DecisionPassWithWarnings {
		t.Errorf("%s: %+v", r.Decision, r.Findings)
	}
}

// Suppressed findings are in document order, regardless of the step that suppressed them.
func TestSuppressedInDocumentOrder(t *testing.T) {
	plan, other := finding("docs/plans/p.md", 0, "Stale", pipeline.SeverityMajor), finding("a.go", 1, "T", pipeline.SeverityMajor)
	plan.Action = pipeline.ActionRemove
	in := world(map[string][]pipeline.Finding{"x": {plan, other}})
	in.Memory.Dismissed = pipeline.List[pipeline.Dismissal]{{Fingerprint: Aggregate(in).Findings[0].ID}}
	if s := Aggregate(in).Suppressed; len(s) != 2 || s[0].Finding.Path != "a.go" {
		t.Errorf("%+v", s)
	}
}
