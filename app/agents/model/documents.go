package model

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/app/agents/report"
	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/policies/glob"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// DocumentOptions are what Documents are made from. Of the Options, Stage, Rules,
// Issues and Risk have no say.
type DocumentOptions struct {
	Options
	Reviewer   reviewreport.Reviewer
	Thresholds reviewreport.Thresholds
	Reports    *glob.Set    // the files that hold reports, and are no documents
	Files      report.Files // reads what the facts do not show whole; nil if they show all
	// Reported is told each report that a model made, with the document's path. It may be
	// called from several goroutines at once, and be nil.
	Reported func(model string, r reviewreport.Report)
}

// Documents asks a language model to review each specification or plan of a change
// whole, as one of the reviewers that write review reports.
type Documents struct {
	DocumentOptions
	agent *Agent
}

// NewDocuments returns an agent. Any number of goroutines may use it.
func NewDocuments(o DocumentOptions) *Documents {
	o.Stage, o.Rules, o.Issues, o.Risk = pipeline.StageQuality, nil, nil, nil
	return &Documents{o, New(o.Options)}
}

var _ dispatch.Noter = (*Documents)(nil)

const (
	// maxDocuments is how many documents of a change are reviewed, each of which takes a
	// question.
	maxDocuments = 10
	// maxReports is how many reports beside them are looked at, as many as the agent that
	// reads reports takes.
	maxReports = 100
)

// MaxDocument is the size of the largest document that is read, in bytes: some times what
// the largest models read.
const MaxDocument = 4 << 20

// document is one that a model is asked about.
type document struct {
	path, text string // the text without secrets
}

// line is the first line of the document that begins with a place in it, signs of markdown
// aside, or else has it; 0 where none does.
func (d document) line(place string) int {
	place = strings.Trim(oneLine(place), markup)
	if place == "" {
		return 0
	}
	word := regexp.MustCompile(`(?i)(^|[^\pL\pN])` + regexp.QuoteMeta(place) + `($|[^\pL\pN])`)
	has := 0
	for i, l := range strings.Split(d.text, "\n") {
		at := word.FindStringIndex(strings.TrimLeft(oneLine(lineText(l)), markup))
		switch {
		case at != nil && at[0] == 0:
			return i + 1
		case at != nil && has == 0:
			has = i + 1
		}
	}
	return has
}

// markup are the characters that stand around headings, items, cells and bold text.
const markup = "#*-+>|_:. "

// Review returns the findings of ReviewAndNote alone.
func (d *Documents) Review(ctx context.Context, task dispatch.Task) (pipeline.AgentOutput, error) {
	out, _, err := d.ReviewAndNote(ctx, task)
	return out, err
}

// ReviewAndNote asks the task's model about each document in the task's scope that has
// no report of this reviewer's beside it in the change. Documents are the files that
// policies matched, or where the scope is the whole change, its documentation; reports
// are none. The findings are those of [reviewreport.FindingsAlone] for each report that
// the model makes, at the line that has their section.
//
// The note names the documents that were not asked about, and why. One that does not fit
// into what the model reads is not asked about in part. Errors are as those of
// [Agent.ReviewAndNote]; it is an error, too, if one answer of several is malformed.
func (d *Documents) ReviewAndNote(ctx context.Context, task dispatch.Task) (pipeline.AgentOutput, string, error) {
	out := pipeline.AgentOutput{Agent: task.Entry.Agent, Model: task.Model, Stage: d.agent.stage()}
	endpoint, ok := d.Models[task.Model]
	if !ok || endpoint.Model == nil {
		return out, "", noModel(task.Model)
	}
	docs, notes, err := d.documents(ctx, task)
	if err != nil {
		return out, "", err
	}
	var large []string
	asked := 0
	for _, doc := range docs {
		record, left, err := d.review(ctx, task, endpoint, doc)
		var tooLarge *tooLargeError
		switch {
		case errors.As(err, &tooLarge):
			large = append(large, tooLarge.Error())
			continue
		case err != nil && len(docs) > 1:
			return out, "", fmt.Errorf("%s: %w", doc.path, err)
		case err != nil:
			return out, "", err
		}
		asked++
		if left > 0 {
			notes = append(notes, fmt.Sprintf("dropped %s of its report on %s, no more pressing than those that count", count(left, "recommendation", "recommendations"), pathName(doc.path)))
		}
		made := reviewreport.Read(fmt.Sprintf("%s by %s", d.Reviewer.Agent, task.Model), doc.path, []byte(reviewreport.Write(&record)))
		if d.Reported != nil {
			d.Reported(task.Model, made)
		}
		for _, f := range reviewreport.FindingsAlone(&d.Reviewer, &made, d.Thresholds) {
			f.StartLine = doc.line(f.Section)
			f.EndLine = f.StartLine
			out.Findings = append(out.Findings, f)
		}
	}
	if asked == 0 && len(large) > 0 {
		return out, "", &dispatch.SkippedError{Why: note(large, notes)}
	}
	return out, note(large, notes), nil
}

// tooLargeError says that a document does not fit into what a model reads.
type tooLargeError struct{ why string }

func (e *tooLargeError) Error() string { return e.why }

// review asks about one document. left is how many recommendations of the answer are not
// in the record.
func (d *Documents) review(ctx context.Context, task dispatch.Task, e Endpoint, doc document) (r reviewreport.Record, left int, err error) {
	system := d.agent.Redact(strings.TrimSpace(cleaned(d.Prompt)) + "\n\n" + strings.TrimSpace(contractReport) + "\n")
	room, err := d.agent.room(e, system)
	if err != nil {
		return r, 0, err
	}
	text, err := d.question(doc)
	if err != nil {
		return r, 0, err
	}
	if n := Tokens(text); n > room {
		return r, 0, &tooLargeError{fmt.Sprintf("%s was not asked about: it takes about %d tokens, there is room for %d, and a part of it is not reviewed", pathName(doc.path), n, room)}
	}
	answer, err := d.agent.ask(ctx, task, e, llm.Question{System: system, Text: text, Schema: d.schema(), Sample: task.Run})
	if err != nil {
		return r, 0, err
	}
	r, left, err = d.read(answer.Text, task.Facts.ObservedAt)
	if err != nil {
		return r, 0, &dispatch.MalformedError{Err: err}
	}
	return r, left, nil
}

// documents are those of the task's scope that a model is asked about. The notes say
// which are not, and why.
func (d *Documents) documents(ctx context.Context, task dispatch.Task) (docs []document, notes []string, err error) {
	standing, err := d.standing(ctx, task.Facts)
	if err != nil {
		return nil, nil, err
	}
	left := 0
	for i := range task.Facts.Files {
		f := &task.Facts.Files[i]
		if f.Status == pipeline.FileRemoved || !inScope(task.Entry.Scope, f.Path) || task.Entry.Scope.All && !f.Documentation || d.Reports.Any(f.Path) {
			continue
		}
		if by := beside(f.Path, standing); by != "" {
			notes = append(notes, fmt.Sprintf("%s was not asked about: the report of %s in %s stands", pathName(f.Path), d.Reviewer.Agent, pathName(by)))
			continue
		}
		if len(docs) == maxDocuments {
			left++
			continue
		}
		text, err := d.text(ctx, task.Facts, f)
		if err != nil {
			return nil, nil, fmt.Errorf("read %s: %w", f.Path, err)
		}
		switch {
		case len(text) > MaxDocument:
			notes = append(notes, fmt.Sprintf("%s was not asked about: it has more than %d MiB", pathName(f.Path), MaxDocument>>20))
		case strings.TrimSpace(text) == "" || !utf8.ValidString(text):
			notes = append(notes, fmt.Sprintf("%s was not asked about: it has no text", pathName(f.Path)))
		default:
			docs = append(docs, document{f.Path, text})
		}
	}
	if left > 0 {
		notes = append(notes, fmt.Sprintf("%s were not asked about, after the first %d", count(left, "document", "documents"), maxDocuments))
	}
	return docs, notes, nil
}

// text is the whole text of a file at the head, without secrets.
func (d *Documents) text(ctx context.Context, facts *pipeline.PRFacts, f *pipeline.File) (string, error) {
	if text, ok := report.Whole(f); ok {
		return string(text), nil
	}
	if d.Files == nil {
		return "", nil
	}
	text, err := d.Files.File(ctx, facts.Head.SHA, f.Path, MaxDocument+1)
	if err != nil || len(text) > MaxDocument {
		return string(text), err
	}
	return d.agent.RedactBeside(string(text)), nil
}

// standing are the files of the change that hold a report of this reviewer's.
func (d *Documents) standing(ctx context.Context, facts *pipeline.PRFacts) (paths []string, err error) {
	looked := 0
	for i := range facts.Files {
		f := &facts.Files[i]
		if f.Status == pipeline.FileRemoved || !d.Reports.Any(f.Path) {
			continue
		}
		if looked++; looked > maxReports {
			return nil, fmt.Errorf("the change has more than %d files with review reports: split it", maxReports)
		}
		text, err := d.text(ctx, facts, f)
		if err != nil {
			return nil, fmt.Errorf("read the review report %s: %w", f.Path, err)
		}
		if r := reviewreport.Extract([]byte(text)); r.Agent == d.Reviewer.Agent {
			paths = append(paths, f.Path)
		}
	}
	return paths, nil
}

// beside is the first of the reports in a document's directory, or below it.
func beside(document string, reports []string) string {
	for _, r := range reports {
		if strings.HasPrefix(r, path.Dir(document)+"/") {
			return r
		}
	}
	return ""
}
