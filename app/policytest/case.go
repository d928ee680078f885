package policytest

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/agentoutput"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/policies"
	"github.com/reviewgate/reviewgate/policies/spelling"
)

// Case is a change and what must come of its review.
type Case struct {
	Name        string
	Description string

	at      jsontree.Place
	change  change
	on      time.Time // when the change is reviewed, or zero
	outputs []output
	expect  expectation
}

// word is a name in a case and where it stands.
type word struct {
	text string
	node *jsontree.Node
}

// output is what an agent is assumed to say.
type output struct {
	node  *jsontree.Node
	agent word
	pipeline.AgentOutput
}

// expectation is what must come of a review. What is nil or empty is not looked at.
type expectation struct {
	decision           pipeline.Decision
	condition          string
	agents, notAgents  []word
	findings, notFound []place
	only               bool // no findings but these
}

// place describes findings. What is empty fits any finding.
type place struct {
	node        *jsontree.Node
	rule, agent string
	path        string
	line        int
	severity    pipeline.Severity
}

// The bounds of a case.
const (
	maxName = 120 // characters of its name, which has room in one line
	maxList = 100 // entries of a list of outputs or of expectations
)

// The members of the objects of a case.
var (
	caseKeys   = []string{"$schema", "name", "description", "on", "change", "outputs", "expect"}
	changeKeys = []string{
		"title", "body", "author", "author_type", "author_association", "labels", "milestone", "draft", "repository", "base",
		"default_branch", "head", "fork", "commits", "root_files", "gitattributes", "files", "diff",
	}
	fileKeys   = []string{"base", "head", "from"}
	expectKeys = []string{"decision", "condition", "agents", "not_agents", "findings", "not_findings", "no_other_findings"}
	placeKeys  = []string{"rule", "agent", "path", "line", "severity"}
)

func readCase(n *jsontree.Node) (*Case, []jsontree.Error) {
	f := jsontree.FieldsOf(n, "a case")
	f.Most = maxProblems
	c := &Case{at: n.Place()}
	if n.Kind != jsontree.Object {
		return c, f.Wrong
	}
	f.Text("$schema")
	c.Name, c.Description = f.Needed("name"), f.Text("description")
	if c.Name != plaintext.CutLine(c.Name, maxName) || c.Name != plaintext.Printable(c.Name) {
		f.Refuse("name", "this is not a name on one line", fmt.Sprintf("use at most %d characters, without line breaks and invisible ones", maxName))
	}
	if on := f.Text("on"); on != "" {
		var err error
		if c.on, err = time.Parse(time.DateOnly, on); err != nil {
			f.Refuse("on", "this is not a day", "write it as 2027-01-31")
		}
	}
	w := f.Within("change")
	if change := n.Get("change"); change != nil && change.Kind == jsontree.Object {
		c.change.read(w, change)
	}
	f.Take(w)
	for _, o := range list(f, "outputs") {
		out, wrong := readOutput(o)
		f.Add(wrong...)
		c.outputs = append(c.outputs, out)
	}
	w = f.Within("expect")
	if expect := n.Get("expect"); expect != nil && expect.Kind == jsontree.Object {
		c.expect.read(w, expect)
	}
	f.Take(w)
	refuseUnknown(f, caseKeys)
	return c, f.Wrong
}

// refuseUnknown refuses other members than the known ones: a misspelt expectation would never fail.
func refuseUnknown(f *jsontree.Fields, known []string) {
	for _, m := range f.Unknown(known...) {
		if f.Full() {
			return
		}
		remedy := "use " + strings.Join(known, ", ")
		if near := spelling.Nearest(m.Key, known, 2); near != "" {
			remedy = fmt.Sprintf("did you mean %q?", near)
		}
		f.Add(jsontree.Error{Place: m.KeyPlace(), Problem: shortened(strconv.Quote(m.Key), maxName) + " is not known here", Remedy: remedy})
	}
}

// shortened returns a text, or its length if it is too long to be shown. It cuts nothing: whoever
// shows the text replaces secrets in it, and half of a secret can't be recognised.
func shortened(s string, most int) string {
	if n := utf8.RuneCountInString(s); n > most {
		return fmt.Sprintf("(a text of %d characters)", n)
	}
	return s
}

// list is an optional list of at most maxList elements.
func list(f *jsontree.Fields, key string) []*jsontree.Node {
	all := f.List(key)
	if len(all) > maxList {
		f.Refuse(key, fmt.Sprintf("the list has %d entries, more than the limit of %d", len(all), maxList), "keep the entries that tell you most")
		return nil
	}
	return all
}

// words are the strings of an optional list.
func words(f *jsontree.Fields, key string) (out []word) {
	all := list(f, key)
	if all == nil {
		return nil
	}
	f.Texts(key) // reports elements of other types
	for _, n := range all {
		if n.Kind == jsontree.String {
			out = append(out, word{n.Text, n})
		}
	}
	return out
}

// readOutput reads an agent's output. In a case, what would be dropped or ignored is a mistake.
func readOutput(n *jsontree.Node) (output, []jsontree.Error) {
	graded := func(string) bool { return true } // Check knows the agents' scales
	outputs, errs := agentoutput.Decode("", n.AppendJSON(nil), graded)
	if len(errs) > 0 || len(outputs) != 1 {
		return output{}, []jsontree.Error{*n.Error("this is not an agent's output", "write it in { }, as the agent would report it")}
	}
	o := &outputs[0]
	errs = slices.Concat(o.Wrong, o.Dropped.Why)
	for i, e := range errs {
		errs[i].Place = inside(n, e.Pointer).Place()
	}
	if o.Unknown.Count > 0 {
		errs = append(errs, *inside(n, o.Unknown.First.Pointer).Error("this is not known in an agent's output", "remove it, or correct its name"))
	}
	return output{n, word{o.Agent, n.Get("agent")}, o.AgentOutput}, errs
}

// inside returns the value at a JSON pointer below n, or the nearest value around that.
func inside(n *jsontree.Node, pointer string) *jsontree.Node {
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		var next *jsontree.Node
		switch n.Kind {
		case jsontree.Object:
			next = n.Get(strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~"))
		case jsontree.Array:
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Elems) {
				next = n.Elems[i]
			}
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

func (e *expectation) read(f *jsontree.Fields, n *jsontree.Node) {
	e.decision = pipeline.Decision(f.OneOf("decision", string(pipeline.DecisionFail), string(pipeline.DecisionNeedsFixes), string(pipeline.DecisionPassWithWarnings), string(pipeline.DecisionPass)))
	if e.condition = f.Text("condition"); e.condition == "" {
		f.Refuse("condition", "the condition is empty", fmt.Sprintf("write %q if none must hold", policies.NoCondition))
	}
	e.agents, e.notAgents = words(f, "agents"), words(f, "not_agents")
	for _, key := range []string{"findings", "not_findings"} {
		for _, item := range list(f, key) {
			p, wrong := readPlace(item)
			if f.Add(wrong...); key == "findings" {
				e.findings = append(e.findings, p)
			} else {
				e.notFound = append(e.notFound, p)
			}
		}
	}
	e.only = f.Bool("no_other_findings")
	refuseUnknown(f, expectKeys)
	if len(f.Wrong) == 0 && e.empty() {
		f.Add(*n.Error("nothing is expected, so the test can't fail", "write what must come of it, such as a decision"))
	}
}

func (e *expectation) empty() bool {
	return e.decision == "" && e.condition == "" && len(e.agents)+len(e.notAgents)+len(e.findings)+len(e.notFound) == 0 && !e.only
}

func readPlace(n *jsontree.Node) (place, []jsontree.Error) {
	f := jsontree.FieldsOf(n, "a finding")
	f.Most = maxProblems
	if n.Kind != jsontree.Object {
		return place{}, f.Wrong
	}
	p := place{
		node: n, rule: f.Text("rule"), agent: f.Text("agent"), path: f.Text("path"), line: f.Count("line", 1_000_000_000),
		severity: pipeline.Severity(f.OneOf("severity", string(pipeline.SeverityCritical), string(pipeline.SeverityMajor), string(pipeline.SeverityWarning), string(pipeline.SeverityInfo))),
	}
	refuseUnknown(f, placeKeys)
	switch {
	case len(f.Wrong) > 0:
	case p == place{node: n}:
		f.Add(*n.Error("this describes no finding", `name its "rule", "agent", "path" or "severity"`))
	case p.line > 0 && p.path == "":
		f.Refuse("line", "this is a line of no file", `add its "path"`)
	}
	return p, f.Wrong
}

// fits reports whether a finding is as described.
func (p *place) fits(x *pipeline.Finding) bool {
	return (p.rule == "" || p.rule == x.RuleID) &&
		(p.agent == "" || p.agent == x.Agent || slices.Contains(x.Reviewers, p.agent)) &&
		(p.path == "" || p.path == x.Path) &&
		(p.line == 0 || p.line >= x.StartLine && p.line <= max(x.StartLine, x.EndLine)) &&
		(p.severity == "" || p.severity == x.GateSeverity)
}

// String describes the findings in a few words.
func (p *place) String() string {
	what := p.rule
	if p.agent != "" {
		what = strings.TrimSpace(what + " by " + p.agent)
	}
	if p.severity != "" {
		what = strings.TrimSpace(string(p.severity) + " " + what)
	}
	if p.path != "" {
		what = strings.TrimSpace(what + at(p.path, p.line))
	}
	return what
}

// at says where a finding is.
func at(path string, line int) string {
	if path = plaintext.Line(path); line > 0 {
		path = fmt.Sprintf("%s:%d", path, line)
	}
	return " at " + path
}

// isPath reports whether a text is a path within a repository.
func isPath(s string) bool { return fs.ValidPath(s) && s != "." && !strings.ContainsRune(s, 0) }
