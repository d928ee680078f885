package api

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// The bounds of a body, and those of an event that are not in app/ports.
const (
	MaxBody   = 1 << 20 // bytes
	maxValues = 2000    // of an event's JSON
	maxPull   = 1<<31 - 1
)

const idForm = "write 1 to 200 letters, digits and . _ : / @ -"

// eventFields are the fields of an event. "type" is another name for "kind".
var eventFields = []string{"id", "pr", "kind", "type", "agent", "summary", "files", "focus_areas", "max_words"}

// event is an event as its agent wrote it.
type event struct {
	id      string
	kind    pipeline.SessionTrigger
	pull    int    // 0 if left out
	agent   string // empty if left out
	summary string
	files   []string
	focus   []string
	words   int // 0 if left out
}

// decodeEvent reads an event. An unknown or repeated field is a mistake.
func decodeEvent(text []byte) (e event, p *Problem) {
	root, wrong := jsontree.Options{MaxBytes: MaxBody, MaxValues: maxValues}.Parse(&jsontree.Document{Name: "body"}, text)
	if root == nil {
		return e, invalid(http.StatusBadRequest, mistakesOf(wrong))
	}
	d := eventReader{jsontree.FieldsOf(root, "the event")}
	d.Most = maxMistakes
	d.Add(wrong...) // repeated fields
	e.id = d.id("id")
	e.pull = d.pull(root)
	e.kind = d.kind(root)
	if given(root, "agent") {
		e.agent = d.id("agent")
	}
	e.summary = d.summary()
	e.files = d.texts("files", "file", ports.MaxSessionFiles, ports.MaxSessionPath)
	e.focus = d.texts("focus_areas", "focus area", ports.MaxSessionFocus, ports.MaxSessionArea)
	if given(root, "max_words") {
		before := len(d.Wrong)
		if e.words = d.Count("max_words", ports.MaxSessionWords); e.words < ports.MinSessionWords && len(d.Wrong) == before {
			d.Refuse("max_words", fmt.Sprintf("max_words is %d", e.words), fmt.Sprintf("write a whole number from %d to %d, or leave it out", ports.MinSessionWords, ports.MaxSessionWords))
		}
	}
	for _, m := range d.Unknown(eventFields...) {
		d.Add(jsontree.Error{Place: m.KeyPlace(), Problem: "an event has no such field", Remedy: "remove it; the fields are " + strings.Join(eventFields, ", ")})
	}
	if len(d.Wrong) > 0 {
		return event{}, invalid(http.StatusUnprocessableEntity, mistakesOf(d.Wrong))
	}
	return e, nil
}

// eventReader reads the fields of an event.
type eventReader struct{ *jsontree.Fields }

func (d eventReader) id(key string) string {
	v := d.Needed(key)
	if v != "" && !ports.IsSessionName(v) {
		d.Refuse(key, key+" is not a valid id", idForm)
	}
	return v
}

func (d eventReader) pull(root *jsontree.Node) int {
	if !given(root, "pr") {
		return 0
	}
	before := len(d.Wrong)
	n := d.Count("pr", maxPull)
	if n == 0 && len(d.Wrong) == before {
		d.Refuse("pr", "pr is 0", "write the pull request's number")
	}
	return n
}

func (d eventReader) kind(root *jsontree.Node) pipeline.SessionTrigger {
	key := "kind"
	if given(root, "type") {
		if given(root, "kind") {
			d.Refuse("type", "both kind and type are given", "keep only kind")
			return ""
		}
		key = "type"
	}
	if d.Needed(key) == "" {
		return ""
	}
	return pipeline.SessionTrigger(d.OneOf(key, string(pipeline.TriggerMilestone), string(pipeline.TriggerBlocker), string(pipeline.TriggerRequestReview)))
}

func (d eventReader) summary() string {
	s := d.Needed("summary")
	switch {
	case utf8.RuneCountInString(s) > ports.MaxSessionSummary:
		d.Refuse("summary", fmt.Sprintf("summary has more than %d characters", ports.MaxSessionSummary), "shorten it")
	case !ports.IsSessionText(s, true):
		d.Refuse("summary", "summary has control characters", "remove them; line breaks and tabs may stay")
	}
	return s
}

// texts reads a list of at most `most` texts. Each may have at most `longest` characters.
func (d eventReader) texts(key, what string, most, longest int) []string {
	all := d.List(key)
	if len(all) > most {
		d.Refuse(key, fmt.Sprintf("%s has more than %d entries", key, most), "leave some out")
		return nil
	}
	var out []string
	for _, n := range all {
		s := n.Text
		if n.Kind != jsontree.String || s == "" || utf8.RuneCountInString(s) > longest || !ports.IsSessionText(s, false) {
			d.Add(*n.Error("this is not a valid "+what, fmt.Sprintf("write a string of 1 to %d characters without control characters", longest)))
		}
		out = append(out, s)
	}
	return out
}

// given reports whether a field is given. A null counts as left out.
func given(root *jsontree.Node, key string) bool {
	n := root.Get(key)
	return n != nil && n.Kind != jsontree.Null
}
