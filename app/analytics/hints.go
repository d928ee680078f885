package analytics

import (
	"fmt"

	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// Hint is a sentence about what might be changed. Kind says what it is about. The text names rules,
// models and services as they are; whoever shows it must escape it.
type Hint struct {
	Kind HintKind `json:"kind"`
	Text string   `json:"text"`
}

// HintKind is the kind of a hint.
type HintKind string

// The kinds of hints.
const (
	HintFalsePositives HintKind = "false_positives" // of a model
	HintMissed         HintKind = "missed"          // by a model
	HintFixIterations  HintKind = "fix_iterations"
	HintCommonIssue    HintKind = "common_issue" // in a service
)

// When a hint is given. With fewer cases it would be about chance.
const (
	hintFindings      = 20  // judged findings of a model
	hintFalseShare    = 0.3 // of them
	hintMissedShare   = 0.5 // of what a model found or missed
	hintFixIterations = 1
	hintPulls         = 5 // pull requests for an average
	hintIssuePulls    = 5
	maxHintsOfAKind   = 5
)

// hints says what stands out, the most urgent first.
func (s *Summary) hints() (out []Hint) {
	of := map[HintKind]int{}
	add := func(kind HintKind, format string, args ...any) {
		if of[kind]++; of[kind] <= maxHintsOfAKind {
			out = append(out, Hint{kind, fmt.Sprintf(format, args...)})
		}
	}
	for i := range s.models {
		m := &s.models[i]
		wrong, right := m.Dismissals.FalsePositive, m.Addressed()
		if n := wrong + right; n >= hintFindings && float64(wrong) >= hintFalseShare*float64(n) {
			add(HintFalsePositives, "The model %s has many false positives: %d of %d judged findings. Improve its prompt, or review without it.", named(m.Name), wrong, n)
		}
		if n := *m.Missed + right; n >= hintFindings && float64(*m.Missed) >= hintMissedShare*float64(n) {
			add(HintMissed, "The model %s misses a lot: it did not report %d of the %d correct findings on lines it was asked about.", named(m.Name), *m.Missed, n)
		}
	}
	if a := s.Totals.AverageFixIterations; a != nil && *a > hintFixIterations && s.Totals.PullRequests >= hintPulls {
		add(HintFixIterations, "Pull requests need %.1f fixes on average. The reviewers may be too strict, or authors need clearer requirements.", *a)
	}
	for _, service := range s.Services {
		for _, i := range service.Issues {
			if i.PullRequests >= hintIssuePulls {
				add(HintCommonIssue, "%s keeps coming up in the service %s: it was found in %d pull requests. If it follows from a rule of the service, write that rule into review-domains.json.",
					named(i.Name()), named(service.Service), i.PullRequests)
				break
			}
		}
	}
	return out
}

// named is a name in a hint, on one line and not too long to be read.
func named(s string) string { return plaintext.CutLine(s, 60) }
