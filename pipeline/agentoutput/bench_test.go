package agentoutput

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// sentence is the text of each field.
const sentence = "The total is computed in binary floating point, so that cents are lost."

// outputOf is the output of an agent whose findings have every field set.
func outputOf(findings int) []byte {
	var b strings.Builder
	b.WriteString(`{"agent": "a", "findings": [`)
	for i := range findings {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"title": "Money as float %d", "severity": "P1", "message": %q, "confidence": 0.93, "path": "pricing/total-%d.ts", "start_line": %d, "end_line": %d,
"rule_id": "fin-decimal-01", "category": "money", "why_it_matters": %q, "evidence": ["const total = 0.1 * %d"], "recommendation": %q, "action": "change",
"suggested_fix": "const total = decimal(0.1).times(%d)", "autofix_class": "present", "finding_type": "error", "blocking": false}`,
			i, sentence, i%500, i+1, i+2, sentence, i, sentence, i)
	}
	b.WriteString("]}")
	return []byte(b.String())
}

// peak runs f and returns by how much the heap grew meanwhile.
func peak(f func()) uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before, most := m.HeapAlloc, uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for tick := time.Tick(5 * time.Millisecond); ; {
			select {
			case <-stop:
				return
			case <-tick:
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return most - min(most, before)
}

func BenchmarkDecode(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		text := outputOf(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			most := uint64(0)
			for b.Loop() {
				most = max(most, peak(func() {
					if out, errs := Decode("a.json", text, nil); len(errs) > 0 || len(out[0].Findings) != n {
						b.Fatal(errs)
					}
				}))
			}
			b.ReportMetric(float64(most)/(1<<20), "peak-MB")
		})
	}
}

// Memory stays within the documented bound, whatever the text contains. By default the texts are
// shorter, and so is the bound.
func TestMemoryIsBounded(t *testing.T) {
	size, findings, most := MaxBytes, 100_000, uint64(900<<20) // half as much again, since the collector may be late
	part := sample.Size(64, 1)
	if testing.Short() {
		part = max(part, 16)
	}
	if part > 1 {
		size, findings, most = size/part, findings/part, (most+2<<30)/uint64(part) // small findings don't reach the bound on their number
	}
	fill := func(piece string) []byte {
		const room = 100
		return []byte(`{"agent": "a", "findings": [` + strings.TrimSuffix(strings.Repeat(piece, (size-room)/len(piece)), ",") + `]}`)
	}
	for _, tt := range sample.Of(t, 4, []struct {
		name string
		text func() []byte
	}{
		{"findings", func() []byte { return outputOf(findings) }},
		{"numbers", func() []byte { return fill(`0,`) }},
		{"wrong findings", func() []byte { return fill(`{},`) }},
		{"one string", func() []byte {
			return []byte(`{"agent": "a", "findings": [{` + needed + `, "citation": "` + strings.Repeat("x", size-300) + `"}]}`)
		}},
		{"escapes", func() []byte {
			return []byte(`{"agent": "a", "findings": [{` + needed + `, "citation": "` + strings.Repeat(`\n`, size/2-300) + `"}]}`)
		}},
		{"line breaks", func() []byte { return []byte(strings.Repeat("\n", size)) }},
		{"brackets", func() []byte { return []byte(strings.Repeat("[", size)) }},
		{"duplicate keys", func() []byte { return []byte(`{` + strings.Repeat(`"a":0,`, size/6-1) + `"a":0}`) }},
		{"unknown fields", func() []byte { return []byte(`{"x": [` + strings.Repeat(`"yyyyyyyy",`, size/11-10) + `0]}`) }},
		{"small findings", func() []byte { return fill(`{"title":"t","severity":"P0","message":"m","confidence":1,"path":"p"},`) }},
	}) {
		t.Run(tt.name, func(t *testing.T) {
			text := tt.text()
			began := time.Now()
			took := peak(func() { Decode("a.json", text, nil) }) + uint64(len(text))
			t.Logf("%d MB, %d MB at most, %s", len(text)>>20, took>>20, time.Since(began).Round(time.Millisecond))
			if took > most {
				t.Errorf("reading %d MB takes %d MB of memory", len(text)>>20, took>>20)
			}
		})
	}
}
