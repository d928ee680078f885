package rules_test

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/rules"
)

// BenchmarkEngine and BenchmarkNaive run the shipped rules over the added
// lines of code in many languages, in one goroutine. The bytes of MB/s are
// those of lines that all rules look at: generated and vendored files are
// BenchmarkForeign's.
func BenchmarkEngine(b *testing.B) {
	cfg, engine := shipped(b)
	facts := linesOfOwn(corpus(b, 10<<20))
	b.SetBytes(addedBytes(facts))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n = 0
		scan := engine.Scan(facts, classification)
		for _, a := range cfg.Agents {
			n += len(review(b, scan, a.ID))
		}
	}
	b.ReportMetric(float64(n), "findings")
}

func BenchmarkNaive(b *testing.B) {
	cfg, _ := shipped(b)
	facts := linesOfOwn(corpus(b, 512<<10))
	naive := newNaive(b, cfg.Rules)
	b.SetBytes(addedBytes(facts))
	n := 0
	for b.Loop() {
		n = len(naive.scan(facts, classification))
	}
	b.ReportMetric(float64(n), "findings")
}

// BenchmarkMatches is the worst that the shipped rules meet: every line is one
// that a rule flags or nearly does, so that no literal keeps it away.
func BenchmarkMatches(b *testing.B) {
	cfg, engine := shipped(b)
	facts := linesOfOwn(snippets(b, 20))
	b.SetBytes(addedBytes(facts))
	n := 0
	for b.Loop() {
		n = 0
		scan := engine.Scan(facts, classification)
		for _, a := range cfg.Agents {
			n += len(review(b, scan, a.ID))
		}
	}
	b.ReportMetric(float64(n), "findings")
}

// snippets returns facts of a change that adds every rule's fixtures, repeated.
func snippets(t testing.TB, times int) *pipeline.PRFacts {
	t.Helper()
	all := fixtures(t)
	var files added
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if f := all[id]; f.Path != "" {
			files.add(id+"/"+f.Path, strings.Repeat(strings.Join(slices.Concat(f.Flag, f.OK), "\n")+"\n", times))
		}
	}
	return files.facts(t)
}

// BenchmarkLanguages shows which language the rules are slow for.
func BenchmarkLanguages(b *testing.B) {
	cfg, engine := shipped(b)
	all := linesOfOwn(corpus(b, 10<<20))
	languages := map[string]*pipeline.PRFacts{}
	for _, f := range all.Files {
		if languages[f.Language] == nil {
			languages[f.Language] = &pipeline.PRFacts{}
		}
		languages[f.Language].Files = append(languages[f.Language].Files, f)
	}
	for _, language := range slices.Sorted(maps.Keys(languages)) {
		facts := languages[language]
		if addedBytes(facts) < 16<<10 {
			continue
		}
		b.Run(cmp.Or(language, "unknown"), func(b *testing.B) {
			b.SetBytes(addedBytes(facts))
			for b.Loop() {
				review(b, engine.Scan(facts, classification), cfg.Agents[0].ID)
			}
		})
	}
}

// BenchmarkCompile is what a new config version costs.
func BenchmarkCompile(b *testing.B) {
	cfg, _ := config.Load()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := rules.Compile(cfg.Rules); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkScopes is what files cost whatever stands in them.
func BenchmarkScopes(b *testing.B) {
	cfg, engine := shipped(b)
	facts := corpus(b, 10<<20)
	for i := range facts.Files {
		facts.Files[i].Hunks = nil
	}
	for b.Loop() {
		review(b, engine.Scan(facts, classification), cfg.Agents[0].ID)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(facts.Files)), "ns/file")
}

// BenchmarkForeign is what the serious rules cost on generated and vendored
// files, minified ones among them.
func BenchmarkForeign(b *testing.B) {
	cfg, engine := shipped(b)
	facts := corpus(b, 10<<20)
	facts.Files = slices.DeleteFunc(facts.Files, func(f pipeline.File) bool { return !foreign(&f) })
	b.SetBytes(addedBytes(facts))
	n := 0
	for b.Loop() {
		n = 0
		scan := engine.Scan(facts, classification)
		for _, a := range cfg.Agents {
			n += len(review(b, scan, a.ID))
		}
	}
	b.ReportMetric(float64(n), "findings")
	b.ReportMetric(float64(len(facts.Files)), "files")
}

// linesOfOwn leaves out the files whose lines only serious rules look at.
func linesOfOwn(facts *pipeline.PRFacts) *pipeline.PRFacts {
	facts.Files = slices.DeleteFunc(facts.Files, func(f pipeline.File) bool { return foreign(&f) })
	return facts
}

func addedBytes(facts *pipeline.PRFacts) int64 {
	n := 0
	for i := range facts.Files {
		for _, h := range facts.Files[i].Hunks {
			for _, l := range h.Lines {
				if l.Op == pipeline.LineAdded {
					n += len(l.Text) + 1
				}
			}
		}
	}
	return int64(n)
}

func review(t testing.TB, scan *rules.Scan, agent string) []pipeline.Finding {
	t.Helper()
	out, err := scan.Agent(agent).Review(context.Background(), everything(agent))
	if err != nil {
		t.Fatal(err)
	}
	return out.Findings
}

func everything(agent string) dispatch.Task {
	return dispatch.Task{Entry: pipeline.ManifestEntry{Agent: agent, Scope: pipeline.AgentScope{All: true}}}
}
