package classify

import (
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// payer is what a file counts for: a risk factor or a domain.
type payer struct{ factor, domain string }

// counted says that a file counts for something with the same concern as a domain.
type counted struct {
	by     payer
	points int
	domain string
}

// ledger records, by path, what files already count for.
type ledger map[string][]counted

func (l ledger) put(path string, by payer, points int, covers string) {
	if covers != by.domain && points > 0 {
		l[path] = append(l[path], counted{by, points, covers})
	}
}

// counts reports whether a file counts for a factor by its path.
func (c *Classifier) counts(f *riskFactor, path string) bool {
	switch f.Factor {
	case config.RiskSensitivePath:
		return f.globs.Any(path)
	case config.RiskWorkflow:
		return c.kinds.workflow.Any(path)
	case config.RiskDependencies:
		return c.kinds.dependency.Any(path)
	}
	return false
}

// less returns how many of a domain's points its files have already added, and for what. It takes
// the file that added the fewest, since that file alone adds the rest.
func (l ledger) less(d *pipeline.Domain) (points int, payers []payer) {
	for i, f := range d.Files {
		most := 0
		for _, c := range l[f.Path] {
			if c.domain != d.ID || l.covers(f.Path, c.by.domain) {
				continue
			}
			most = max(most, c.points)
			if !slices.Contains(payers, c.by) {
				payers = append(payers, c.by)
			}
		}
		if most == 0 {
			return 0, nil
		}
		if i == 0 || most < points {
			points = most
		}
	}
	return points, payers
}

// covers reports whether a file counts for something instead of a domain. Such a domain does not
// replace another: otherwise two domains could replace each other, and neither would count.
func (l ledger) covers(path, domain string) bool {
	return slices.ContainsFunc(l[path], func(c counted) bool { return c.domain == domain })
}

// shares are the points that domains add to the risk.
type shares struct {
	points map[string]int     // by domain
	less   map[string]int     // by domain, what its files have already added for the same concern
	with   map[payer][]string // the domains that count together with something else
}

func (l ledger) shares(domains []pipeline.Domain, weights map[string]int) shares {
	s := shares{map[string]int{}, map[string]int{}, map[payer][]string{}}
	for i := range domains {
		d := &domains[i]
		less, payers := l.less(d)
		s.less[d.ID] = less
		s.points[d.ID] = max(0, weights[d.ID]-less)
		for _, p := range payers {
			s.with[p] = append(s.with[p], d.ID)
		}
	}
	return s
}

// note names the domains that count together with something.
func (s shares) note(p payer) string {
	if len(s.with[p]) == 0 {
		return ""
	}
	return ", which counts for " + strings.Join(s.with[p], ", ") + " too"
}
