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
// same head, or nil: its findings were counted before. A record has a hit where it had an effect, and not
// where it was only named.
func CountsOf(r *pipeline.Review, again *pipeline.PreviousReport) (out ports.MemoryCounts) {
	before := map[string]bool{}
	if again != nil {
		for i := range again.Findings {
			mark(before, &again.Findings[i])
		}
		for i := range again.Suppressed {
			mark(before, &again.Suppressed[i].Finding)
		}
	}
	for _, u := range r.Report.Memory {
		if u.Effect == pipeline.MemoryJudgedWrong || before[u.Finding] {
			continue
		}
		if id := ports.MemoryID(u.Record); id != 0 {
			if out.Hits == nil {
				out.Hits = map[int64]int{}
			}
			out.Hits[id]++
		}
	}
	type place struct{ service, key string }
	at := map[place]int{}
	for i := range r.Report.Findings {
		f := &r.Report.Findings[i]
		p := patternOf(f)
		if p.Key == "" {
			continue
		}
		services := servicesOf(&r.Classification, f.Path)
		if len(services) == 0 {
			services = []string{""}
		}
		for _, service := range services {
			n, known := at[place{service, p.Key}]
			if !known {
				if len(out.Seen) == maxSeen {
					continue
				}
				n = len(out.Seen)
				at[place{service, p.Key}] = n
				p.Service = service
				out.Seen = append(out.Seen, p)
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

// patternOf returns the pattern of a finding, without a service. Its Key is empty if it has no pattern.
func patternOf(f *pipeline.Finding) ports.MemoryPattern {
	p := ports.MemoryPattern{RecurringFinding: pipeline.RecurringFinding{
		Rule: brief(f.RuleID, maxName), Title: brief(f.Title, maxTitle), Severity: f.Severity,
	}}
	if p.Rule == "" {
		p.Category = brief(f.Category, maxName)
	}
	if p.Title != "" {
		p.Key = patternKey(p.Rule, p.Category, p.Title)
	}
	if f.Path != "" {
		p.Example = brief(f.Path, maxExample)
		if f.StartLine > 0 {
			p.Example = fmt.Sprintf("%s:%d", p.Example, f.StartLine)
		}
	}
	return p
}

// brief is a text on one line that can be shown as it is, with at most most characters.
func brief(s string, most int) string { return plaintext.CutLine(plaintext.Printable(s), most) }

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
