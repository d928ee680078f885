package learning

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
)

// fill sets every field to a value that is neither empty nor equal to that of another one.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString("<\"text\" & \\" + strings.Repeat("é", *n%3) + string(rune('a'+*n%26)))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) / 7)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Struct:
		if at, is := v.Addr().Interface().(*time.Time); is {
			*at = time.Date(2026, 11, 3, 9, 30, 0, *n*1000, time.UTC)
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	default:
		panic("a field is a " + v.Kind().String())
	}
}

// The decoder knows all fields in the order in which json.Marshal writes them: whoever adds a field
// must add it there, too, or reading logs becomes slow.
func TestDecodesEveryField(t *testing.T) {
	t.Parallel()
	var full Entry
	n := 0
	fill(reflect.ValueOf(&full).Elem(), &n)
	lists := full
	lists.Review = &Review{Services: pipeline.List[string]{}, Findings: pipeline.List[Finding]{{}}, DurationMS: 1e-9}
	for _, want := range []Entry{full, lists, {Kind: KindMerged}, {Kind: KindDecided, Decided: &Decided{}}} {
		body, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var d Decoder
		got, err := d.Decode(body)
		if err != nil {
			t.Fatal(err)
		}
		if d.other || d.at != len(body) {
			t.Fatalf("the decoder stops before %s", body[d.at:])
		}
		same(t, body, got)
	}
}

// same fails the test if json.Unmarshal reads something else.
func same(t *testing.T, body []byte, got Entry) {
	t.Helper()
	var want Entry
	if err := json.Unmarshal(body, &want); err != nil {
		t.Fatalf("json.Unmarshal refuses %s: %v", body, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s is read as\n%+v\njson.Unmarshal reads\n%+v", body, got, want)
	}
}

// Whatever the decoder reads, json.Unmarshal reads in the same way.
func FuzzDecoder(f *testing.F) {
	var full Entry
	n := 0
	fill(reflect.ValueOf(&full).Elem(), &n)
	body, err := json.Marshal(full)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	for _, s := range []string{
		`{}`, `{"event":"a","event":"b"}`, `{"number":01}`, `{"number":-0}`, `{"number":12345678901234567890}`, `{"number":1.0}`, `{"at":"yesterday"}`,
		`{"event":"\u0061"}`, `{"event":"\`, `{"event":"\"}`, `{"event":"\\"}`, `{"event":"\q"}`, `{"kind":"\ud800"}`, `{"at":"\u0032026-01-01T00:00:00Z"}`, "{\"event\":\"\x80\"}", "{\"event\":\"\t\"}", ` {"event":"a"}`, `{"event":"a"} `, `{"event":null}`, `{"review":{"duration_ms":1E5}}`,
		`{"review":{"confidence":-0,"duration_ms":1e999,"findings":[]}}`, `{"review":{"findings":[{"holds":true},{"holds":fals}]}}`, `{"more":1}`, `{`, ``, `[]`, `{,"event":"a"}`,
		`{"judged":{"findings":["a",],"person":"b"}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var d Decoder
		got, err := d.Decode(body)
		if err != nil {
			return // it was json.Unmarshal that refused it
		}
		same(t, body, got)
	})
}
