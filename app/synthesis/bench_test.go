package synthesis

import (
	"fmt"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// BenchmarkRun combines the findings of 20 agents in 500 files, including the reading.
func BenchmarkRun(b *testing.B) {
	cfg, problems := config.Load()
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	for _, n := range []int{1_000, 10_000, 100_000} {
		var files []Source
		for a := range 20 {
			o := output(fmt.Sprintf("agent-%02d", a), "", "")
			for i := a; i < n; i += 20 {
				f := finding(fmt.Sprintf("Money as float %d", i), pipeline.SeverityMajor, fmt.Sprintf("pricing/total-%d.ts", i%500), i+1)
				f.Message, f.WhyItMatters = "The total is computed in binary floating point.", "Cents are lost."
				o.Findings = append(o.Findings, f)
			}
			files = append(files, source("a.json", o))
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				out, problems, err := Run(Input{Outputs: files, Config: cfg})
				if err != nil || len(problems) > 0 || len(out.Review.Report.Findings) != n {
					b.Fatalf("%d findings, %v, %v", len(out.Review.Report.Findings), problems, err)
				}
			}
		})
	}
}
