package render

import (
	"slices"
	"time"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// word is one of our own words from a closed set, such as a severity.
type word string

// The limits of texts, in runes unless stated otherwise.
const (
	maxName    = 80  // ids, branches, domains
	maxPath    = 160 // paths
	maxTitle   = 200
	maxMessage = 1200 // a finding's message, its reason and its recommendation, each
	maxReason  = 400  // one-line reasons
	maxDetails = 300  // the details page's URL, in bytes
)

// page holds the values for the phrases about the whole review. It has no plain
// strings: see [safe].
type page struct {
	Local      bool // no code host
	Advisory   bool
	Incomplete bool
	Blocks     bool
	Verdict    word
	Counts     pipeline.Counts
	Condition  safe   // the gate's condition, unless it is a default
	Metrics    []safe // those that the condition read, with their values
	Missing    missing
	Worse      *worse      // for a check: another pull request on the head decides
	Waits      *waits      // a person must decide
	Errors     int         // findings about something wrong, shown if there are others
	Omissions  int         // findings about something missing
	Person     *person     // nothing blocks, and a person should look
	ByHand     *byHand     // a person decided; Verdict is still that of the gate
	Escalated  *escalation // by the fix loop
	Session    *sessionPage
	Awaited    *awaited // answers that are still to come

	ConfigProblems int
	Uncertain      int // concerns below the confidence gate; the title has them if there are no findings
	Evaluated      int // other findings in evaluation than Secrets, likewise
	Secrets        int // in evaluation
	Leaked         int // leaked secrets, which somebody has to revoke

	Head, Base  safe
	Risk        *risk
	Domains     []safe
	MoreDomains int
	Unread      int  // unread files that do not block
	Only        safe // what alone reviewed the change, if something was left out
	Ran         int
	Since       *since
	Numbered    int  // blocking items, which are numbered from 1
	Serious     int  // findings in the numbered items
	Alone       bool // there is only one item
	Waiting     int  // numbered items that wait for a person
	Disputed    int  // numbered items that reviewers disagree about

	// The footer. Run is the part that varies from run to run. It begins with a
	// separator.
	Version, Config, Run safe
	Details              safe // a link
	Elsewhere            safe // what only the check has
}

type missing struct {
	Stages, Agents, Files, Others int
	Awaited                       int // answers
	FileList, Commits, Config     bool
	Names                         bool // some files' names are not UTF-8, and look the same
}

// Again reports whether another review of the same head may find what is missing.
func (m missing) Again() bool { return m.Stages+m.Agents+m.Awaited+m.Others > 0 }

type worse struct {
	Number   int
	Decision word
}

// waits counts the findings that only a person can decide about, because one model alone
// found them.
type waits struct {
	For  pipeline.Counts // by the severity that the model gave them
	Rest pipeline.Counts // all other findings
}

// person says what a person should look at, although nothing blocks.
type person struct {
	Findings int
	Disagree bool // the models' verdicts differ
}

type risk struct {
	Level word
	Score int
}

type since struct {
	Previous safe
	Changes  safe
}

// newPage gathers the values for the phrases. p writes the untrusted ones.
func newPage(v View, p pen, k linker) page {
	rep, facts := &v.Review.Report, &v.Review.Facts
	says, condition := gateDecision(rep)
	c := &v.Review.Classification
	pg := page{
		Local:      k.web == "",
		Advisory:   v.Mode == config.ModeAdvisory,
		Incomplete: isIncomplete(rep),
		Blocks:     findingsBlock(rep),
		Verdict:    verdictOf(says),
		Counts:     rep.Counts,
		Missing:    missingOf(rep.Incomplete),

		ConfigProblems: len(facts.Config.Problems),
		Uncertain:      len(rep.ResidualConcerns),
		Evaluated:      evaluatedFindings(rep) - evaluatedSecrets(rep),
		Secrets:        evaluatedSecrets(rep),
		Leaked:         leaked(rep, k.web == ""),
		Head:           commitName(p, k, facts.Head.SHA, facts.Head.Ref),
		Base:           p.code(shortSHA(facts.Base.Ref), maxName),
		Unread:         len(unreadFiles(rep.Incomplete)),
		Only:           onlyOf(rep.Incomplete, p),
		Ran:            len(v.Review.Manifest.Entries),
		Metrics:        metricsRead(&rep.Gate, p),
	}
	switch {
	case facts.Head.Staged:
		pg.Head = say("index on", pg.Head)
	case facts.Head.WorkTree:
		pg.Head = say("work tree on", pg.Head)
	}
	if pg.Base == "" {
		pg.Base = p.code(shortSHA(facts.Base.SHA), maxName)
	}
	pg.ByHand = byHandOf(rep.ByHand, p)
	if pg.ByHand == nil && rep.Decision != pipeline.DecisionPass && !isDefaultCondition(rep.Gate.Condition) && !pg.Incomplete {
		pg.Condition = p.code(rep.Gate.Condition, maxReason)
	}
	if c.Risk.Level.Rank() > 0 {
		pg.Risk = &risk{word(c.Risk.Level), c.Risk.Score}
	}
	const maxDomains = 6
	for i, d := range c.Domains {
		if i == maxDomains {
			pg.MoreDomains = len(c.Domains) - i
			break
		}
		pg.Domains = append(pg.Domains, p.text(d.ID, maxName))
	}
	if prev := rep.Changes.PreviousReport; prev != "" {
		pg.Since = &since{commitName(p, k, prev, ""), changed(rep)}
	}
	pg.Person = personOf(rep)
	pg.Errors, pg.Omissions = kindsOf(rep)
	pg.Escalated = escalationOf(&v.FixLoop)
	pg.Awaited = awaitedOf(&v.Review, p)
	pg.sessionOf(rep, p)
	if condition == aggregate.PersonDecides {
		pg.Waits = waitsOf(rep)
	}
	pg.setFooter(v, p)
	return pg
}

// next says what to do next, or returns "".
func (pg *page) next() safe {
	steps := joined([]safe{say("revoke", pg.Leaked), say("next", pg)}, "; ")
	if steps == "" {
		return ""
	}
	return sentence(steps)
}

// leaked counts the secrets that have to be revoked: those in what was pushed, even if the newest
// head no longer has them, a person passed the head, or a config only evaluates them.
func leaked(r *pipeline.Report, local bool) int {
	n := secretsIn(r.Changes.Resolved)
	if !local || r.ByHand != nil { // a local review comes before a push
		n += secretsIn(r.Findings) + evaluatedSecrets(r)
	}
	return n
}

// secretsIn counts the findings of secrets that are worth revoking.
func secretsIn(list []pipeline.Finding) (n int) {
	for i := range list {
		if f := &list[i]; isSecret(f) && f.Severity.Rank() >= pipeline.SeverityMajor.Rank() {
			n++
		}
	}
	return n
}

func evaluatedSecrets(r *pipeline.Report) int {
	if r.Evaluation == nil {
		return 0
	}
	return secretsIn(r.Evaluation.Findings)
}

func evaluatedFindings(r *pipeline.Report) int {
	if r.Evaluation == nil {
		return 0
	}
	return len(r.Evaluation.Findings) + max(0, r.Evaluation.More)
}

func changed(r *pipeline.Report) safe {
	c := &r.Changes
	isNew := say("new", struct{ New, Back int }{c.New, returned(r.Findings)})
	return say("changes", struct {
		New                                    safe
		Open, Resolved, Unconfirmed, NotRaised int
	}{isNew, c.Open, len(c.Resolved), len(c.Unconfirmed), len(c.NotRaised)})
}

// kindsOf counts the findings about something wrong and about something missing.
func kindsOf(r *pipeline.Report) (errors, omissions int) {
	for i := range r.Findings {
		if r.Findings[i].FindingType == pipeline.FindingOmission {
			omissions++
		} else {
			errors++
		}
	}
	return errors, omissions
}

// personOf returns what the models leave to a person. It returns nil if the gate blocks
// anyway, or if a person has decided.
func personOf(r *pipeline.Report) *person {
	m := r.Models
	if m == nil || r.ByHand != nil || r.Decision.Blocks() || isIncomplete(r) || autoDecisionWord(m.AutoDecision) != word(pipeline.AutoHuman) {
		return nil
	}
	out := &person{}
	passes, fails, theirs := false, false, 0
	for _, v := range m.Verdicts {
		passes, fails = passes || v.Verdict == pipeline.VerdictPass, fails || v.Verdict == pipeline.VerdictFail
	}
	out.Disagree = passes && fails
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Attribution() == "" {
			continue
		}
		theirs++
		if oneModelSeverity(f) != "" || len(f.Perspectives) > 0 {
			out.Findings++
		}
	}
	if out.Findings == 0 {
		out.Findings = theirs
	}
	return out
}

func waitsOf(r *pipeline.Report) *waits {
	var w waits
	for i := range r.Findings {
		if f := &r.Findings[i]; isHeld(f) {
			w.For.Add(f.Severity)
		} else {
			w.Rest.Add(severityOf(f))
		}
	}
	return &w
}

// number counts the numbered items of all, and their findings.
func (pg *page) number(items [][]*pipeline.Finding, all int) {
	pg.Numbered, pg.Alone = len(items), all == 1
	for _, g := range items {
		pg.Serious += len(g)
		if isHeld(g[0]) {
			pg.Waiting++
		}
		if len(g[0].Perspectives) > 0 {
			pg.Disputed++
		}
	}
}

// setFooter fills in the footer.
func (pg *page) setFooter(v View, p pen) {
	pg.Version = p.text(v.Record.Version, maxName)
	if cfg := v.Review.Facts.Config; cfg.Version != "" {
		const maxLayers = 6 // there are four kinds
		var used []string
		for _, l := range cfg.Layers {
			if l.Used {
				used = append(used, l.Name)
			}
		}
		layers := first(used, maxLayers, func(name string) safe { return p.text(name, maxName) })
		pg.Config = say("config version", struct {
			Version safe
			Layers  []safe
		}{p.code(cfg.Version[:min(7, len(cfg.Version))], maxName), layers})
	}
	if len(v.Details) <= maxDetails && webURL.MatchString(v.Details) {
		pg.Details = p.link(say("details", nil), v.Details)
	}
	run := struct{ Took, ID, Details safe }{ID: p.text(v.Record.RunID, maxName), Details: pg.Details}
	if d := v.Record.Duration(); d > 0 {
		run.Took = took(d)
	}
	pg.Run = say("run", run)
}

// took writes a duration for people: "0.3 s", "4.1 s", "2 min 5 s".
func took(d time.Duration) safe {
	if d < time.Minute {
		tenths := (d + 50*time.Millisecond) / (100 * time.Millisecond)
		return safe(grouped(int(tenths/10)) + "." + grouped(int(tenths%10)) + " s")
	}
	d = d.Round(time.Second)
	return safe(grouped(int(d/time.Minute)) + " min " + grouped(int(d%time.Minute/time.Second)) + " s")
}

// commitName names a commit by its short SHA. If there is no SHA, as for a work tree,
// it uses ref.
func commitName(p pen, k linker, sha, ref string) safe {
	if sha == "" {
		return p.code(ref, maxName)
	}
	return p.link(p.code(shortSHA(sha), maxName), k.commit(sha))
}

// verdictOf maps the decision to one of our words. An unknown decision counts as one
// that blocks.
func verdictOf(d pipeline.Decision) word {
	if d.Rank() == 0 {
		d = pipeline.DecisionNeedsFixes
	}
	return word(d)
}

// isDefaultCondition reports whether the gate's condition says no more than the title
// beside it.
func isDefaultCondition(c string) bool {
	switch plaintext.Line(c) {
	case "", "critical > 0", "major > 0", "warning > 0", aggregate.PersonDecides,
		aggregate.SessionEscalated, aggregate.SessionPaused, aggregate.SessionUnheard:
		return true
	}
	return false
}

// unreadFiles lists the files that were not read in full and do not block.
func unreadFiles(list []pipeline.Incompleteness) (paths []string) {
	seen := map[string]bool{}
	for _, i := range list {
		if i.Unread() && !i.Gating && i.Path != "" && !seen[i.Path] {
			seen[i.Path] = true
			paths = append(paths, i.Path)
		}
	}
	return paths
}

// onlyOf says which agents and rules alone reviewed the change, or returns "" if nothing was left out.
func onlyOf(list []pipeline.Incompleteness, p pen) safe {
	for _, i := range list {
		if i.What == pipeline.IncompleteOnly {
			return p.text(i.Why, maxReason)
		}
	}
	return ""
}

func isIncomplete(r *pipeline.Report) bool {
	return slices.ContainsFunc(r.Incomplete, func(i pipeline.Incompleteness) bool { return i.Gating })
}

func missingOf(list []pipeline.Incompleteness) missing {
	var m missing
	for _, i := range list {
		if !i.Gating {
			continue
		}
		switch i.What {
		case "stage":
			m.Stages++
		case "agent":
			m.Agents++
		case pipeline.IncompleteAnswer:
			m.Awaited++
		case "patch":
			m.Files++
		case "files":
			m.FileList = m.FileList || i.Path == ""
			m.Names = m.Names || i.Path != ""
		case "commits":
			m.Commits = true
		case "config":
			m.Config = true
		default:
			m.Others++
		}
	}
	return m
}
