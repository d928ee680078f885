package model

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// The bounds of an answer. A review of the largest change that a model can read
// has some twenty findings of 2 KB.
const (
	maxAnswer   = 1 << 20 // bytes
	maxValues   = 50_000
	maxFindings = 50 // of those that count; the worst are kept
	// maxClaims is how many findings of an answer are looked at: each quote is looked
	// for in all that was shown of a file.
	maxClaims = 200
)

// read is what an answer comes to.
type read struct {
	findings []pipeline.Finding
	concerns []string // the serious ones that are not among findings
	voided   int      // how many these are, and those that may be

	all        int // in the answer
	unread     int // none: a field is missing or of a wrong kind
	elsewhere  int // about what was not shown
	ungrounded int // their quotes don't stand there
	more       int // beyond maxFindings
	beyond     int // maxClaims
}

// read reads an answer. The error says why it can't be used.
func (a *Agent) read(answer string, s *shown, rules map[string]bool) (*read, error) {
	list, err := entriesOf(answer, "findings")
	if err != nil {
		return nil, err
	}
	out := &read{all: len(list)}
	g := newGrounds(s)
	if out.beyond = max(0, len(list)-maxClaims); out.beyond > 0 {
		list = list[:maxClaims]
	}
	for _, n := range list {
		c, ok := a.claimOf(n)
		if !ok {
			out.unread++
			out.voided++
			continue
		}
		if !rules[c.RuleID] {
			c.RuleID = ""
		}
		switch g.settle(&c) {
		case grounded:
			out.findings = append(out.findings, c.Finding)
		case elsewhere:
			out.elsewhere++
			out.void(&c)
		case ungrounded:
			out.ungrounded++
			out.void(&c)
		}
	}
	if out.unread > 0 && out.unread == len(list) {
		return nil, fmt.Errorf("none of its %s has all that makes a finding", count(out.all, "finding", "findings"))
	}
	out.bound()
	return out, nil
}

// maxConcerns is how many findings that count for nothing are told of by their titles.
const maxConcerns = 5

// void notes a claim that counts for nothing. A serious one must not leave a model's review
// as if it had found nothing.
func (r *read) void(c *claim) {
	if c.Severity.Rank() < pipeline.SeverityMajor.Rank() {
		return
	}
	if r.voided++; len(r.concerns) < maxConcerns {
		r.concerns = append(r.concerns, fmt.Sprintf("%s (%s; what it quotes does not stand in the change)", c.Title, c.Severity))
	}
}

// fieldsOf parses an answer. The error says where it can't be read.
func fieldsOf(answer string) (*jsontree.Fields, error) {
	root, errs := jsontree.Options{MaxBytes: maxAnswer, MaxValues: maxValues}.Parse(&jsontree.Document{Name: "answer"}, []byte(unfenced(answer)))
	if len(errs) > 0 {
		return nil, fmt.Errorf("line %d: %s", errs[0].Line, strings.ReplaceAll(errs[0].Problem, "the file", "the answer"))
	}
	return jsontree.FieldsOf(root, "the answer"), nil
}

// entriesOf is the list that an answer is.
func entriesOf(answer, name string) ([]*jsontree.Node, error) {
	fields, err := fieldsOf(answer)
	if err != nil {
		return nil, err
	}
	list := fields.NeededList(name)
	if len(fields.Wrong) > 0 {
		return nil, errors.New(fields.Wrong[0].Problem)
	}
	return list, nil
}

// sureEnough is the confidence from which on a finding counts by itself. What is below
// takes no room from what is above.
const sureEnough = 0.5

// bound keeps the worst, in the order of the answer.
func (r *read) bound() {
	if r.more = len(r.findings) - maxFindings; r.more <= 0 {
		return
	}
	slices.SortStableFunc(r.findings, func(a, b pipeline.Finding) int {
		unsure := func(f pipeline.Finding) int {
			if f.Confidence < sureEnough {
				return 1
			}
			return 0
		}
		return cmp.Or(unsure(a)-unsure(b), b.Severity.Rank()-a.Severity.Rank(), cmp.Compare(b.Confidence, a.Confidence))
	})
	r.findings = r.findings[:maxFindings]
}

// notes say what of an answer does not count.
func (r *read) notes() (notes []string) {
	for _, n := range []struct {
		of  int
		why string
	}{
		{r.ungrounded, "quoting what does not stand there"},
		{r.elsewhere, "about what it was not shown"},
		{r.unread, "without all that makes a finding"},
		{r.more, "no worse than those that count"},
		{r.beyond, fmt.Sprintf("after the first %d", maxClaims)},
	} {
		if n.of > 0 {
			notes = append(notes, fmt.Sprintf("dropped %d of its %s, %s", n.of, count(r.all, "finding", "findings"), n.why))
		}
	}
	return notes
}

// codeFence is one around the whole answer, which models write out of habit.
var codeFence = regexp.MustCompile("(?s)^```[a-zA-Z]*[ \t]*\r?\n(.*)\n[ \t]*```$")

// unfenced is an answer without the fence around it. Nothing else of it is put
// right: whoever guesses what was meant can be made to guess wrong.
func unfenced(answer string) string {
	answer = strings.TrimSpace(answer)
	if m := codeFence.FindStringSubmatch(answer); m != nil {
		return m[1]
	}
	return answer
}
