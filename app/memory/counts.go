package memory

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/policies/words"
)

// maxSeen bounds the patterns that one review counts.
const maxSeen = 200

// CountsOf returns what a review adds to memory once it is published. again is the last report on the
// same head, or nil: its findings were counted before.
func CountsOf(r *pipeline.Review, again *pipeline.PreviousReport) (out ports.MemoryCounts) {
	for _, u := range r.Report.Memory {
		if id := ports.MemoryID(u.Record); id != 0 {
			if out.Hits == nil {
				out.Hits = map[int64]int{}
			}
			out.Hits[id]++
		}
	}
	before := map[string]bool{}
	if again != nil {
		for i := range again.Findings {
			mark(before, &again.Findings[i])
		}
		for i := range again.Suppressed {
			mark(before, &again.Suppressed[i].Finding)
		}
	}
	type place struct{ service, key string }
	at := map[place]int{}
	for i := range r.Report.Findings {
		f := &r.Report.Findings[i]
		key := patternKey(f.RuleID, f.Category, f.Title)
		if key == "" {
			continue
		}
		services := servicesOf(&r.Classification, f.Path)
		if len(services) == 0 {
			services = []string{""}
		}
		for _, service := range services {
			n, known := at[place{service, key}]
			if !known {
				if len(out.Seen) == maxSeen {
					continue
				}
				n = len(out.Seen)
				at[place{service, key}] = n
				out.Seen = append(out.Seen, patternOf(f, service, key))
			}
			if f.State == pipeline.StateNew && !before[f.ID] && !slices.ContainsFunc(f.Fingerprints, func(id string) bool { return before[id] }) {
				out.Seen[n].Frequency++
			}
		}
	}
	return out
}

func mark(all map[string]bool, f *pipeline.Finding) {
	all[f.ID] = true
	for _, id := range f.Fingerprints {
		all[id] = true
	}
}

func patternOf(f *pipeline.Finding, service, key string) ports.MemoryPattern {
	p := ports.MemoryPattern{Key: key, RecurringFinding: pipeline.RecurringFinding{
		Service: service, Rule: f.RuleID, Category: f.Category, Title: plaintext.CutLine(plaintext.Printable(f.Title), maxTitle), Severity: f.Severity,
	}}
	if f.RuleID != "" {
		p.Category = ""
	}
	if f.Path != "" {
		p.Example = plaintext.Printable(f.Path)
		if f.StartLine > 0 {
			p.Example = fmt.Sprintf("%s:%d", p.Example, f.StartLine)
		}
	}
	return p
}

// patternKey identifies a pattern in its service: by the rule, or else by the category and the
// significant words of the title, whatever their order. It is empty if there are neither.
func patternKey(rule, category, title string) string {
	if rule != "" {
		return "rule " + rule
	}
	significant := words.Significant(words.Normalised(title))
	if len(significant) == 0 {
		return ""
	}
	slices.Sort(significant)
	return plaintext.Bytes("words "+words.Normalised(category)+": "+strings.Join(significant, " "), 500)
}
