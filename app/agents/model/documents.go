package model

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/reviewgate/reviewgate/app/agents/report"
	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/policies/glob"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// DocumentOptions are what Documents are made from. Of the Options, Stage, Rules,
// Issues and Risk have no say.
type DocumentOptions struct {
	Options
	Reviewer   reviewreport.Reviewer
	Thresholds reviewreport.Thresholds
	Reports    []Reports // that are judged in this review; their files are not documents
}

// Reports are the files of a phase whose review reports an agent of the review judges.
type Reports struct {
	Phase string
	Globs *glob.Set
	Scope pipeline.AgentScope // of that agent
}

// Documents asks a language model to review each specification or plan of a change
// whole, as one of the reviewers that write review reports. What was read and answered
// once is kept: a Documents is for one review.
type Documents struct {
	DocumentOptions
	agent *Agent

	reading sync.Mutex
	texts   map[string]string // of documents, by path
	authors map[string]string // of review reports, by path: the agents

	mu      sync.Mutex
	answers map[question]answer
}

// question is about a document, to a model, for the first time or another.
type question struct {
	path, model string
	run         int
}

// answer is what a model said of a document. left is how many recommendations are not in
// the record.
type answer struct {
	record reviewreport.Record
	left   int
	err    error
}

// NewDocuments returns an agent. Any number of goroutines may use it.
func NewDocuments(o DocumentOptions) *Documents {
	o.Stage, o.Rules, o.Issues, o.Risk = pipeline.ReviewStageQuality, nil, nil, nil
	return &Documents{
		DocumentOptions: o, agent: New(o.Options),
		texts: map[string]string{}, authors: map[string]string{}, answers: map[question]answer{},
	}
}

var _ dispatch.Agent = (*Documents)(nil)

const (
	// maxDocuments is how many documents of a change are reviewed, each of which takes a
	// question.
	maxDocuments = 10
	// maxReports is how many reports beside them are looked at, as many as the agent that
	// reads reports takes.
	maxReports = 100
	// documentsAtOnce is how many of them a model is asked about side by side: few enough
	// for the limits of APIs, and enough for ten documents to be reviewed in time.
	documentsAtOnce = 4
	// spareTime is when questions end before the agent's time does, so that what was
	// answered until then is brought back.
	spareTime = 5 * time.Second
)

// MaxDocument is the size of the largest document that is read, in bytes: some times what
// the largest models read.
const MaxDocument = 4 << 20

// document is one that a model is asked about.
type document struct {
	path, text string // the text without secrets
	unread     error  // why there is no text
}

// line is the first line of the document that begins with a place in it, signs of markdown
// aside, otherwise the first that contains it; 0 if none does.
func (d document) line(place string) int {
	place = strings.Trim(plaintext.Line(place), markup)
	if place == "" {
		return 0
	}
	word := regexp.MustCompile(`(?i)(^|[^\pL\pN])` + regexp.QuoteMeta(place) + `($|[^\pL\pN])`)
	has := 0
	for i, l := range strings.Split(d.text, "\n") {
		at := word.FindStringIndex(strings.TrimLeft(plaintext.Line(lineText(l)), markup))
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

// Review asks the task's model about each document in the task's scope that has
// no report by this reviewer beside it in the change. Documents are the files that
// policies matched or, if the scope is the whole change, its documentation. Reports don't
// count as documents. The findings are those of [reviewreport.FindingsAlone] for each report
// that the model makes, at the line that has their section.
//
// The note names the documents that already have a report. If a document was not reviewed,
// for whatever reason, the error is a *dispatch.PartError, since the findings in the others
// count. It wraps an error of the kinds that [Agent.Review] returns.
func (d *Documents) Review(ctx context.Context, task dispatch.Task) (dispatch.Answer, error) {
	out := pipeline.AgentOutput{Agent: task.Entry.Agent, Model: task.Model, Stage: d.agent.stage()}
	endpoint, ok := d.Models[task.Model]
	if !ok || endpoint.Model == nil {
		return dispatch.Answer{Output: out}, noModel(task.Model)
	}
	in, err := d.documents(ctx, task)
	if err != nil {
		return dispatch.Answer{Output: out}, err
	}
	out.Documents = in.standing
	answers := d.askAll(ctx, task, endpoint, in.docs)
	for i, doc := range in.docs {
		a := answers[i]
		if a.err != nil {
			in.fails(doc.path, a.err)
			continue
		}
		out.Documents = append(out.Documents, pipeline.DocumentReview{Path: doc.path})
		if a.left > 0 {
			in.notes = append(in.notes, leftOut(a.left, doc.path))
		}
		report := reviewreport.Read(fmt.Sprintf("%s by %s", d.Reviewer.Agent, task.Model), doc.path, []byte(reviewreport.Write(&a.record)))
		if d.Reported != nil {
			d.Reported(task.Model, report)
		}
		for _, f := range reviewreport.FindingsAlone(&d.Reviewer, &report, d.Thresholds) {
			f.StartLine = doc.line(f.Section)
			f.EndLine = f.StartLine
			out.Findings = append(out.Findings, f)
		}
	}
	if err := in.shortfall(); err != nil {
		return dispatch.Answer{Output: out}, &dispatch.PartError{Err: err}
	}
	return dispatch.Answer{Output: out, Note: note(in.notes)}, nil
}

// leftOut says that recommendations of a report do not count.
func leftOut(n int, path string) string {
	return fmt.Sprintf("left out %s on %s, the least pressing", count(n, "recommendation", "recommendations"), pathName(path))
}

// askAll asks about documents side by side, and returns the answers in their order.
func (d *Documents) askAll(ctx context.Context, task dispatch.Task, e Endpoint, docs []document) []answer {
	if end, ok := ctx.Deadline(); ok {
		spare := min(spareTime, time.Until(end)/10)
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, end.Add(-spare), dispatch.ErrTimeout)
		defer cancel()
	}
	answers := make([]answer, len(docs))
	var g errgroup.Group
	g.SetLimit(documentsAtOnce)
	for i := range docs {
		g.Go(func() error {
			answers[i] = d.askOnce(ctx, task, e, &docs[i])
			return nil
		})
	}
	_ = g.Wait() // each answer has its own error
	return answers
}

// askOnce asks about a document, unless the question was answered before.
func (d *Documents) askOnce(ctx context.Context, task dispatch.Task, e Endpoint, doc *document) (a answer) {
	if doc.unread != nil {
		return answer{err: doc.unread}
	}
	defer func() {
		if v := recover(); v != nil { // nobody else catches it here
			a = answer{err: &internalError{dispatch.Panicked(v)}}
		}
	}()
	q := question{doc.path, task.Model, task.Run}
	d.mu.Lock()
	a, answered := d.answers[q]
	d.mu.Unlock()
	if answered {
		return a
	}
	a.record, a.left, a.err = d.review(ctx, task, e, doc)
	switch {
	case a.err == nil:
		d.mu.Lock()
		d.answers[q] = a
		d.mu.Unlock()
	case ctx.Err() != nil:
		a.err = context.Cause(ctx)
	}
	return a
}

// internalError is a panic, whose text is for the log alone.
type internalError struct{ error }

func (*internalError) Error() string { return "an internal error stopped it" }

// Unwrap returns the panic.
func (e *internalError) Unwrap() error { return e.error }

// review asks about one document. left is how many recommendations of the answer are not
// in the record.
func (d *Documents) review(ctx context.Context, task dispatch.Task, e Endpoint, doc *document) (r reviewreport.Record, left int, err error) {
	system := d.agent.Redact(strings.TrimSpace(cleaned(d.Prompt)) + "\n\n" + strings.TrimSpace(contractReport) + "\n")
	text, err := d.question(doc)
	if err != nil {
		return r, 0, err
	}
	room, err := d.agent.room(e, system)
	if err != nil {
		return r, 0, err
	}
	if n := Tokens(text); n > room {
		return r, 0, &dispatch.SkippedError{Why: fmt.Sprintf("it takes about %d tokens, there is room for %d, and it is reviewed whole or not at all: split it", n, room)}
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

// scopeDocuments are the documents of a task's scope.
type scopeDocuments struct {
	docs     []document                // to ask a model about
	standing []pipeline.DocumentReview // that a report stands for
	missed   []string                  // which are not reviewed, and why
	notes    []string
	errs     []error // why one was not reviewed
	others   []error // of those, what is neither a skip nor a malformed answer
}

// fails records why a document was not reviewed.
func (in *scopeDocuments) fails(path string, err error) {
	var skipped interface{ Skipped() string }
	var malformed *dispatch.MalformedError
	switch {
	case errors.As(err, &skipped):
		in.missed = append(in.missed, fmt.Sprintf("%s was not reviewed: %s", pathName(path), skipped.Skipped()))
		return
	case errors.As(err, &malformed):
		err = malformed.Err
	default:
		in.others = append(in.others, err)
	}
	if len(in.docs) > 1 {
		err = fmt.Errorf("%s: %w", pathName(path), err)
	}
	in.errs = append(in.errs, err)
}

// shortfall is the error of documents that were not reviewed, or nil.
func (in *scopeDocuments) shortfall() error {
	var texts []string
	for _, err := range in.errs {
		texts = append(texts, err.Error())
	}
	text := note(texts, in.missed, in.notes)
	switch {
	case len(in.others) > 0:
		return &unreviewed{text, in.others}
	case len(in.errs) > 0:
		return &dispatch.MalformedError{Err: errors.New(text)}
	case len(in.missed) > 0:
		return &dispatch.SkippedError{Why: text}
	}
	return nil
}

// unreviewed says which documents were not reviewed, and why.
type unreviewed struct {
	text string
	errs []error
}

func (e *unreviewed) Error() string { return e.text }

// Unwrap returns what failed.
func (e *unreviewed) Unwrap() []error { return e.errs }

// documents are those of the task's scope.
func (d *Documents) documents(ctx context.Context, task dispatch.Task) (in scopeDocuments, err error) {
	d.reading.Lock()
	defer d.reading.Unlock()
	reports, err := d.standing(ctx, task.Facts)
	if err != nil {
		return in, err
	}
	var beyond []string
	for i := range task.Facts.Files {
		f := &task.Facts.Files[i]
		if f.Status == pipeline.FileRemoved || !task.Entry.Scope.Has(f.Path) || task.Entry.Scope.All && !f.Documentation || d.judged(f.Path, "") {
			continue
		}
		if by := beside(f.Path, reports); by != "" {
			in.standing = append(in.standing, pipeline.DocumentReview{Path: f.Path, Report: by})
			in.notes = append(in.notes, fmt.Sprintf("%s was not asked about: the report of %s in %s stands", pathName(f.Path), d.Reviewer.Agent, pathName(by)))
			continue
		}
		if len(in.docs) == maxDocuments {
			beyond = append(beyond, pathName(f.Path))
			continue
		}
		text, err := d.text(ctx, task.Facts, f)
		switch {
		case err != nil:
			in.docs = append(in.docs, document{path: f.Path, unread: fmt.Errorf("read the document: %w", err)})
		case len(text) > MaxDocument:
			in.missed = append(in.missed, fmt.Sprintf("%s was not reviewed: it has more than %d MiB: split it", pathName(f.Path), MaxDocument>>20))
		case strings.TrimSpace(text) == "":
			in.notes = append(in.notes, fmt.Sprintf("%s was not asked about: it has no text", pathName(f.Path)))
		default:
			in.docs = append(in.docs, document{path: f.Path, text: text})
		}
	}
	if n := len(beyond); n > 0 {
		in.missed = append(in.missed, fmt.Sprintf("%s not reviewed: only the first %d are: split the change (%s)", was(n, "document", "documents"), maxDocuments, firstOf(beyond)))
	}
	return in, nil
}

// was is how many there were of something.
func was(n int, one, several string) string {
	if n == 1 {
		return "1 " + one + " was"
	}
	return fmt.Sprintf("%d %s were", n, several)
}

// firstOf lists paths, the first few by name.
func firstOf(paths []string) string {
	const named = 3
	if more := len(paths) - named; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:named], ", "), more)
	}
	return strings.Join(paths, ", ")
}

// errHidden says that nothing has the text of a document.
var errHidden = &dispatch.SkippedError{Why: "the change does not show it whole, and its file can't be read here"}

// text is the whole text of a document at the head, in UTF-8 and without secrets.
func (d *Documents) text(ctx context.Context, facts *pipeline.PRFacts, f *pipeline.File) (string, error) {
	if text, known := d.texts[f.Path]; known {
		return text, nil
	}
	raw, whole := report.Whole(f)
	var err error
	switch {
	case whole:
	case d.Files == nil:
		return "", errHidden
	default:
		if raw, err = d.Files.File(ctx, facts.Head.SHA, f.Path, MaxDocument+1); err != nil {
			return "", err
		}
	}
	text := string(raw)
	if len(raw) <= MaxDocument {
		text = strings.ToValidUTF8(text, "\ufffd")
		if !whole { // else the facts have none
			text = d.agent.RedactBeside(text)
		}
	}
	d.texts[f.Path] = text
	return text, nil
}

// judged reports whether an agent judges the review report in a file, in a phase or, where
// none is given, in any.
func (d *Documents) judged(path, phase string) bool {
	return slices.ContainsFunc(d.Reports, func(r Reports) bool {
		return (phase == "" || phase == r.Phase) && r.Scope.Has(path) && r.Globs.Any(path)
	})
}

// standing are the files of the change that hold a report of this reviewer's which is
// judged as such.
func (d *Documents) standing(ctx context.Context, facts *pipeline.PRFacts) (paths []string, err error) {
	looked := 0
	for i := range facts.Files {
		f := &facts.Files[i]
		if f.Status == pipeline.FileRemoved || !d.judged(f.Path, d.Reviewer.Phase) {
			continue
		}
		if looked++; looked > maxReports {
			return nil, fmt.Errorf("the change has more than %d files with review reports: split it", maxReports)
		}
		author, known := d.authors[f.Path]
		if !known {
			text, whole := report.Whole(f)
			if !whole && d.Files != nil {
				if text, err = d.Files.File(ctx, facts.Head.SHA, f.Path, reviewreport.MaxBytes+1); err != nil {
					return nil, fmt.Errorf("read the review report %s: %w", f.Path, err)
				}
			}
			author = reviewreport.Extract(text).Agent
			d.authors[f.Path] = author
		}
		if author == d.Reviewer.Agent {
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
