package agentoutput

import (
	"fmt"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// The bounds of a text. 100,000 findings with a sentence in every field have 62 MB. At the bounds,
// reading takes some 600 MB of memory, including the text.
const (
	MaxBytes    = 64 << 20
	MaxFindings = 200_000
	// maxListed bounds how many dropped findings are listed. Further ones are only counted.
	maxListed = 1000
	maxAgent  = 200 // bytes of an agent's or a model's name
	// maxLine keeps arithmetic on line numbers from overflowing.
	maxLine = 1_000_000_000
)

// Output is one envelope.
type Output struct {
	pipeline.AgentOutput                  // with the valid findings
	Places               []jsontree.Place // of the findings, one for each
	Dropped              Dropped
	Unknown              Unknown
	// Wrong lists what makes the envelope unusable, in the order of the text. Agent is set if the
	// name could be read.
	Wrong []jsontree.Error
}

// Dropped are findings that can't be used.
type Dropped struct {
	Count int
	Why   []jsontree.Error // the first problem of each, at most 1,000
	// Grave counts those that might have blocked: critical, major, or with an unreadable severity.
	// Gravest describes one of them and its problem.
	Grave   int
	Gravest string
}

// Add adds the counts of more.
func (d *Dropped) Add(more Dropped) {
	d.Count += more.Count
	d.Grave, d.Gravest = d.Grave+more.Grave, graver(d.Gravest, more.Gravest)
	d.Why = append(d.Why, more.Why[:min(len(more.Why), maxListed-len(d.Why))]...)
}

func (d *Dropped) add(severity, title string, why jsontree.Error) {
	if d.Count++; len(d.Why) < maxListed {
		d.Why = append(d.Why, why)
	}
	s, known := pipeline.ParseSeverity(severity)
	if known && s != pipeline.SeverityCritical && s != pipeline.SeverityMajor || strings.EqualFold(severity, "none") {
		return
	}
	what := "unreadable finding"
	if known {
		what = string(s) + " finding"
	}
	if title = strings.TrimSpace(title); title != "" {
		what += fmt.Sprintf(" %.80q", title)
	}
	d.Grave++
	d.Gravest = graver(d.Gravest, fmt.Sprintf("%s dropped: %s", what, why.Problem))
}

// graver returns the text that names the worse finding, whatever their order: in the alphabet, too,
// critical comes before major and major before unreadable.
func graver(a, b string) string {
	if a == "" || b != "" && b < a {
		return b
	}
	return a
}

// Unknown are fields with unknown names.
type Unknown struct {
	Count int
	First jsontree.Place // of the first one, if there is one
}

// Add adds the counts of more.
func (u *Unknown) Add(more Unknown) {
	if u.Count == 0 {
		u.First = more.First
	}
	u.Count += more.Count
}

func (u *Unknown) add(members []jsontree.Member) {
	if u.Count == 0 && len(members) > 0 {
		u.First = members[0].KeyPlace()
	}
	u.Count += len(members)
}

// Decode reads a text of envelopes. It maps all spellings of severities to reviewgate's, except for
// an agent that grades pass, warn or fail: graded, which may be nil, reports whether an agent does.
// It ignores the fields that reviewgate fills in.
//
// An envelope that can't be used says why in its Wrong, and the others in the text still count. The
// returned errors mean that the text is not JSON.
func Decode(name string, text []byte, graded func(agent string) bool) ([]Output, []jsontree.Error) {
	d := decoder{of: map[*jsontree.Node]*findings{}}
	root, errs := jsontree.Options{MaxBytes: MaxBytes, Take: d.take}.Parse(&jsontree.Document{Name: name}, text)
	if len(errs) > 0 {
		return nil, errs
	}
	list := []*jsontree.Node{root}
	if root.Kind == jsontree.Array {
		list = root.Elems
	}
	outputs := make([]Output, 0, len(list))
	for _, n := range list {
		outputs = append(outputs, d.envelope(n, graded))
	}
	return outputs, nil
}

// decoder holds the findings of envelopes that are not read completely.
type decoder struct {
	of    map[*jsontree.Node]*findings
	count int
}

// findings are the findings of one envelope.
type findings struct {
	list     []pipeline.Finding
	places   []jsontree.Place
	unmapped map[int]jsontree.Place // by index, the places of unknown severities
	dropped  Dropped
	unknown  Unknown
}

// take reads an element of an envelope's list of findings, and ignores other elements.
func (d *decoder) take(n *jsontree.Node) (bool, *jsontree.Error) {
	envelope := envelopeOf(n.Parent())
	if envelope == nil {
		return false, nil
	}
	if d.count++; d.count > MaxFindings {
		return false, n.Error(fmt.Sprintf("the file has more than %d findings", MaxFindings), "split it, or report less")
	}
	fs := d.of[envelope]
	if fs == nil {
		fs = &findings{unmapped: map[int]jsontree.Place{}}
		d.of[envelope] = fs
	}
	fs.read(n)
	return true, nil
}

// envelopeOf returns the envelope that a list of findings belongs to, or nil.
func envelopeOf(list *jsontree.Node) *jsontree.Node {
	envelope := list.Parent()
	if envelope == nil || envelope.Kind != jsontree.Object || list.Key() != "findings" {
		return nil
	}
	if root := envelope.Parent(); root != nil && (root.Kind != jsontree.Array || root.Parent() != nil) {
		return nil
	}
	return envelope
}

// envelope reads everything except the findings, which are already read.
func (d *decoder) envelope(n *jsontree.Node, graded func(string) bool) Output {
	f := jsontree.FieldsOf(n, "an agent's output")
	o := Output{AgentOutput: pipeline.AgentOutput{
		Agent: f.Needed("agent"), Model: f.Text("model"), Stage: f.OneOf("stage", pipeline.ReviewStageSpec, pipeline.ReviewStageQuality),
		ResidualConcerns: f.Texts("residual_concerns"), DeferredQuestions: f.Texts("deferred_questions"),
	}}
	f.NeededList("findings")
	for key, name := range map[string]string{"agent": o.Agent, "model": o.Model} {
		if len(name) > maxAgent {
			f.Refuse(key, fmt.Sprintf("%s has %d bytes, more than the limit of %d", key, len(name), maxAgent), "shorten it")
		}
	}
	o.Unknown.add(f.Unknown("agent", "model", "stage", "findings", "residual_concerns", "deferred_questions", "voided"))
	if fs := d.of[n]; fs != nil {
		fs.into(&o, graded != nil && graded(o.Agent))
	}
	if o.Wrong = f.Wrong; len(o.Agent) > maxAgent {
		o.Agent = ""
	}
	return o
}

// into checks the severities, now that the agent is known.
func (fs *findings) into(o *Output, graded bool) {
	o.Findings, o.Places, o.Dropped = fs.list, fs.places, fs.dropped
	o.Unknown.Add(fs.unknown)
	kept := 0
	for i := range fs.list {
		if at, doubtful := fs.unmapped[i]; doubtful && (!graded || !isGrade(fs.list[i].Severity)) {
			o.Dropped.add(string(fs.list[i].Severity), fs.list[i].Title, notSeverity(at, fs.list[i].Severity, graded))
			continue
		}
		o.Findings[kept], o.Places[kept] = fs.list[i], fs.places[i]
		kept++
	}
	o.Findings, o.Places = o.Findings[:kept], o.Places[:kept]
}

func isGrade(s pipeline.Severity) bool {
	switch strings.ToLower(string(s)) {
	case "pass", "warn", "fail":
		return true
	}
	return false
}

func notSeverity(at jsontree.Place, s pipeline.Severity, graded bool) jsontree.Error {
	e := jsontree.Error{Place: at, Problem: "this is not a severity", Remedy: "use critical, major, warning or info"}
	switch {
	case strings.EqualFold(string(s), "none"):
		e.Problem, e.Remedy = "what is of no severity is no finding", "leave it out, or use info"
	case graded:
		e.Remedy = "use pass, warn or fail, or " + strings.TrimPrefix(e.Remedy, "use ")
	}
	return e
}
