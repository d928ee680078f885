package render

import (
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// proposed describes a change to the config before the change is in force.
type proposed struct {
	Files          []safe
	Problems       int
	Note           safe
	Decision       word // with the proposed config
	Same           bool // the decision is that of this review
	Condition      safe
	Counts         pipeline.Counts
	Changes        int
	AgentsAdded    []safe
	AgentsGone     []safe
	New, Gone      int    // findings
	Findings       []safe // the first of them
	NothingChanges bool
	Mode           word   // the repository's new mode, if it changes
	Covers         []safe // how exceptions would treat the change's files
	CoversNothing  bool
	Tests          []safe // what came of its policy tests
}

// proposed says what the change to the config would bring. The list holds the problems of
// the config, or the entries that the change edits. ok is false if the change does not
// touch the config. tight shortens the lists of files and agents.
func (s sections) proposed(tight bool) (out proposed, list items, ok bool) {
	c := &s.r.Report.ProposedConfig
	if len(c.Files) == 0 {
		return out, list, false
	}
	maxFiles, maxAgents := 6, 10
	if tight {
		maxFiles, maxAgents = 2, 3
	}
	name := func(id string) safe { return s.p.text(id, maxName) }
	says, _ := gateDecision(&s.r.Report)
	out = proposed{
		Files:     first(c.Files, maxFiles, func(f string) safe { return s.p.code(clipPath(f, maxPath), maxPath) }),
		Problems:  len(c.Problems),
		Note:      sentence(s.p.text(c.Note, maxReason)),
		Decision:  decisionWord(c.Decision),
		Same:      c.Decision == says,
		Counts:    c.Counts,
		Changes:   len(c.Changes) + max(0, c.ChangesMore),
		New:       max(0, c.FindingsNew),
		Gone:      max(0, c.FindingsGone),
		Condition: s.p.code(c.Condition, maxReason),
	}
	maxFindings := 5
	if tight {
		maxFindings = 1
	}
	out.Findings = first(c.Findings[:min(len(c.Findings), maxFindings)], maxFindings, s.configFinding)
	if more := out.New + out.Gone - len(out.Findings); more > 0 && len(out.Findings) > 0 {
		out.Findings = append(out.Findings, moreOf(more))
	}
	switch c.Mode {
	case config.ModeEnforce, config.ModeAdvisory, config.ModeOff:
		out.Mode = word(c.Mode)
	}
	if c.Decision == pipeline.DecisionPass {
		out.Condition = "" // no condition held
	}
	if out.Problems > 0 {
		return out, s.problems(c.Problems, nil), true // without origins: the change itself has the files
	}
	out.Tests = s.policyTests(c.Tests)
	out.AgentsAdded = first(c.AgentsAdded, maxAgents, name)
	out.AgentsGone = first(c.AgentsGone, maxAgents, name)
	out.Covers = each(c.Covered, s.covered).all()
	out.CoversNothing = c.Exceptions && c.Note == "" && len(out.Covers) == 0 && out.New+out.Gone == 0
	out.NothingChanges = out.Same && out.Mode == "" && len(c.AgentsAdded)+len(c.AgentsGone)+out.New+out.Gone == 0
	list = each(c.Changes, s.configChange)
	if c.ChangesMore > 0 {
		list = list.then(listOf([]safe{say("config changes more", c.ChangesMore)}))
	}
	return out, list, true
}

// policyTests says in a few sentences what came of the policy tests of a proposed config.
func (s sections) policyTests(t *pipeline.PolicyTests) (out []safe) {
	const maxWhy = 120
	if t == nil {
		return nil
	}
	if t.Cases > 0 || t.Note != "" {
		failures := first(t.Failures[:min(len(t.Failures), pipeline.MaxTestFailures)], pipeline.MaxTestFailures, func(f pipeline.TestFailure) safe {
			return say("policy test", struct{ Name, Why safe }{s.p.code(f.Name, maxName), s.p.text(f.Why, maxWhy)})
		})
		if more := t.Failed - len(failures); more > 0 && len(failures) > 0 {
			failures = append(failures, moreOf(more))
		}
		out = append(out, say("policy tests", struct {
			Note                          safe
			Cases, Failed, NotRun, Passed int
			Failures                      []safe
		}{sentence(s.p.text(t.Note, maxWhy)), t.Cases, max(0, t.Failed), max(0, t.NotRun), max(0, t.Cases-t.Failed-t.NotRun), failures}))
	}
	shown := t.Problems[:min(len(t.Problems), pipeline.MaxTestProblems)]
	for _, problem := range s.problems(shown, nil).all() {
		out = append(out, say("policy test unread", problem))
	}
	if more := len(t.Problems) + t.ProblemsMore - len(shown); more > 0 {
		out = append(out, say("policy tests unread more", more))
	}
	return out
}

// covered says how exceptions would treat files.
func (s sections) covered(c *pipeline.Covered) safe {
	const maxFiles = 5
	as := word(c.As)
	switch c.As {
	case pipeline.CoveredGenerated, pipeline.CoveredVendored, pipeline.CoveredDocumentation:
	default:
		as = word(pipeline.CoveredUnread)
	}
	n := len(c.Files) + max(0, c.More)
	shown := c.Files[:min(maxFiles, len(c.Files))]
	files := first(shown, maxFiles, func(f string) safe { return s.p.code(clipPath(f, maxPath), maxPath) })
	if n > len(shown) {
		files = append(files, moreOf(n-len(shown)))
	}
	return say("proposed covered", struct {
		As    word
		Files []safe
		N     int
	}{as, files, n})
}

// configFinding names a finding that only one of the configs makes.
func (s sections) configFinding(f pipeline.ConfigFinding) safe {
	at := pipeline.Finding{Path: f.Path, StartLine: f.Line}
	return say("proposed finding", struct {
		Gone               bool
		Severity           word
		Title, Place, Rule safe
	}{f.Gone, severityWord(f.Severity), s.p.text(f.Title, maxTitle), s.fs.place(&at), s.p.code(f.RuleID, maxName)})
}

// configChange describes an entry or setting that the proposed config changes.
func (s sections) configChange(c *pipeline.ConfigChange) safe {
	const maxFields = 8
	change := word(c.Change)
	switch c.Change {
	case pipeline.ChangeAdded, pipeline.ChangeRemoved:
	default:
		change = word(pipeline.ChangeChanged)
	}
	return say("config change", struct {
		Kind   word
		ID     safe
		Change word
		Fields []safe
	}{
		kindOf(c.File), s.p.code(c.ID, maxPath), change,
		first(c.Fields, maxFields, func(f string) safe { return s.p.code(f, maxName) }),
	})
}

// kindOf returns the kind of entry that a config file holds.
func kindOf(file string) word {
	switch file {
	case config.FileRules, config.FileComposition, config.FileAgents, config.FileDomains, config.FileSettings:
		return word(file)
	}
	if config.IsFile(file) {
		return "prompt"
	}
	return ""
}
