package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// Difference is one value that differs between two reports. Was and Now are in JSON, cut to
// maxValue characters, or empty if only the other report has the value.
type Difference struct {
	Path     string // such as findings[3f2a].severity
	Was, Now string
}

const (
	maxDifferences = 50
	maxValue       = 200
)

// String is a line for people.
func (d Difference) String() string {
	switch {
	case d.Was == "":
		return fmt.Sprintf("%s: only in the replay: %s", d.Path, d.Now)
	case d.Now == "":
		return fmt.Sprintf("%s: only in the stored report: %s", d.Path, d.Was)
	}
	return fmt.Sprintf("%s: %s, in the replay %s", d.Path, d.Was, d.Now)
}

// tree returns the JSON value in a text. Numbers keep their digits.
func tree(text []byte) (v any) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil { // it was encoded just now
		panic(err)
	}
	return v
}

// differences collects what differs.
type differences struct {
	list []Difference
	more int
}

// values compares two values at a place. A missing value is nil, like null.
func (d *differences) values(at string, was, now any) {
	if object, ok := was.(map[string]any); ok {
		if other, ok := now.(map[string]any); ok {
			d.objects(at, object, other)
			return
		}
	}
	if array, ok := was.([]any); ok {
		if other, ok := now.([]any); ok {
			d.arrays(at, array, other)
			return
		}
	}
	x, y := text(was), text(now)
	if x == y {
		return
	}
	if len(d.list) == maxDifferences {
		d.more++
		return
	}
	d.list = append(d.list, Difference{at, shown(x), shown(y)})
}

func (d *differences) objects(at string, was, now map[string]any) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(was)), maps.Keys(now))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		place := name
		if at != "" {
			place = at + "." + name
		}
		d.values(place, was[name], now[name])
	}
}

// arrays compares elements with an id by that, and others by their place.
func (d *differences) arrays(at string, was, now []any) {
	before, after := byID(was), byID(now)
	if before == nil || after == nil {
		for i := range max(len(was), len(now)) {
			d.values(fmt.Sprintf("%s[%d]", at, i), element(was, i), element(now, i))
		}
		return
	}
	ids := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for _, id := range ids {
		d.values(fmt.Sprintf("%s[%s]", at, id), before[id], after[id])
	}
	if len(was) == len(now) && len(ids) == len(was) { // the same elements, maybe in another order
		for i := range was {
			d.values(fmt.Sprintf("%s[%d].id", at, i), idOf(was[i]), idOf(now[i]))
		}
	}
}

// byID returns objects by their id. It returns nil if one has none, or two have the same.
func byID(array []any) map[string]any {
	out := map[string]any{}
	for _, e := range array {
		id := idOf(e)
		if _, twice := out[id]; id == "" || twice {
			return nil
		}
		out[id] = e
	}
	return out
}

func idOf(v any) string {
	object, _ := v.(map[string]any)
	id, _ := object["id"].(string)
	return id
}

func element(array []any, i int) any {
	if i < len(array) {
		return array[i]
	}
	return nil
}

// text is a value in JSON, or empty for nil.
func text(v any) string {
	if v == nil {
		return ""
	}
	out, err := json.Marshal(v)
	if err != nil { // what was decoded can be encoded
		panic(err)
	}
	return string(out)
}

// shown is a text without control characters, cut to maxValue characters.
func shown(s string) string { return plaintext.Cut(plaintext.Printable(s), maxValue) }
