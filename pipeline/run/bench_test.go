package run

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/classify"
	"github.com/reviewgate/reviewgate/pipeline/compose"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies"
)

// BenchmarkClassifyCompose measures the two pure stages before the agents on 3,000 files: with 100
// globs of every form, and with the shipped config.
func BenchmarkClassifyCompose(b *testing.B) {
	facts := &pipeline.PRFacts{}
	for _, f := range manyFiles(3000, 0) {
		facts.Files = append(facts.Files, pipeline.File{Path: f.Path, Language: "Go", Additions: 30})
	}
	shipped, problems := config.Load()
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	for name, cfg := range map[string]*config.Config{"globs=100": hundredGlobs(), "shipped": shipped} {
		b.Run(name, func(b *testing.B) {
			classifier, err := classify.New(cfg)
			if err != nil {
				b.Fatal(err)
			}
			composer, err := compose.New(cfg)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				c := classifier.Classify(facts)
				composer.Compose(facts, &c)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/change")
		})
	}
}

// hundredGlobs has 80 globs that map files and 20 in triggers.
func hundredGlobs() *config.Config {
	cfg := &config.Config{Agents: []config.Agent{{ID: "a", Enabled: true}}}
	for i := range 20 {
		cfg.Domains = append(cfg.Domains, config.DomainMapping{
			ID: fmt.Sprintf("m%d", i), Enabled: true, Domain: fmt.Sprintf("d%d", i),
			Globs: []string{
				fmt.Sprintf("src/area%d/**", i), fmt.Sprintf("**/part%d/**", i),
				fmt.Sprintf("**/*%d.{go,ts,py}", i), fmt.Sprintf("src/**/file%d*.go", i),
			},
		})
		cfg.Policies = append(cfg.Policies, config.Policy{
			ID: fmt.Sprintf("p%d", i), Enabled: true,
			Trigger:  policies.Trigger{Type: policies.TriggerPath, Globs: []string{fmt.Sprintf("**/area%d/**/*.ts", i)}},
			Dispatch: config.Dispatch{Agents: []string{"a"}, Scope: config.ScopeMatched},
		})
	}
	return cfg
}

// BenchmarkReview measures a whole review with the shipped config, of a change in memory, and the
// peak of the heap. Each size has ten times the lines of the one before.
func BenchmarkReview(b *testing.B) {
	cfg, problems := config.Load()
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	runner, err := NewRunner(Config{Version: "bench", Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	const linesPerFile = 100 / 3
	for _, files := range []int{30, 300, 3000} {
		src := &inMemory{cfg: cfg, files: manyFiles(files, linesPerFile)}
		b.Run(fmt.Sprintf("files=%d/lines=%d", files, files*linesPerFile), func(b *testing.B) {
			runtime.GC()
			peak := sample.WatchHeap()
			var out Outcome
			for b.Loop() {
				if out, err = runner.Run(context.Background(), src, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(peak())/(1<<20), "peak-MB")
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/review")
			b.ReportMetric(float64(len(out.Review.Report.Findings)), "findings")
			for _, s := range out.Record.Stages {
				if s.Error != "" {
					b.Fatalf("stage %s failed: %s", s.Stage, s.Error)
				}
				b.ReportMetric(s.DurationMS, string(s.Stage)+"-ms")
			}
		})
	}
}

// manyFiles makes added files with n lines of realistic code each. About one line in fifty breaks a
// rule.
func manyFiles(files, n int) []raw.ChangedFile {
	lines := []string{
		"// Total returns what the customer pays.", "func Total(items []Item) (int64, error) {",
		"\tvar sum int64", "\tfor _, item := range items {", "\t\tif item.Quantity < 0 {",
		"\t\t\treturn 0, fmt.Errorf(\"item %s: negative quantity\", item.ID)", "\t\t}",
		"\t\tsum += item.Price * int64(item.Quantity)", "\t}", "\treturn sum, nil", "}", "",
		"export const label = (name: string) => name.trim().toLowerCase();",
		"    def handle(self, request, *args, **kwargs):", "        return self.service.call(request.user.id)",
		"const users = await repository.find({ where: { active: true }, take: 50 });",
	}
	ext := []string{"go", "ts", "py", "java", "rb"}
	var out []raw.ChangedFile
	next := 0
	for i := range files {
		var patch strings.Builder
		fmt.Fprintf(&patch, "@@ -0,0 +1,%d @@", n)
		for range n {
			line := lines[next%len(lines)]
			if next++; next%50 == 0 {
				line = "\tdebugger;"
			}
			patch.WriteString("\n+" + line)
		}
		f := raw.ChangedFile{
			Path:   fmt.Sprintf("src/area%d/part%d/file%d.%s", i%40, i%30, i, ext[i%len(ext)]),
			Status: pipeline.FileAdded, Additions: n,
		}
		if n > 0 {
			f.Patch = patch.String()
		}
		out = append(out, f)
	}
	return out
}

// inMemory is a change that needs no reading.
type inMemory struct {
	cfg   *config.Config
	files []raw.ChangedFile
}

func (s *inMemory) PullRequest(context.Context) (raw.PullRequest, error) {
	return raw.PullRequest{
		Repository: pipeline.Repository{Owner: "acme", Name: "shop"}, Number: 1,
		Title: "feat: totals", Body: "Adds totals.", Head: pipeline.Head{SHA: "h"},
		Totals: pipeline.Totals{Files: len(s.files)},
	}, nil
}

func (s *inMemory) Files(context.Context) (raw.Files, error) {
	return raw.Files{Files: s.files}, nil
}

func (s *inMemory) Commits(context.Context) (raw.Commits, error) {
	return raw.Commits{}, nil
}

func (s *inMemory) Config(context.Context) (normalize.ConfigRead, error) {
	return normalize.ConfigRead{Config: s.cfg}, nil
}
