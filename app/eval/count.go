package eval

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// Result are the figures.
type Result struct {
	Cases   int       `json:"cases"`
	Clean   int       `json:"clean_cases"`
	Agents  []Row     `json:"agents"` // by agent, then model
	Report  Report    `json:"report"`
	Parts   []Part    `json:"languages"` // the report's results for each language, by name
	Defects []Outcome `json:"defects"`   // by case, in the order of its file
	Others  []Other   `json:"others"`    // findings that name no defect, by case, then agent
}

// Score says how right findings are.
type Score struct {
	Findings int `json:"findings"`
	Hits     int `json:"hits"` // findings that name a defect
	// Precision is Hits of Findings, nil where there are none.
	Precision *float64 `json:"precision"`
	Found     int      `json:"found"` // defects that are named
	// Recall is Found of all defects of the cases, nil where these have none.
	Recall        *float64 `json:"recall"`
	CleanFindings int      `json:"clean_findings"` // of Findings, those on clean cases
}

// Row holds the results of one agent, or of one of its models.
type Row struct {
	Agent string `json:"agent"`
	Model string `json:"model"`
	Cases int    `json:"cases"` // that it was asked to review
	// Failed counts the cases that it did not finish. Missed defects there say nothing
	// about the agent's quality.
	Failed int `json:"failed"`
	Score
	Asked   int     `json:"asked"`        // questions to the model
	Input   int     `json:"input_tokens"` // cached ones included
	Cached  int     `json:"cached_tokens"`
	Output  int     `json:"output_tokens"`
	CostUSD float64 `json:"cost_usd"`
	P50MS   float64 `json:"p50_ms"` // of one review, all attempts together
	MaxMS   float64 `json:"max_ms"`

	times []time.Duration
}

// Report holds the results of all agents together, as people see them: after merging, and
// without suppressed findings.
type Report struct {
	Score
	DefectCasesBlocked int `json:"defect_cases_blocked"` // that the gate does not let pass
	CleanBlocked       int `json:"clean_cases_blocked"`
}

// Part are the defects of one language.
type Part struct {
	Name    string `json:"language"`
	Defects int    `json:"defects"`
	Found   int    `json:"found"`
}

// Outcome says which agents found one defect.
type Outcome struct {
	Case     string            `json:"case"`
	Path     string            `json:"path"`
	Line     int               `json:"line"`
	Category string            `json:"category"`
	Severity pipeline.Severity `json:"severity"`
	What     string            `json:"what"`
	// FoundBy are the agents that named it. "/" and the model follow the name of an
	// agent that asks models. Never nil.
	FoundBy []string `json:"found_by"`
}

// Other is an agent's finding that names no defect: it is noise, or a problem that the
// case's author did not think of.
type Other struct {
	Case  string `json:"case"`
	Agent string `json:"agent"`
	Model string `json:"model"`
	Path  string `json:"path"`
	Line  int    `json:"line"`
	Rule  string `json:"rule_id"`
	Title string `json:"title"`
}

func (r reviewer) String() string {
	if r.model == "" {
		return r.agent
	}
	return r.agent + "/" + r.model
}

// tally counts the results case by case.
type tally struct {
	Result
	rows  map[reviewer]*Row
	parts map[string]*Part
}

// count computes the figures. It does not count the agents in leftOut.
func count(cases []reviewedCase, leftOut map[string]dispatch.Agent) Result {
	t := tally{rows: map[reviewer]*Row{}, parts: map[string]*Part{}}
	t.Defects, t.Others = []Outcome{}, []Other{}
	for i := range cases {
		c := &cases[i]
		if t.Cases++; c.Clean() {
			t.Clean++
		}
		reviewers := t.agents(c, leftOut)
		t.report(c)
		for j, d := range c.Defects {
			by := []string{}
			for _, r := range reviewers[j] {
				by = append(by, r.String())
			}
			slices.Sort(by)
			t.Defects = append(t.Defects, Outcome{c.Name, d.Path, d.Lines[0].First, d.Category, d.Severity, d.What, by})
		}
	}
	return t.result()
}

// agents counts the findings of a case's agents, and returns which of them named each
// defect.
func (t *tally) agents(c *reviewedCase, leftOut map[string]dispatch.Agent) map[int][]reviewer {
	reviewers := map[int][]reviewer{}
	for i := range c.Review.Results {
		result := &c.Review.Results[i]
		if _, out := leftOut[result.Agent]; out {
			continue
		}
		who := reviewer{result.Agent, result.Model}
		row := t.row(who)
		if result.Status == pipeline.AgentDiscarded { // not asked: the spec stage failed
			continue
		}
		row.Cases++
		if result.Status != pipeline.AgentOK {
			row.Failed++
		}
		if took, ok := c.duration(who); ok {
			row.times = append(row.times, took)
		}
		findings := result.Output.Findings
		named := judge(c.Defects, findings)
		for j := range row.add(c.Case, named) {
			reviewers[j] = append(reviewers[j], who)
		}
		for k, f := range findings {
			if named[k] == none {
				t.Others = append(t.Others, Other{c.Name, who.agent, who.model, f.Path, f.StartLine, f.RuleID, f.Title})
			}
		}
	}
	for _, u := range c.Record.ModelUse {
		row := t.row(reviewer{u.Agent, u.Model})
		row.Asked += u.Asked
		row.Input += u.Input
		row.Cached += u.Cached
		row.Output += u.Output
		row.CostUSD += u.CostUSD
	}
	return reviewers
}

func (t *tally) row(who reviewer) *Row {
	if t.rows[who] == nil {
		t.rows[who] = &Row{Agent: who.agent, Model: who.model}
	}
	return t.rows[who]
}

// report counts the findings of a case's report, which people see.
func (t *tally) report(c *reviewedCase) {
	r := &c.Review.Report
	found := t.Report.add(c.Case, judge(c.Defects, r.Findings))
	switch {
	case r.Decision.Blocks() && c.Clean():
		t.Report.CleanBlocked++
	case r.Decision.Blocks():
		t.Report.DefectCasesBlocked++
	}
	if c.Clean() {
		return
	}
	if t.parts[c.Language] == nil {
		t.parts[c.Language] = &Part{Name: c.Language}
	}
	t.parts[c.Language].Defects += len(c.Case.Defects)
	t.parts[c.Language].Found += len(found)
}

// add counts the findings on a case, with the defects that judge assigned to them, and
// returns these defects.
func (s *Score) add(c *Case, named []int) map[int]bool {
	found := map[int]bool{}
	for _, d := range named {
		if d != none {
			s.Hits++
			found[d] = true
		}
	}
	s.Found += len(found)
	s.Findings += len(named)
	if c.Clean() {
		s.CleanFindings += len(named)
	}
	return found
}

// duration is how long an agent took on a case.
func (c *reviewedCase) duration(who reviewer) (time.Duration, bool) {
	if d, ok := c.took.took[who]; ok {
		return d, true
	}
	for _, t := range c.Record.Agents {
		if t.Agent == who.agent && who.model == "" {
			return time.Duration(t.DurationMS * float64(time.Millisecond)), true
		}
	}
	return 0, false
}

func (t *tally) result() Result {
	t.Agents, t.Parts = []Row{}, []Part{}
	for _, r := range t.rows {
		r.shares(len(t.Defects))
		r.P50MS, r.MaxMS = spread(r.times)
		t.Agents = append(t.Agents, *r)
	}
	slices.SortFunc(t.Agents, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model))
	})
	t.Report.shares(len(t.Defects))
	for _, name := range slices.Sorted(maps.Keys(t.parts)) {
		t.Parts = append(t.Parts, *t.parts[name])
	}
	return t.Result
}

func (s *Score) shares(defects int) {
	s.Precision, s.Recall = share(s.Hits, s.Findings), share(s.Found, defects)
}

func share(part, all int) *float64 {
	if all == 0 {
		return nil
	}
	v := float64(part) / float64(all)
	return &v
}

// spread returns the median, the lower one of two, and the longest, in
// milliseconds.
func spread(times []time.Duration) (p50, longest float64) {
	if len(times) == 0 {
		return 0, 0
	}
	slices.Sort(times)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return ms(times[(len(times)-1)/2]), ms(times[len(times)-1])
}
