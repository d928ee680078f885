package eval

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"mime"
	"net/mail"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/pipeline/raw"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// The bounds of a directory of diffs.
const (
	maxDiffs     = 10_000
	maxDiffBytes = 8 << 20 // of one
)

// DiffFile is a diff in a directory.
type DiffFile struct {
	Case string // the file's path in the directory, with slashes and without .diff or .patch
	File string // the file's path
}

// FindDiffs lists the files of a directory, and of those below it, that end in .diff or
// .patch, by case. It leaves out directories whose names begin with a dot. It is an error
// if there are no diffs, more than 10,000, or two with the same name.
func FindDiffs(dir string) ([]DiffFile, error) {
	var out []DiffFile
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && name != "." && strings.HasPrefix(e.Name(), "."):
			return fs.SkipDir
		case e.IsDir() || path.Ext(name) != ".diff" && path.Ext(name) != ".patch":
			return nil
		case len(out) == maxDiffs:
			return fmt.Errorf("there are more than %d diffs: split them", maxDiffs)
		}
		d := DiffFile{Case: strings.TrimSuffix(name, path.Ext(name)), File: filepath.Join(dir, filepath.FromSlash(name))}
		if other, ok := files[d.Case]; ok {
			return fmt.Errorf("%q and %q would both be the case %q: rename one", other, name, d.Case)
		}
		files[d.Case] = name
		out = append(out, d)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for diffs in %s: %w", dir, err)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no diffs: put files there that end in .diff or .patch, one for each change", dir)
	}
	slices.SortFunc(out, func(a, b DiffFile) int { return cmp.Compare(a.Case, b.Case) })
	return out, nil
}

// FindingsVersion is the version of the form of [Findings].
const FindingsVersion = 1

// Findings are the results of reviews of diffs. The same diffs, config and answers of
// models give the same bytes, so Findings contain no times. docs/reference/eval-files.md
// describes the JSON for scorers.
type Findings struct {
	SchemaVersion int         `json:"schema_version"`
	Tool          string      `json:"tool"`
	ToolVersion   string      `json:"tool_version"`
	Cases         []CaseFound `json:"cases"` // by name
	Usage         Usage       `json:"usage"` // of all cases
}

// CaseFound is the result of the review of one diff. Its lists are never nil.
type CaseFound struct {
	Case     string            `json:"case"`
	Status   CaseStatus        `json:"status"`
	Reasons  []string          `json:"reasons"`  // why the status is not ok
	Decision pipeline.Decision `json:"decision"` // the gate's, empty without a review
	Findings []Found           `json:"findings"` // by place; at most 1,000
	Usage    Usage             `json:"usage"`
}

// CaseStatus says how the review of a diff ended.
type CaseStatus string

// The statuses.
const (
	CaseOK CaseStatus = "ok"
	// CaseIncomplete means that the diff does not contain the whole change. The rest was
	// reviewed.
	CaseIncomplete CaseStatus = "incomplete"
	// CaseUnfinished means that an agent or a stage failed: run the case again.
	CaseUnfinished CaseStatus = "unfinished"
	// CaseUnusable means that the diff can't be read and was not reviewed.
	CaseUnusable CaseStatus = "unusable"
)

// Found is one finding as people see it: after merging, and without suppressed findings.
type Found struct {
	Path      string `json:"path"`       // at the head; empty if the finding is about Section
	Section   string `json:"section"`    // such as title or change, else empty
	StartLine int    `json:"start_line"` // at the head, from 1; 0 for the whole file
	EndLine   int    `json:"end_line"`
	Title     string `json:"title"`
	// Body is the message, why it matters and what is recommended, as paragraphs.
	Body         string            `json:"body"`
	Severity     pipeline.Severity `json:"severity"`
	GateSeverity pipeline.Severity `json:"gate_severity"` // the severity that the gate uses
	Confidence   float64           `json:"confidence"`    // 0 to 1
	Category     string            `json:"category"`
	RuleID       string            `json:"rule_id"`
	Agents       []string          `json:"agents"`  // the agents that reported it, sorted
	SaidBy       string            `json:"said_by"` // the agents in words, if one of them is a model
}

// Usage is the tokens and cost of questions to models.
type Usage struct {
	Questions int     `json:"questions"`
	Input     int     `json:"input_tokens"` // cached ones included
	Cached    int     `json:"cached_tokens"`
	Output    int     `json:"output_tokens"`
	CostUSD   float64 `json:"cost_usd"` // by the config's prices, to a billionth
}

func (u *Usage) add(v Usage) {
	u.Questions += v.Questions
	u.Input += v.Input
	u.Cached += v.Cached
	u.Output += v.Output
	// The sum is rounded, because it must not depend on the order of the additions.
	u.CostUSD = math.Round((u.CostUSD+v.CostUSD)*1e9) / 1e9
}

// RunDiffs reviews diffs by the whole pipeline, without their repositories: the pipeline
// knows only what the diff shows of each file. A diff that can't be read becomes a case
// with the status unusable, and does not stop the others. Options.Cases is ignored. An error
// means that there are no findings: the options can't be used (an [*UnusableError]), or ctx
// ended.
func RunDiffs(ctx context.Context, diffs []DiffFile, o Options) (Findings, error) {
	out := Findings{SchemaVersion: FindingsVersion, Tool: "reviewgate", ToolVersion: o.Version}
	runner, _, err := o.runner()
	if err != nil {
		return out, err
	}
	cfg, _ := config.Load(o.Layers...) // o.runner has checked it
	out.Cases = make([]CaseFound, len(diffs))
	err = sideBySide(ctx, len(diffs), func(within context.Context, i int) error {
		out.Cases[i] = reviewDiff(within, runner, cfg, diffs[i], o)
		if o.Progress != nil {
			o.Progress(fmt.Sprintf("%q is reviewed", diffs[i].Case))
		}
		return within.Err()
	})
	for i := range out.Cases {
		out.Usage.add(out.Cases[i].Usage)
	}
	return out, err
}

func reviewDiff(ctx context.Context, runner *run.Runner, cfg *config.Config, d DiffFile, o Options) CaseFound {
	c := CaseFound{Case: d.Case, Status: CaseUnusable, Reasons: []string{}, Findings: []Found{}}
	src, err := readDiff(d.File)
	if err != nil {
		c.Reasons = append(c.Reasons, err.Error())
		return c
	}
	src.config = cfg
	outcome, err := runner.Run(ctx, src, run.Options{RunID: d.Case, Trigger: "reviewgate eval diffs", IOAgents: o.IOAgents, Comparer: o.Comparer, Verifier: o.Verifier})
	if err != nil {
		c.Status, c.Reasons = CaseUnfinished, append(c.Reasons, err.Error())
		return c
	}
	c.take(&outcome, len(src.commits) > 0)
	return c
}

// take copies the result of a review. Findings about the title or the description count
// only if the diff has a title and a description.
func (c *CaseFound) take(o *run.Outcome, titled bool) {
	r := &o.Review.Report
	c.Status, c.Decision = CaseOK, r.Decision
	for _, i := range r.Incomplete {
		status := CaseIncomplete
		if i.What == "stage" || i.What == "agent" {
			status = CaseUnfinished
		}
		c.worse(status, plaintext.Line(i.What+" "+i.Path)+": "+i.Why)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if !titled && (f.Section == pipeline.SectionTitle || f.Section == pipeline.SectionDescription) {
			continue
		}
		if len(c.Findings) == maxCaseFindings {
			c.worse(CaseIncomplete, fmt.Sprintf("of its findings the worst %d are listed", maxCaseFindings))
			break
		}
		c.Findings = append(c.Findings, foundOf(f))
	}
	slices.SortStableFunc(c.Findings, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.StartLine, b.StartLine), cmp.Compare(a.EndLine, b.EndLine),
			cmp.Compare(a.Section, b.Section), cmp.Compare(a.Title, b.Title))
	})
	for _, u := range o.Record.ModelUse {
		c.Usage.add(Usage{u.Asked, u.Input, u.Cached, u.Output, u.CostUSD})
	}
}

func (c *CaseFound) worse(s CaseStatus, why string) {
	if c.Status != CaseUnfinished {
		c.Status = s
	}
	c.Reasons = append(c.Reasons, why)
}

func foundOf(f *pipeline.Finding) Found {
	var body []string
	for _, text := range []string{f.Message, f.WhyItMatters, f.Recommendation} {
		if text != "" && !slices.Contains(body, text) {
			body = append(body, text)
		}
	}
	agents := []string{f.Agent}
	for _, m := range f.FoundBy {
		agents = append(agents, m.Agent)
	}
	slices.Sort(agents)
	return Found{
		Path: f.Path, Section: f.Section, StartLine: f.StartLine, EndLine: f.EndLine, Title: f.Title, Body: strings.Join(body, "\n\n"),
		Severity: f.Severity, GateSeverity: f.GateSeverity, Confidence: f.Confidence, Category: f.Category, RuleID: f.RuleID,
		Agents: slices.Compact(agents), SaidBy: f.Attribution(),
	}
}

// diffSource is a change that is known only by its diff.
type diffSource struct {
	diff        normalize.Diff
	title, body string
	commits     []pipeline.Commit // the mail's commit, or none
	sha         string
	config      *config.Config
}

var _ normalize.Source = (*diffSource)(nil)

// readDiff reads a diff. The error names the file.
func readDiff(file string) (*diffSource, error) {
	text, err := readFile(file, maxDiffBytes, fmt.Sprintf("a diff may have %d MiB, so split it", maxDiffBytes>>20))
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return nil, fmt.Errorf("%s is in UTF-16: save it as UTF-8; git diff --output=FILE writes it so", file)
	}
	s := &diffSource{title: "Change"}
	if s.diff, err = normalize.ReadDiff(string(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	// A diff has no commit and no SHA: a hash of the text replaces it.
	sum := sha256.Sum256(text)
	s.sha = hex.EncodeToString(sum[:20])
	if title, body, err := readMail(s.diff.Preamble); err == nil {
		s.title, s.body = title, body
		s.commits = []pipeline.Commit{{SHA: s.sha, Message: strings.TrimSpace(title + "\n\n" + body)}}
	}
	return s, nil
}

// patchMark is git's prefix to the subject of a patch, such as [PATCH 1/2].
var patchMark = regexp.MustCompile(`^(\[[^\]]*\]\s*)+`)

// readMail takes title and description from the mail of git format-patch.
func readMail(preamble string) (title, body string, err error) {
	text := strings.ReplaceAll(preamble, "\r\n", "\n")
	if strings.HasPrefix(text, "From ") {
		_, text, _ = strings.Cut(text, "\n")
	}
	message, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		return "", "", err
	}
	subject := message.Header.Get("Subject")
	if decoded, err := new(mime.WordDecoder).DecodeHeader(subject); err == nil {
		subject = decoded
	}
	if title = patchMark.ReplaceAllString(subject, ""); title == "" {
		return "", "", errors.New("the mail has no subject")
	}
	_, rest, _ := strings.Cut(text, "\n\n")
	body, _, _ = strings.Cut("\n"+rest, "\n---\n")
	return title, strings.TrimSpace(body), nil
}

// PullRequest invents a pull request for the diff. It does not contain the case's name,
// which may reveal the defect.
func (s *diffSource) PullRequest(context.Context) (raw.PullRequest, error) {
	p := raw.PullRequest{
		Repository: pipeline.Repository{Owner: "eval", Name: "diffs", DefaultBranch: "main"},
		Title:      s.title, Body: s.body, Author: pipeline.Author{Login: "kim", Type: "User"},
		Base: pipeline.Base{Ref: "main"}, Head: pipeline.Head{Ref: "change", SHA: s.sha, Repository: "eval/diffs"},
		Totals: pipeline.Totals{Files: len(s.diff.Files)}, Commits: len(s.commits),
	}
	for _, f := range s.diff.Files {
		p.Totals.Additions += f.Additions
		p.Totals.Deletions += f.Deletions
	}
	return p, nil
}

// Files returns the files of the diff.
func (s *diffSource) Files(context.Context) (raw.Files, error) {
	return raw.Files{Files: slices.Clone(s.diff.Files), HeadSHA: s.sha, Whole: true}, nil
}

// Commits returns the mail's commit. A diff without a mail has none.
func (s *diffSource) Commits(context.Context) (raw.Commits, error) {
	return raw.Commits{Commits: s.commits}, nil
}

// Config returns the config that is measured.
func (s *diffSource) Config(context.Context) (normalize.ConfigRead, error) {
	return normalize.ConfigRead{Config: s.config}, nil
}
