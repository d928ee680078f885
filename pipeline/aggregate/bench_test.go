package aggregate

import (
	"fmt"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/models"
)

func BenchmarkAggregate(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		for _, tt := range []struct {
			name string
			in   Input
		}{
			{"files=1", many(n, 1)},
			{"files=500", many(n, 500)},
			{"models", reviewed(n)},
			{"hostile=overlap", hostile(n, func(i int) string { return fmt.Sprintf("the cache of part %d", i) })},
			{"hostile=words", hostile(n, manyWords)},
		} {
			b.Run(fmt.Sprintf("findings=%d/%s", n, tt.name), func(b *testing.B) {
				for b.Loop() {
					if r := Aggregate(tt.in); len(r.Findings) == 0 {
						b.Fatal("no findings")
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "ms/report")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// benchAgents is the number of agents that report the findings of the benchmarks.
const benchAgents = 20

// bench is an input with one file of this many lines, and agents without findings.
func bench(lines int) Input {
	in := world(nil)
	text := make([]string, lines)
	for i := range text {
		text[i] = fmt.Sprintf("line %d of the file", i%997)
	}
	in.Facts.Files = pipeline.List[pipeline.File]{file("dir/file0000.go", text...)}
	for a := range benchAgents {
		in.Results = append(in.Results, pipeline.AgentResult{Agent: fmt.Sprintf("agent%02d", a), Status: pipeline.AgentOK})
	}
	return in
}

// many spreads n findings over files. A fifth of them agree with a neighbour.
func many(n, files int) Input {
	in := bench(2*n/files + 10)
	for f := 1; f < files; f++ {
		more := in.Facts.Files[0]
		more.Path = fmt.Sprintf("dir/file%04d.go", f)
		in.Facts.Files = append(in.Facts.Files, more)
	}
	severities := pipeline.Severities()
	for i := range n {
		k := i
		if i%5 == 4 {
			k = i - 1
		}
		f := finding(in.Facts.Files[k%files].Path, 1+2*(k/files), fmt.Sprintf("Title %d", k%50), severities[k%4])
		f.Confidence = 0.5 + float64(i%50)/100
		in.add(i, f)
	}
	return in
}

func (in *Input) add(i int, f pipeline.Finding) {
	out := &in.Results[i%benchAgents].Output
	out.Findings = append(out.Findings, f)
}

// reviewed puts n findings into one file. Models make half of them and quote the diff. Some
// findings are unsure, take sides or have citations.
func reviewed(n int) Input {
	in := many(n, 1)
	in.Config.Settings.Models.Blocking, in.Config.Settings.Models.HoldForPerson = models.BlockingGrounded, models.HoldCritical
	for a := range in.Results {
		r := &in.Results[a]
		if a%2 == 0 {
			r.Model, r.Stage = []string{"a", "b"}[a/2%2], pipeline.ReviewStageQuality
		}
		for i := range r.Output.Findings {
			f := &r.Output.Findings[i]
			f.Evidence = pipeline.List[string]{fmt.Sprintf("line %d of", f.StartLine%997)}
			f.Confidence -= float64(i%4) / 10
			f.Action = []pipeline.Action{"", "remove", "keep"}[i%3]
			f.AutoClaim, f.SuggestedFix, f.Citation = "pattern", "x", "file"
		}
	}
	return in
}

// hostile is an input whose findings are all about the whole of one file and contradict one
// another. Half of them are unsure.
func hostile(n int, title func(int) string) Input {
	in := bench(10)
	for i := range n {
		f := finding(in.Facts.Files[0].Path, 0, title(i), pipeline.SeverityMajor)
		f.Action = []pipeline.Action{"remove", "keep"}[i/benchAgents%2]
		f.Message = []string{"It is impossible.", "It is essential."}[i/benchAgents%2]
		f.Confidence = []float64{0.9, 0.4}[i/benchAgents/2%2]
		in.add(i, f)
	}
	return in
}

// manyWords are titles that all have words in common, but of which few pairs have half of their
// words in common.
func manyWords(i int) string {
	s := fmt.Sprintf("w%d", i)
	for k := range 12 {
		s += fmt.Sprintf(" common%d", (i*(k+3)*7919+k*k*31)%40)
	}
	return s
}
