package policytest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/agentoutput"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// Recorded is a case that was written from a stored review.
type Recorded struct {
	Text []byte // of the file
	// LeftOut are the expectations that the case lacks, because a test of it can't meet them. Each
	// says what a test gets instead.
	LeftOut []string
	// Why says what the review had that a case can't have.
	Why []string
}

// written is the form of a case in a file.
type written struct {
	Schema      string            `json:"$schema"`
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Change      writtenChange     `json:"change"`
	Outputs     []json.RawMessage `json:"outputs,omitempty"`
	Expect      writtenExpect     `json:"expect"`
}

type writtenChange struct {
	Title             string   `json:"title"`
	Body              string   `json:"body,omitempty"`
	Author            string   `json:"author,omitempty"`
	AuthorType        string   `json:"author_type,omitempty"`
	AuthorAssociation string   `json:"author_association,omitempty"`
	Labels            []string `json:"labels,omitempty"`
	Milestone         string   `json:"milestone,omitempty"`
	Draft             bool     `json:"draft,omitempty"`
	Repository        string   `json:"repository,omitempty"`
	Base              string   `json:"base,omitempty"`
	DefaultBranch     string   `json:"default_branch,omitempty"`
	Head              string   `json:"head,omitempty"`
	Fork              bool     `json:"fork,omitempty"`
	Commits           []string `json:"commits,omitempty"`
	RootFiles         []string `json:"root_files,omitempty"`
	Attributes        string   `json:"gitattributes,omitempty"`
	Diff              []string `json:"diff"`
}

type writtenExpect struct {
	Decision        pipeline.Decision `json:"decision,omitempty"`
	Condition       string            `json:"condition,omitempty"`
	Agents          []string          `json:"agents,omitempty"`
	Findings        []writtenPlace    `json:"findings,omitempty"`
	NoOtherFindings bool              `json:"no_other_findings,omitempty"`
}

type writtenPlace struct {
	Rule  string `json:"rule,omitempty"`
	Agent string `json:"agent,omitempty"`
	Path  string `json:"path,omitempty"`
	Line  int    `json:"line,omitempty"`
}

// Record writes a case from a stored review and the config that it used. With that config the case
// passes: Record runs it, and leaves out what does not hold.
func Record(ctx context.Context, s *ports.StoredReview, cfg *config.Config, o Options) (*Recorded, error) {
	f := &s.Review.Facts
	if len(f.Files) == 0 {
		return nil, errors.New("the review has no changed file, so there is nothing to test")
	}
	w := written{
		Schema: config.SchemaURL(config.SchemaPolicyTest),
		Name:   plaintext.CutLine(plaintext.Printable(fmt.Sprintf("%s: %s", f.PullName(), f.Title)), maxName),
		Change: changeOf(s), Expect: expectOf(&s.Review),
	}
	out := &Recorded{Why: limitsOf(s, cfg)}
	for i := range s.Review.Results {
		row := &s.Review.Results[i]
		a := agentOf(cfg, row.Agent)
		if a == nil || !outside(a) || row.Status != pipeline.AgentOK {
			continue
		}
		said := row.Output
		said.Agent, said.Model = row.Agent, row.Model
		text, err := agentoutput.Encode(&said)
		if err != nil {
			return nil, err
		}
		w.Outputs = append(w.Outputs, text)
	}
	c, err := w.parsed(cfg)
	if err != nil {
		return nil, err
	}
	outcome, err := c.review(ctx, cfg, o)
	if err != nil {
		return nil, fmt.Errorf("review the change again: %w", err)
	}
	out.LeftOut = w.Expect.leaveOut(&c.expect, &outcome.Review)
	w.Description = description(s, out)
	if _, err := w.parsed(cfg); err != nil {
		return nil, err
	}
	if out.Text, err = w.text(); err != nil {
		return nil, err
	}
	return out, nil
}

// text is the case as a file.
func (w *written) text() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(w); err != nil {
		return nil, fmt.Errorf("encode the case: %w", err)
	}
	return b.Bytes(), nil
}

// parsed is the case as a test reads it.
func (w *written) parsed(cfg *config.Config) (*Case, error) {
	text, err := w.text()
	if err != nil {
		return nil, err
	}
	cases, problems := Read([]config.File{{Path: "tests/recorded.json", Text: text}})
	if len(problems) == 0 {
		cases, problems = Check(cases, cfg)
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("no case can be made of this review: %s", config.FormatProblem(problems[0]))
	}
	return cases[0], nil
}

func agentOf(cfg *config.Config, id string) *config.Agent {
	i := slices.IndexFunc(cfg.Agents, func(a config.Agent) bool { return a.ID == id })
	if i < 0 {
		return nil
	}
	return &cfg.Agents[i]
}

func changeOf(s *ports.StoredReview) writtenChange {
	f := &s.Review.Facts
	c := writtenChange{
		Title: f.Title, Body: f.Body, Author: f.Author.Login, Labels: f.Labels, Milestone: f.Milestone, Draft: f.Draft,
		Repository: f.Repository.FullName(), Base: f.Base.Ref, DefaultBranch: f.Repository.DefaultBranch,
		Head: f.Head.Ref, Fork: f.Head.Fork, RootFiles: f.RootFiles, Diff: diffOf(f),
	}
	if f.Author.Type == "User" || f.Author.Type == "Bot" {
		c.AuthorType = f.Author.Type
	}
	if slices.Contains(associations, f.Author.Association) {
		c.AuthorAssociation = f.Author.Association
	}
	for _, commit := range f.Commits {
		c.Commits = append(c.Commits, commit.Message)
	}
	for _, b := range s.Config {
		if b.Layer == ports.LayerAttributes {
			c.Attributes = string(b.Text)
		}
	}
	return c
}

// expectOf expects everything of a review that a case can expect. A person's decision is none of
// the config.
func expectOf(v *pipeline.Review) writtenExpect {
	r := &v.Report
	e := writtenExpect{Decision: r.Decision, Condition: r.Gate.Condition, NoOtherFindings: true}
	if h := r.ByHand; h != nil {
		e.Decision, e.Condition = h.Gate, h.GateCondition
	}
	for i := range v.Manifest.Entries {
		e.Agents = append(e.Agents, v.Manifest.Entries[i].Agent)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		p := writtenPlace{Rule: f.RuleID, Path: f.Path}
		if p.Rule == "" {
			p.Agent = f.Agent
		}
		if p.Path != "" {
			p.Line = f.StartLine
		}
		e.Findings = append(e.Findings, p)
	}
	return e
}

// leaveOut removes what does not hold for a review, and returns it in words.
func (e *writtenExpect) leaveOut(parsed *expectation, v *pipeline.Review) (leftOut []string) {
	holds := func(one expectation) bool {
		differences := one.differences(v)
		leftOut = append(leftOut, differences...)
		return len(differences) == 0
	}
	if !holds(expectation{decision: parsed.decision}) {
		e.Decision = ""
	}
	if !holds(expectation{condition: parsed.condition}) {
		e.Condition = ""
	}
	var agents []string
	for i, w := range parsed.agents {
		if holds(expectation{agents: []word{w}}) {
			agents = append(agents, e.Agents[i])
		}
	}
	var findings []writtenPlace
	var places []place
	for i, p := range parsed.findings {
		if holds(expectation{findings: []place{p}}) {
			findings, places = append(findings, e.Findings[i]), append(places, p)
		}
	}
	e.Agents, e.Findings = agents, findings
	e.NoOtherFindings = holds(expectation{findings: places, only: true})
	return leftOut
}

// limitsOf says what a stored review has that a case can't have.
func limitsOf(s *ports.StoredReview, cfg *config.Config) (why []string) {
	v := &s.Review
	if n := len(v.Facts.Redactions); n > 0 {
		why = append(why, "its secrets are placeholders, and a test finds none")
	}
	if len(v.Facts.Incomplete) > 0 {
		why = append(why, "a part of the change was not read")
	}
	if v.Previous != nil || v.SameHead != nil {
		why = append(why, "it was not the first review, and a test is")
	}
	if len(v.Memory.Dismissed)+len(v.Memory.Accepted)+len(v.Memory.FalsePositives) > 0 || v.Memory.ByHand != nil {
		why = append(why, "people's decisions counted")
	}
	if v.Failed != "" {
		why = append(why, fmt.Sprintf("the stage %s failed", v.Failed))
	}
	for i := range v.Results {
		r := &v.Results[i]
		if a := agentOf(cfg, r.Agent); r.Status != pipeline.AgentOK && a != nil && outside(a) {
			why = append(why, fmt.Sprintf("the agent %s did not finish (%s)", r.Agent, r.Status))
		} else if a == nil && pipeline.Auxiliary(r.Agent) {
			why = append(why, "a model looked at other agents' findings or at gaps")
		}
	}
	slices.Sort(why)
	return slices.Compact(why)
}

// description says where a case comes from, and what it lacks.
func description(s *ports.StoredReview, r *Recorded) string {
	f := &s.Review.Facts
	text := fmt.Sprintf("Recorded from the review of %s at %.7s (run %s, %s).", f.PullName(), s.HeadSHA, s.RunID, f.ObservedAt.Format("2006-01-02"))
	if len(r.LeftOut) > 0 {
		text += " A test can't repeat everything, so this is not expected: " + strings.Join(r.LeftOut[:min(len(r.LeftOut), maxListed)], "; ") + "."
	}
	if len(r.Why) > 0 {
		text += " Of the review: " + strings.Join(r.Why, "; ") + "."
	}
	return text
}

// diffOf writes the changed files as a unified diff that normalize.ReadDiff reads. A file whose
// lines are not stored counts as changed in its mode only.
func diffOf(f *pipeline.PRFacts) (lines []string) {
	for i := range f.Files {
		file := &f.Files[i]
		old, changed := "a/"+file.Path, "b/"+file.Path
		if file.PreviousPath != "" {
			old = "a/" + file.PreviousPath
		}
		lines = append(lines, "diff --git "+name(old)+" "+name(changed))
		moved := false
		switch file.Status {
		case pipeline.FileAdded:
			lines = append(lines, "new file mode 100644")
		case pipeline.FileRemoved:
			lines = append(lines, "deleted file mode 100644")
		case pipeline.FileRenamed, pipeline.FileCopied:
			moved = file.PreviousPath != ""
			word := map[pipeline.FileStatus]string{pipeline.FileRenamed: "rename", pipeline.FileCopied: "copy"}[file.Status]
			if moved {
				lines = append(lines, word+" from "+name(file.PreviousPath), word+" to "+name(file.Path))
			}
		}
		if !moved && file.Status != pipeline.FileAdded && file.Status != pipeline.FileRemoved && len(file.Hunks) == 0 && !file.Binary {
			lines = append(lines, "old mode 100644", "new mode 100755")
		}
		if file.Binary {
			lines = append(lines, "Binary files "+name(old)+" and "+name(changed)+" differ")
		}
		if len(file.Hunks) > 0 {
			lines = append(lines, sides(file.Status, old, changed)...)
		}
		for j := range file.Hunks {
			lines = append(lines, hunk(&file.Hunks[j])...)
		}
	}
	return lines
}

// sides are the lines that name the file above its hunks.
func sides(s pipeline.FileStatus, old, changed string) []string {
	old, changed = name(old), name(changed)
	if s == pipeline.FileAdded {
		old = "/dev/null"
	}
	if s == pipeline.FileRemoved {
		changed = "/dev/null"
	}
	return []string{"--- " + old, "+++ " + changed}
}

func hunk(h *pipeline.Hunk) []string {
	header := fmt.Sprintf("@@ -%d,%d +%d,%d @@", h.OldStart, h.OldLines, h.NewStart, h.NewLines)
	if h.Section != "" {
		header += " " + h.Section
	}
	lines := []string{header}
	for _, l := range h.Lines {
		text := string(l.Op) + l.Text
		if h.Returns && l.New > 0 {
			text += "\r"
		}
		lines = append(lines, text)
	}
	return lines
}

// name quotes a path as git does where it has to be quoted.
func name(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return r == '"' || r == '\\' || unicode.IsControl(r) }) {
		return strconv.Quote(path)
	}
	return path
}
