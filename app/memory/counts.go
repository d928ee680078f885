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
	out.Outside = isOutside(&r.Facts)
	type place struct{ service, key string }
	seen := map[place]bool{}
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
			if at := (place{service, p.Key}); !seen[at] && len(out.Seen) < maxSeen {
				seen[at] = true
				p.Service = service
				out.Seen = append(out.Seen, p)
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
	significant := significantOf(title)
	if len(significant) == 0 {
		return ""
	}
	return plaintext.Bytes("words "+words.Normalised(category)+": "+strings.Join(significant, " "), 500)
}

// significantOf returns the significant words of a title, sorted.
func significantOf(title string) []string {
	all := words.Significant(words.Normalised(title))
	slices.Sort(all)
	return all
}

// isOutside reports whether the author of a change may lack write permission.
func isOutside(f *pipeline.PRFacts) bool {
	return f.Head.Fork || !slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, f.Author.Association)
}
