package learning

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Decoder decodes entries from JSON. It is for many entries: on the form that json.Marshal writes it is
// several times as fast as json.Unmarshal, and equal names share their memory. Anything else it leaves
// to json.Unmarshal. The zero value is ready. It is not for concurrent use.
type Decoder struct {
	b     []byte
	at    int
	other bool              // the form is another one
	names map[string]string // as they are written, with quotes

	// The elements of a list are collected here, so that the list has their number from the start. No
	// type is in a list of itself.
	texts    []string
	stages   []Stage
	verdicts []Verdict
	onlies   []OnlyOne
	uses     []Use
	askeds   []Asked
	ranges   []Lines
	findings []Finding
	states   []Stated
}

// maxNames bounds the names that a decoder remembers.
const maxNames = 10_000

// Decode decodes an entry.
func (d *Decoder) Decode(body []byte) (Entry, error) {
	d.b, d.at, d.other = body, 0, false
	var e Entry
	d.entry(&e)
	if !d.other && d.at == len(body) {
		return e, nil
	}
	e = Entry{}
	if err := json.Unmarshal(body, &e); err != nil {
		return Entry{}, fmt.Errorf("decode an entry of a pull request's log: %w", err)
	}
	return e, nil
}

// The methods below read one value each. Fields must come in the order of the type, without white
// space, so that a field can't be there twice. TestDecodesEveryField fails if one is missing here.

func (d *Decoder) entry(e *Entry) {
	d.expect('{')
	if d.field(`"event":`) {
		e.Event = d.text()
	}
	if d.field(`"kind":`) {
		e.Kind = Kind(d.name())
	}
	if d.field(`"at":`) {
		if raw, _ := d.quoted(); d.other || e.At.UnmarshalJSON(raw) != nil {
			d.other = true
		}
	}
	if d.field(`"repository":`) {
		e.Repository = d.name()
	}
	if d.field(`"repository_id":`) {
		e.RepositoryID = int64(d.int())
	}
	if d.field(`"number":`) {
		e.Number = d.int()
	}
	if d.field(`"review":`) {
		e.Review = &Review{}
		d.review(e.Review)
	}
	if d.field(`"judged":`) {
		e.Judged = &Judged{}
		d.judged(e.Judged)
	}
	if d.field(`"decided":`) {
		e.Decided = &Decided{}
		d.decided(e.Decided)
	}
	d.expect('}')
}

func (d *Decoder) review(r *Review) {
	d.expect('{')
	if d.field(`"head_sha":`) {
		r.HeadSHA = d.text()
	}
	if d.field(`"base_ref":`) {
		r.BaseRef = d.name()
	}
	if d.field(`"base_sha":`) {
		r.BaseSHA = d.text()
	}
	if d.field(`"config_version":`) {
		r.ConfigVersion = d.name()
	}
	if d.field(`"version":`) {
		r.Version = d.name()
	}
	if d.field(`"iteration":`) {
		r.Iteration = d.int()
	}
	if d.field(`"services":`) {
		r.Services = list(d, &d.texts, (*Decoder).intoName)
	}
	if d.field(`"decision":`) {
		r.Decision = pipeline.Decision(d.name())
	}
	if d.field(`"condition":`) {
		r.Condition = d.name()
	}
	if d.field(`"strategy":`) {
		r.Strategy = d.name()
	}
	if d.field(`"confidence":`) {
		r.Confidence = d.float()
	}
	if d.field(`"auto_decision":`) {
		r.AutoDecision = pipeline.AutoDecision(d.name())
	}
	if d.field(`"fix_iterations":`) {
		r.FixIterations = d.int()
	}
	if d.field(`"duration_ms":`) {
		r.DurationMS = d.float()
	}
	if d.field(`"stages":`) {
		r.Stages = list(d, &d.stages, (*Decoder).stage)
	}
	if d.field(`"use":`) {
		r.Use = list(d, &d.uses, (*Decoder).use)
	}
	if d.field(`"asked":`) {
		r.Asked = list(d, &d.askeds, (*Decoder).asked)
	}
	if d.field(`"findings":`) {
		r.Findings = list(d, &d.findings, (*Decoder).finding)
	}
	if d.field(`"residual":`) {
		r.Residual = d.int()
	}
	d.expect('}')
}

func (d *Decoder) stage(s *Stage) {
	d.expect('{')
	if d.field(`"stage":`) {
		s.Stage = d.name()
	}
	if d.field(`"models":`) {
		s.Models = list(d, &d.verdicts, (*Decoder).verdict)
	}
	if d.field(`"agreed":`) {
		s.Agreed = d.int()
	}
	if d.field(`"only":`) {
		s.Only = list(d, &d.onlies, (*Decoder).only)
	}
	if d.field(`"contradictions":`) {
		s.Contradictions = d.int()
	}
	d.expect('}')
}

func (d *Decoder) verdict(v *Verdict) {
	d.expect('{')
	if d.field(`"model":`) {
		v.Model = d.name()
	}
	if d.field(`"verdict":`) {
		v.Verdict = pipeline.Verdict(d.name())
	}
	d.expect('}')
}

func (d *Decoder) only(o *OnlyOne) {
	d.expect('{')
	if d.field(`"model":`) {
		o.Model = d.name()
	}
	if d.field(`"count":`) {
		o.Count = d.int()
	}
	d.expect('}')
}

func (d *Decoder) use(u *Use) {
	d.expect('{')
	if d.field(`"agent":`) {
		u.Agent = d.name()
	}
	if d.field(`"model":`) {
		u.Model = d.name()
	}
	if d.field(`"input":`) {
		u.Input = d.int()
	}
	if d.field(`"output":`) {
		u.Output = d.int()
	}
	if d.field(`"cost_usd":`) {
		u.Cost = d.float()
	}
	d.expect('}')
}

func (d *Decoder) asked(a *Asked) {
	d.expect('{')
	if d.field(`"agent":`) {
		a.Agent = d.name()
	}
	if d.field(`"model":`) {
		a.Model = d.name()
	}
	if d.field(`"stage":`) {
		a.Stage = d.name()
	}
	if d.field(`"checklist":`) {
		a.Checklist = d.name()
	}
	if d.field(`"prompt":`) {
		a.Prompt = d.name()
	}
	if d.field(`"lines":`) {
		a.Lines = list(d, &d.ranges, (*Decoder).lines)
	}
	d.expect('}')
}

func (d *Decoder) lines(l *Lines) {
	d.expect('{')
	if d.field(`"path":`) {
		l.Path = d.name()
	}
	if d.field(`"first":`) {
		l.First = d.int()
	}
	if d.field(`"last":`) {
		l.Last = d.int()
	}
	d.expect('}')
}

func (d *Decoder) finding(f *Finding) {
	d.expect('{')
	if d.field(`"id":`) {
		f.ID = d.text()
	}
	if d.field(`"also":`) {
		f.Also = list(d, &d.texts, (*Decoder).intoText)
	}
	if d.field(`"agent":`) {
		f.Agent = d.name()
	}
	if d.field(`"rule":`) {
		f.Rule = d.name()
	}
	if d.field(`"stage":`) {
		f.Stage = d.name()
	}
	if d.field(`"models":`) {
		f.Models = list(d, &d.states, (*Decoder).stated)
	}
	if d.field(`"others":`) {
		f.Others = list(d, &d.texts, (*Decoder).intoName)
	}
	if d.field(`"prompt":`) {
		f.Prompt = d.name()
	}
	if d.field(`"severity":`) {
		f.Severity = pipeline.Severity(d.name())
	}
	if d.field(`"gate":`) {
		f.Gate = pipeline.Severity(d.name())
	}
	if d.field(`"category":`) {
		f.Category = d.name()
	}
	if d.field(`"path":`) {
		f.Path = d.name()
	}
	if d.field(`"section":`) {
		f.Section = d.name()
	}
	if d.field(`"first":`) {
		f.First = d.int()
	}
	if d.field(`"last":`) {
		f.Last = d.int()
	}
	if d.field(`"services":`) {
		f.Services = list(d, &d.texts, (*Decoder).intoName)
	}
	if d.field(`"around":`) {
		f.Around = d.text()
	}
	if d.field(`"holds":`) {
		f.Holds = d.bool()
	}
	if d.field(`"lapsed":`) {
		f.Lapsed = d.bool()
	}
	if d.field(`"status":`) {
		f.Status = Status(d.name())
	}
	d.expect('}')
}

func (d *Decoder) stated(s *Stated) {
	d.expect('{')
	if d.field(`"model":`) {
		s.Model = d.name()
	}
	if d.field(`"agent":`) {
		s.Agent = d.name()
	}
	if d.field(`"confidence":`) {
		s.Confidence = d.float()
	}
	d.expect('}')
}

func (d *Decoder) judged(j *Judged) {
	d.expect('{')
	if d.field(`"findings":`) {
		j.Findings = list(d, &d.texts, (*Decoder).intoText)
	}
	if d.field(`"verdict":`) {
		j.Verdict = Judgement(d.name())
	}
	if d.field(`"class":`) {
		j.Class = DismissalClass(d.name())
	}
	if d.field(`"around":`) {
		j.Around = list(d, &d.texts, (*Decoder).intoText)
	}
	if d.field(`"person":`) {
		j.Person = d.name()
	}
	if d.field(`"own":`) {
		j.Own = d.bool()
	}
	d.expect('}')
}

func (d *Decoder) decided(x *Decided) {
	d.expect('{')
	if d.field(`"action":`) {
		x.Action = Action(d.name())
	}
	if d.field(`"head_sha":`) {
		x.HeadSHA = d.text()
	}
	if d.field(`"base_ref":`) {
		x.BaseRef = d.name()
	}
	if d.field(`"person":`) {
		x.Person = d.name()
	}
	d.expect('}')
}

func (d *Decoder) intoText(s *string) { *s = d.text() }

func (d *Decoder) intoName(s *string) { *s = d.name() }

// list reads an array and collects its elements in room. An empty one is not nil.
func list[T any](d *Decoder, room *[]T, read func(*Decoder, *T)) pipeline.List[T] {
	d.expect('[')
	if d.next(']') {
		return pipeline.List[T]{}
	}
	all := (*room)[:0]
	defer func() {
		clear(all)
		*room = all
	}()
	for !d.other {
		all = append(all, *new(T))
		read(d, &all[len(all)-1])
		if d.next(']') {
			return slices.Clone(pipeline.List[T](all))
		}
		d.expect(',')
	}
	return nil
}

// next reads a character if it is c.
func (d *Decoder) next(c byte) bool {
	if d.at < len(d.b) && d.b[d.at] == c {
		d.at++
		return true
	}
	return false
}

func (d *Decoder) expect(c byte) {
	if !d.next(c) {
		d.other = true
	}
}

// field reads the name of a field if it is the next one in an object.
func (d *Decoder) field(name string) bool {
	if d.other {
		return false
	}
	at := d.at
	if d.b[at-1] != '{' {
		if at == len(d.b) || d.b[at] != ',' {
			return false
		}
		at++
	}
	if len(d.b)-at < len(name) || string(d.b[at:at+len(name)]) != name {
		return false
	}
	d.at = at + len(name)
	return true
}

// quoted reads a string and returns it as it is written, with its quotes, and whether that is all
// there is to it.
func (d *Decoder) quoted() (raw []byte, plain bool) {
	if !d.next('"') {
		d.other = true
		return nil, false
	}
	start := d.at - 1
	plain, ascii := true, true
	for d.at < len(d.b) {
		c := d.b[d.at]
		d.at++
		switch {
		case c == '"':
			raw = d.b[start:d.at]
			if !ascii && !utf8.Valid(raw) {
				d.other = true
			}
			return raw, plain
		case c == '\\': // whatever follows does not end the string
			plain = false
			d.at++
		case c < ' ':
			d.other = true
			return nil, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	d.other = true
	return nil, false
}

// unquoted returns what a string says.
func (d *Decoder) unquoted(raw []byte, plain bool) (s string) {
	if plain && len(raw) > 2 {
		return string(raw[1 : len(raw)-1])
	}
	if plain || d.other {
		return ""
	}
	if json.Unmarshal(raw, &s) != nil {
		d.other = true
	}
	return s
}

// text reads a string of which there is hardly another one.
func (d *Decoder) text() string { return d.unquoted(d.quoted()) }

// name reads a string that many entries have.
func (d *Decoder) name() string {
	raw, plain := d.quoted()
	if s, known := d.names[string(raw)]; known {
		return s
	}
	s := d.unquoted(raw, plain)
	if d.names == nil || len(d.names) >= maxNames {
		d.names = map[string]string{}
	}
	if !d.other {
		d.names[string(raw)] = s
	}
	return s
}

// int reads a whole number of at most 15 digits, which fit in any int of 64 bits and every float.
func (d *Decoder) int() (n int) {
	negative := d.next('-')
	start := d.at
	d.digits()
	for _, c := range d.b[start:min(d.at, start+15)] {
		n = 10*n + int(c-'0')
	}
	if digits := d.at - start; digits > 15 || digits > 1 && d.b[start] == '0' {
		d.other = true
	}
	if negative {
		return -n
	}
	return n
}

// float reads a number.
func (d *Decoder) float() float64 {
	start := d.at
	whole := d.int()
	if d.other {
		return 0
	}
	if d.at < len(d.b) && (d.b[d.at] == '.' || d.b[d.at] == 'e') {
		if d.next('.') {
			d.digits()
		}
		if d.next('e') {
			if !d.next('-') {
				d.next('+')
			}
			d.digits()
		}
		if d.other {
			return 0
		}
		f, err := strconv.ParseFloat(string(d.b[start:d.at]), 64)
		if err != nil {
			d.other = true
		}
		return f
	}
	if whole == 0 && d.b[start] == '-' {
		d.other = true // -0
	}
	return float64(whole)
}

// digits reads one or more digits.
func (d *Decoder) digits() {
	start := d.at
	for d.at < len(d.b) && d.b[d.at] >= '0' && d.b[d.at] <= '9' {
		d.at++
	}
	if d.at == start {
		d.other = true
	}
}

func (d *Decoder) bool() bool {
	for _, v := range []string{"true", "false"} {
		if bytes.HasPrefix(d.b[d.at:], []byte(v)) {
			d.at += len(v)
			return v == "true"
		}
	}
	d.other = true
	return false
}
