package reviewreport

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Recommendations returns the recommendations of all reports, the most urgent first: by the
// report's severity, then by priority, then in the order of the reports and their lists. If there
// are several for one location, only one is returned; see [atOneLocation].
func Recommendations(reports []Report) pipeline.List[pipeline.Recommendation] {
	var list pipeline.List[pipeline.Recommendation]
	for _, rec := range recommendations(reports) {
		list = append(list, rec.Recommendation)
	}
	return list
}

// recommendation is a recommendation with the index of its report.
type recommendation struct {
	pipeline.Recommendation
	report int
}

func recommendations(reports []Report) []recommendation {
	var list []recommendation
	for i := range reports {
		r := &reports[i].Record
		for _, rec := range r.SuccessEvidence.ReviewFindings.Recommendations {
			list = append(list, recommendation{pipeline.Recommendation{
				Priority: rec.Priority, Category: rec.Category, Finding: rec.Finding, Recommendation: rec.Recommendation,
				Location: rec.Location, Reviewer: r.Agent, Severity: r.severity(),
			}, i})
		}
	}
	slices.SortStableFunc(list, func(a, b recommendation) int {
		return cmp.Or(
			cmp.Compare(rank(severities, a.Severity), rank(severities, b.Severity)),
			cmp.Compare(rank(priorities, a.Priority), rank(priorities, b.Priority)))
	})
	return onePerLocation(list)
}

// These are the words that are ranked, highest first. Any other word ranks below all of them.
var (
	severities = []string{SeverityCritical, SeverityMajor, SeverityMinor}
	priorities = []string{PriorityHigh, PriorityMedium, PriorityLow}
)

// rank returns a word's index in a list, or the list's length.
func rank(words []string, word string) int {
	for i, w := range words {
		if strings.EqualFold(w, word) {
			return i
		}
	}
	return len(words)
}

// expertise has the categories in which a reviewer takes precedence over others.
var expertise = map[string][]string{
	AgentSpecReviewer:       {"requirements", "testability", "clarity", "structure"},
	AgentTechnicalPM:        {"business", "roi", "pain_points"},
	AgentArchitectureReview: {"architecture", "scalability", "performance", "security"},
}

// onePerLocation keeps one recommendation for each location, at the place of the first one.
// Recommendations without a location are about different things.
func onePerLocation(list []recommendation) []recommendation {
	out := make([]recommendation, 0, len(list))
	at := map[string]int{} // the index in out, by location
	for i := range list {
		location := list[i].Location
		j, seen := at[location]
		if !seen || strings.TrimSpace(location) == "" {
			at[location] = len(out)
			out = append(out, list[i])
			continue
		}
		if atOneLocation(&list[i], &out[j]) > 0 {
			out[j] = list[i]
		}
	}
	return out
}

// atOneLocation chooses between two recommendations for one location: first the one in its
// reviewer's expertise, then the one with the higher priority, and otherwise the first.
func atOneLocation(a, b *recommendation) int {
	return cmp.Or(
		cmp.Compare(expert(a), expert(b)),
		cmp.Compare(rank(priorities, b.Priority), rank(priorities, a.Priority)))
}

// expert returns 1 if a category is in its reviewer's expertise, and 0 otherwise.
func expert(r *recommendation) int {
	if slices.Contains(expertise[r.Reviewer], r.Category) {
		return 1
	}
	return 0
}
