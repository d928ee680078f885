package fourrules

import (
	"fmt"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// maxReviewer is the limit of a reviewer's name, in bytes.
const maxReviewer = 200

// maxLine is the highest line number.
const maxLine = 10_000_000

// The bounds of what Decode and DecodeOne report. A hostile text can have an error in each of its values.
const (
	maxErrors    = 1000
	maxErrorsOne = 20
)

// The bounds of the text for DecodeOne. To read so many values takes up to 8 MB.
const (
	maxBytesOne  = 1 << 20
	maxValuesOne = 5_000
)

// Decoded is the content of a text of review results.
type Decoded struct {
	Results []Result
	Unknown []jsontree.Place // unknown fields that were left out
}

// Decode reads one review result or a list of them. The text may have 4 MiB and 200,000 values. If
// any part is not a valid review result, Decode returns no result, and up to 1,000 errors that say
// what is wrong.
//
// Severities may have any spelling that pipeline.ParseSeverity knows.
func Decode(name string, text []byte) (Decoded, []jsontree.Error) {
	var d Decoded
	root, errs := jsontree.Parse(&jsontree.Document{Name: name}, text)
	if len(errs) > 0 {
		return d, errs
	}
	list := []*jsontree.Node{root}
	if root.Kind == jsontree.Array {
		list = root.Elems
	}
	for _, n := range list {
		if len(errs) == maxErrors {
			break
		}
		r, wrong := d.result(n, maxErrors-len(errs))
		d.Results = append(d.Results, r)
		errs = append(errs, wrong...)
	}
	if len(errs) > 0 {
		return Decoded{}, errs
	}
	return d, nil
}

// One is a single review result, and the place where it was read.
type One struct {
	Result
	node *jsontree.Node
}

// DecodeOne reads one review result, or a list of one, from an untrusted sender. The text may have 1 MiB
// and 5,000 values. If it is not valid, DecodeOne returns up to 20 errors that say what is wrong.
func DecodeOne(name string, text []byte) (One, []jsontree.Error) {
	root, errs := jsontree.Options{MaxBytes: maxBytesOne, MaxValues: maxValuesOne}.Parse(&jsontree.Document{Name: name}, text)
	if len(errs) > 0 {
		return One{}, errs[:min(len(errs), maxErrorsOne)]
	}
	if root.Kind == jsontree.Array {
		if len(root.Elems) != 1 {
			return One{}, []jsontree.Error{*root.Error(fmt.Sprintf("this is a list of %d entries, but must be one review result", len(root.Elems)), "send one")}
		}
		root = root.Elems[0]
	}
	var d Decoded
	r, errs := d.result(root, maxErrorsOne)
	if len(errs) > 0 {
		return One{}, errs
	}
	return One{r, root}, nil
}

// Refuse returns an error about a field of the result that the caller can't accept.
func (o *One) Refuse(key, problem, remedy string) jsontree.Error {
	n := o.node
	if at := n.Get(key); at != nil {
		n = at
	}
	return *n.Error(problem, remedy)
}

// result reads a review result. It returns no more than most of its mistakes.
func (d *Decoded) result(n *jsontree.Node, most int) (Result, []jsontree.Error) {
	f := jsontree.FieldsOf(n, "a review result")
	f.Most = most
	r := Result{Type: f.Needed("type"), ID: f.Text("id"), Reviewer: f.Needed("reviewer"), Timestamp: timestamp(f)}
	if r.Type != "" && r.Type != TypeResult {
		f.Refuse("type", fmt.Sprintf("this is not a %s", TypeResult), fmt.Sprintf("name files of the type %q only", TypeResult))
	}
	if len(r.Reviewer) > maxReviewer {
		f.Refuse("reviewer", fmt.Sprintf("the reviewer's name has %d bytes, more than the limit of %d", len(r.Reviewer), maxReviewer), "shorten it")
	}
	p := f.Within("payload")
	r.Payload = Payload{Verdict: verdict(p), Summary: p.Given("summary")}
	for _, n := range p.List("issues") {
		if p.Full() {
			break
		}
		r.Payload.Issues = append(r.Payload.Issues, d.issue(n, p))
	}
	if len(p.Wrong) == 0 && r.Payload.Verdict != Approved && strings.TrimSpace(r.Payload.Summary) == "" && len(r.Payload.Issues) == 0 {
		p.Refuse("verdict", "the verdict has no reason", `say why in "summary", or list "issues"`)
	}
	d.unknown(f, "type", "id", "reviewer", "timestamp", "payload")
	d.unknown(p, "verdict", "summary", "issues")
	f.Take(p)
	return r, f.Wrong
}

func verdict(p *jsontree.Fields) Verdict {
	if p.Needed("verdict") == "" {
		return ""
	}
	return Verdict(p.OneOf("verdict", string(Approved), string(Concerns), string(Blocker)))
}

// timestamp reads RFC 3339. If the zone is missing, as in the output of Python programs, it is UTC.
func timestamp(f *jsontree.Fields) time.Time {
	text := f.Needed("timestamp")
	if text == "" {
		return time.Time{}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	f.Refuse("timestamp", "the timestamp is not in RFC 3339 form", "write it as 2026-01-31T12:00:00Z")
	return time.Time{}
}

func (d *Decoded) issue(n *jsontree.Node, within *jsontree.Fields) Issue {
	f := jsontree.FieldsOf(n, "an issue")
	x := Issue{Description: f.Needed("description"), File: f.Text("file"), Line: f.Count("line", maxLine)}
	if s := f.Needed("severity"); s != "" {
		severity, known := pipeline.ParseSeverity(s)
		if !known {
			f.Refuse("severity", "this is not a severity", "use critical, major, warning or info, or high, medium or low")
		}
		x.Severity = severity
	}
	d.unknown(f, "severity", "description", "file", "line")
	within.Take(f)
	return x
}

func (d *Decoded) unknown(f *jsontree.Fields, known ...string) {
	for _, m := range f.Unknown(known...) {
		d.Unknown = append(d.Unknown, m.KeyPlace())
	}
}
