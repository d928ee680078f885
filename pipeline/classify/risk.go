package classify

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
	"github.com/reviewgate/reviewgate/policies/glob"
)

const maxRisk = 100

// factorDomain is the factor of the reasons that come from a domain's own weight.
const factorDomain = "domain"

type riskFactor struct {
	config.RiskFactor
	globs *glob.Set
}

func compileRisk(factors []config.RiskFactor) ([]riskFactor, error) {
	var out []riskFactor
	for _, f := range factors {
		if !f.Enabled {
			continue
		}
		set, err := glob.Compile(f.Globs)
		if err != nil {
			return nil, fmt.Errorf("compile risk factor %s: %w", f.ID, err)
		}
		out = append(out, riskFactor{f, set})
	}
	return out, nil
}

// score adds up the risk. A file counts once if two names mean the same concern, such as a workflow
// and the domain of CI. Reasons are sorted by points, descending. Equal ones are in the config's
// order, with the domains' weights last.
func (c *Classifier) score(facts *pipeline.PRFacts, s survey, cl *pipeline.Classification, w weighed) pipeline.Risk {
	var r pipeline.Risk
	c.cover(facts, w.ledger)
	own := w.ledger.shares(cl.Domains, w.weights)
	add := func(factor string, by payer, points int, reason string) {
		if points > 0 && reason != "" {
			r.Reasons = append(r.Reasons, pipeline.RiskReason{Factor: factor, Points: points, Reason: reason + own.note(by)})
			r.Score += points
		}
	}
	for i := range c.risk {
		f := &c.risk[i]
		points, reason := f.weigh(facts, s, cl, own)
		add(f.Factor, payer{factor: f.Factor}, points, reason)
	}
	for _, d := range cl.Domains {
		reason := "touches " + d.ID + ": " + andMore(d.Files[0].Path, len(d.Files))
		if n := own.less[d.ID]; n > 0 {
			reason += fmt.Sprintf(", beyond the %d points that its files bring otherwise", n)
		}
		add(factorDomain, payer{domain: d.ID}, own.points[d.ID], reason)
	}
	slices.SortStableFunc(r.Reasons, func(a, b pipeline.RiskReason) int { return cmp.Compare(b.Points, a.Points) })
	r.Score = min(r.Score, maxRisk)
	r.Level = level(r.Score)
	return r
}

// cover records the files that count for factors.
func (c *Classifier) cover(facts *pipeline.PRFacts, l ledger) {
	for i := range c.risk {
		f := &c.risk[i]
		if f.Covers == "" {
			continue
		}
		for j := range facts.Files {
			if p := facts.Files[j].Path; c.counts(f, p) {
				l.put(p, payer{factor: f.Factor}, f.Points, f.Covers)
			}
		}
	}
}

func level(score int) pipeline.RiskLevel {
	switch {
	case score < 25:
		return pipeline.RiskLow
	case score < 50:
		return pipeline.RiskMedium
	case score < 75:
		return pipeline.RiskHigh
	}
	return pipeline.RiskCritical
}

// weigh returns the points that a factor adds, and the reason. Without a reason it adds none.
func (f *riskFactor) weigh(facts *pipeline.PRFacts, s survey, cl *pipeline.Classification, own shares) (points int, reason string) {
	at := func(i int, what string) (int, string) {
		if i < 0 {
			return 0, ""
		}
		return f.Points, what + facts.Files[i].Path
	}
	when := func(holds bool, reason string) (int, string) {
		if !holds {
			return 0, ""
		}
		return f.Points, reason
	}
	switch f.Factor {
	case config.RiskChangedLines:
		lines := cl.Scope.ChangedLines
		// The scale is logarithmic: 10,000 lines earn all points, and 100 lines half of them.
		earned := math.Round(float64(f.Points) * math.Log10(1+float64(lines)) / 4)
		return min(f.Points, int(earned)), fmt.Sprintf("changed lines: %d", lines)
	case config.RiskDomains:
		var ids []string
		for _, d := range cl.Domains {
			if own.less[d.ID] == 0 {
				ids = append(ids, d.ID)
			}
		}
		n := len(ids)
		return f.Points * max(0, n-1), fmt.Sprintf("touches %d domains: %s", n, strings.Join(ids, ", "))
	case config.RiskSensitivePath:
		return f.sensitive(facts)
	case config.RiskWorkflow:
		return at(s.workflow, "changes the workflow ")
	case config.RiskDependencies:
		return at(s.dependency, "changes dependencies in ")
	case config.RiskDeletedTests:
		return at(s.deletedTest, "deletes the test ")
	case config.RiskSourceWithoutTest:
		if s.tests > 0 {
			return 0, ""
		}
		return at(s.grownSource, "adds source but touches no test: ")
	case config.RiskFirstTimeAuthor:
		return when(policies.FirstTime(facts.Author), "the author contributes for the first time")
	case config.RiskFork:
		return when(facts.Head.Fork, "the change comes from a fork")
	}
	return 0, ""
}

func (f *riskFactor) sensitive(facts *pipeline.PRFacts) (points int, reason string) {
	first, n := "", 0
	for i := range facts.Files {
		if p := facts.Files[i].Path; f.globs.Any(p) {
			if n++; n == 1 {
				first = p
			}
		}
	}
	if n == 0 {
		return 0, ""
	}
	return f.Points, amidSentence(f.Description) + ": " + andMore(first, n)
}

// amidSentence is a description in the form for the middle of a sentence. The capitals of CI or
// APIs stay.
func amidSentence(description string) string {
	s := strings.TrimSuffix(description, ".")
	if len(s) > 1 && 'A' <= s[0] && s[0] <= 'Z' && (s[1] < 'A' || 'Z' < s[1]) {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

// andMore names the first of n files and the number of the others.
func andMore(first string, n int) string {
	if n > 1 {
		return fmt.Sprintf("%s and %d more", first, n-1)
	}
	return first
}
