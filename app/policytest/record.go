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
	"time"
	"unicode"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/agentoutput"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/pipeline/run"
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
	On          string            `json:"on"`
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
	redact, err := redactor(o)
	if err != nil {
		return nil, err
	}
	w := written{
		Schema: config.SchemaURL(config.SchemaPolicyTest),
		Name:   plaintext.CutLine(plaintext.Printable(fmt.Sprintf("%s at %.7s: %s", f.PullName(), s.HeadSHA, f.Title)), maxName),
		On:     f.ObservedAt.UTC().Format(time.DateOnly),
		Change: changeOf(s, redact),
	}
	out := &Recorded{}
	w.Expect, out.LeftOut = expectOf(&s.Review)
	if w.Outputs, err = outputsOf(s, cfg); err != nil {
		return nil, err
	}
	c, err := w.parsed(ctx, cfg)
	if err != nil {
		return nil, err
	}
	v, unused, err := c.review(ctx, cfg, o)
	if err != nil {
		return nil, fmt.Errorf("review the change again: %w", err)
	}
	for _, i := range slices.Backward(unused) {
		out.LeftOut = append(out.LeftOut, c.outputs[i].unused(&v.Manifest))
		w.Outputs = slices.Delete(w.Outputs, i, i+1)
	}
	out.LeftOut = append(out.LeftOut, w.Expect.leaveOut(&c.expect, v)...)
	out.Why = limitsOf(s, cfg, v)
	if w.Expect.empty() {
		return nil, fmt.Errorf("a test of this review would meet none of its expectations: %s", strings.Join(out.LeftOut, "; "))
	}
	w.Description = description(s, out)
	if _, err := w.parsed(ctx, cfg); err != nil {
		return nil, err
	}
	if out.Text, err = w.text(); err != nil {
		return nil, err
	}
	return out, nil
}

// redactor returns a function that replaces secrets in a text.
func redactor(o Options) (func(string) string, error) {
	runner, err := run.NewRunner(run.Config{Engines: o.Engines})
	if err != nil {
		return nil, err
	}
	return runner.Redact, nil
}

// outputsOf returns what models and other programs said. It leaves out findings outside the change,
// which no review counts.
func outputsOf(s *ports.StoredReview, cfg *config.Config) (outputs []json.RawMessage, err error) {
	paths := map[string]bool{"": true}
	for i := range s.Review.Facts.Files {
		paths[s.Review.Facts.Files[i].Path] = true
	}
	for i := range s.Review.Results {
		row := &s.Review.Results[i]
		if a := agentOf(cfg, row.Agent); a == nil || !outside(a) || row.Status != pipeline.AgentOK || len(outputs) == maxList {
			continue
		}
		said := row.Output
		said.Agent, said.Model = row.Agent, row.Model
		said.Findings = slices.DeleteFunc(slices.Clone(said.Findings), func(f pipeline.Finding) bool { return !paths[f.Path] })
		text, err := agentoutput.Encode(&said)
		if err != nil {
			return nil, err
		}
		outputs = append(outputs, text)
	}
	return outputs, nil
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
func (w *written) parsed(ctx context.Context, cfg *config.Config) (*Case, error) {
	text, err := w.text()
	if err != nil {
		return nil, err
	}
	cases, problems, err := Read(ctx, []config.File{{Path: "tests/recorded.json", Text: text}}, cfg)
	switch {
	case err != nil:
		return nil, err
	case len(problems.List) > 0:
		return nil, fmt.Errorf("no case can be made of this review: %s", config.FormatProblem(problems.List[0]))
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

func changeOf(s *ports.StoredReview, redact func(string) string) writtenChange {
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
			c.Attributes = redact(string(b.Text))
		}
	}
	return c
}

// expectOf expects everything of a review that a case can expect, and returns in words what is too
// much. A person's decision does not come from the config, so the gate's own counts.
func expectOf(v *pipeline.Review) (e writtenExpect, leftOut []string) {
	r := &v.Report
	e = writtenExpect{Decision: r.Decision, Condition: r.Gate.Condition, NoOtherFindings: true}
	if h := r.ByHand; h != nil {
		e.Decision, e.Condition = h.Gate, h.GateCondition
	}
	for i := range v.Manifest.Entries {
		e.Agents = append(e.Agents, v.Manifest.Entries[i].Agent)
	}
	if n := len(e.Agents); n > maxList {
		e.Agents, leftOut = e.Agents[:maxList], append(leftOut, fmt.Sprintf("%d of %d agents: more than a case may expect", n-maxList, n))
	}
	findings := found(r)
	if n := len(findings); n > maxList {
		e.NoOtherFindings, leftOut = false, append(leftOut, fmt.Sprintf("%d of %d findings: more than a case may expect", n-maxList, n))
	}
	for i := range findings[:min(len(findings), maxList)] {
		f := &findings[i]
		p := writtenPlace{Rule: f.RuleID, Path: f.Path}
		if p.Rule == "" {
			p.Agent = f.Agent
		}
		if p.Path != "" {
			p.Line = f.StartLine
		}
		e.Findings = append(e.Findings, p)
	}
	return e, leftOut
}

func (e *writtenExpect) empty() bool {
	return e.Decision == "" && e.Condition == "" && len(e.Agents)+len(e.Findings) == 0 && !e.NoOtherFindings
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
	e.NoOtherFindings = e.NoOtherFindings && holds(expectation{findings: places, only: true})
	return leftOut
}

// limitsOf says what a stored review has that a case can't have. again is the review of the case.
func limitsOf(s *ports.StoredReview, cfg *config.Config, again *pipeline.Review) (why []string) {
	v := &s.Review
	if n := len(v.Facts.Redactions); n > 0 {
		why = append(why, "the secrets are placeholders in the case, so none is found")
	}
	for i := range v.Facts.Files {
		if file := &v.Facts.Files[i]; hasNoLines(file) && file.Additions+file.Deletions > 0 {
			why = append(why, fmt.Sprintf("the lines of %s are not stored", quoted(file.Path)))
		}
	}
	read := func(path string) bool {
		return !slices.ContainsFunc(v.Facts.Incomplete, func(i pipeline.Incompleteness) bool { return i.Path == path })
	}
	for _, i := range again.Facts.Incomplete {
		if i.Path != "" && read(i.Path) {
			why = append(why, fmt.Sprintf("the content of %s was read, and is not in the case", quoted(i.Path)))
		}
	}
	if len(v.Facts.Incomplete) > 0 {
		why = append(why, "a part of the change was not read")
	}
	if v.Previous != nil || v.SameHead != nil {
		why = append(why, "an earlier review counted")
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
		text += " Not repeated: " + strings.Join(r.Why[:min(len(r.Why), maxListed)], "; ") + "."
	}
	return text
}

// hasNoLines reports whether a file is not binary, and none of its lines is stored.
func hasNoLines(f *pipeline.File) bool { return len(f.Hunks) == 0 && !f.Binary }

// diffOf writes the changed files as a unified diff that normalize.ReadDiff reads. A file without
// lines counts as changed in its mode only.
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
		if !moved && file.Status != pipeline.FileAdded && file.Status != pipeline.FileRemoved && hasNoLines(file) {
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
