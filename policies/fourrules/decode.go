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

// maxLine is the greatest number of a line.
const maxLine = 10_000_000

// Decoded is the content of a text of review results.
type Decoded struct {
	Results []Result
	Unknown []jsontree.Place // unknown fields that were left out
}

// Decode reads one review result or a list of them. The text may have 4 MiB and 200,000 values. If
// any part is not a valid review result, the errors list everything that is wrong, and no result
// counts.
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
		r, f := d.result(n)
		d.Results = append(d.Results, r)
		errs = append(errs, f.Wrong...)
	}
	if len(errs) > 0 {
		return Decoded{}, errs
	}
	return d, nil
}

func (d *Decoded) result(n *jsontree.Node) (Result, *jsontree.Fields) {
	f := jsontree.FieldsOf(n, "a review result")
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
		r.Payload.Issues = append(r.Payload.Issues, d.issue(n, p))
	}
	if len(p.Wrong) == 0 && r.Payload.Verdict != Approved && strings.TrimSpace(r.Payload.Summary) == "" && len(r.Payload.Issues) == 0 {
		p.Refuse("verdict", "the verdict has no reason", `say why in "summary", or list "issues"`)
	}
	d.unknown(f, "type", "id", "reviewer", "timestamp", "payload")
	d.unknown(p, "verdict", "summary", "issues")
	f.Take(p)
	return r, f
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
