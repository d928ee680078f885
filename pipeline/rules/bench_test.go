package rules_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/internal/history"
	"github.com/reviewgate/reviewgate/pipeline/rules"
)

// BenchmarkHistory and BenchmarkNaive run the shipped rules over the lines that a
// real history added, change by change and in one goroutine. MB/s counts the bytes
// of lines that all rules look at; BenchmarkGeneratedAndVendored has the other
// files. BenchmarkNaive runs the naive engine on a part of the history, and fails
// if the two engines disagree.
func BenchmarkHistory(b *testing.B) {
	cfg, engine := shipped(b)
	changes := committed(b, 10<<20)
	b.SetBytes(allBytes(changes))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n = 0
		for _, facts := range changes {
			n += scanned(b, engine, cfg, facts)
		}
	}
	reportDensity(b, changes, n)
}

func BenchmarkNaive(b *testing.B) {
	cfg, engine := shipped(b)
	changes := committed(b, 512<<10)
	naive := newNaive(b, cfg.Rules)
	b.SetBytes(allBytes(changes))
	n := 0
	for b.Loop() {
		n = 0
		for _, facts := range changes {
			n += len(naive.scan(facts, classification))
		}
	}
	reportDensity(b, changes, n)
	for _, facts := range changes {
		sameAsNaive(b, cfg, engine, naive, facts)
	}
}

// scanned returns the number of findings of all agents.
func scanned(t testing.TB, engine *rules.Engine, cfg *config.Config, facts *pipeline.PRFacts) int {
	n := 0
	scan := engine.Scan(facts, classification)
	for _, a := range cfg.Agents {
		n += len(review(t, scan, a.ID))
	}
	return n
}

// committed returns the facts of each change of the history, up to limit added bytes.
// Without a history it returns one change that adds code.
func committed(t testing.TB, limit int) []*pipeline.PRFacts {
	t.Helper()
	var out []*pipeline.PRFacts
	changes := history.Read(t, limit)
	for i := range changes {
		out = append(out, linesOfOwn(changes[i].Facts(t)))
	}
	if changes == nil {
		out = append(out, linesOfOwn(corpus(t, limit)))
	}
	return cutTo(out, limit)
}

// cutTo drops the files after the first limit bytes: one commit may add any number.
func cutTo(changes []*pipeline.PRFacts, limit int) []*pipeline.PRFacts {
	for i, facts := range changes {
		for j := range facts.Files {
			one := &pipeline.PRFacts{Files: facts.Files[j : j+1]}
			if limit -= int(addedBytes(one)); limit < 0 {
				facts.Files = facts.Files[:j]
				return changes[:i+1]
			}
		}
	}
	return changes
}

func allBytes(changes []*pipeline.PRFacts) int64 {
	var n int64
	for _, facts := range changes {
		n += addedBytes(facts)
	}
	return n
}

// reportDensity reports the size of the changes and the number of findings.
func reportDensity(b *testing.B, changes []*pipeline.PRFacts, findings int) {
	b.Helper()
	lines := 0
	for _, facts := range changes {
		lines += addedLines(facts)
	}
	b.ReportMetric(float64(len(changes)), "changes")
	b.ReportMetric(float64(allBytes(changes)), "bytes")
	b.ReportMetric(float64(lines), "lines")
	b.ReportMetric(float64(findings), "findings")
	b.ReportMetric(1000*float64(findings)/float64(max(lines, 1)), "findings/1000-lines")
}

// BenchmarkCode does the same over code in many languages: sources of the Go distribution and of
// modules. It needs no commits.
func BenchmarkCode(b *testing.B) {
	cfg, engine := shipped(b)
	facts := linesOfOwn(corpus(b, 10<<20))
	b.SetBytes(addedBytes(facts))
	n := 0
	for b.Loop() {
		n = scanned(b, engine, cfg, facts)
	}
	reportDensity(b, []*pipeline.PRFacts{facts}, n)
}

// BenchmarkMatches is the worst case for the shipped rules: a rule flags almost every line, so no
// literal rules a line out.
func BenchmarkMatches(b *testing.B) {
	cfg, engine := shipped(b)
	facts := linesOfOwn(snippets(b, 20))
	b.SetBytes(addedBytes(facts))
	n := 0
	for b.Loop() {
		n = scanned(b, engine, cfg, facts)
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

// BenchmarkBlocks scans a hunk of many blocks in which one matching line replaces another, for a rule that
// counts net and reads no comments. The time of a block does not grow with their number.
func BenchmarkBlocks(b *testing.B) {
	r := rule(config.Match{Literal: "uses:", Net: true, Comments: new(bool)})
	r.Severity = pipeline.SeverityWarning
	e, err := rules.Compile([]config.Rule{r})
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{1_000, 16_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := file("ci.yml", strings.Split(strings.TrimSuffix(strings.Repeat("-uses: a\n+uses: b\n x\n", n), "\n"), "\n")...)
			f.Language = "YAML"
			facts := &pipeline.PRFacts{Files: []pipeline.File{f}}
			for b.Loop() {
				if found := review(b, e.Scan(facts, classification), "agent"); len(found) > 0 {
					b.Fatalf("%d findings", len(found))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/block")
		})
	}
}

// BenchmarkLanguages shows in which languages the rules are slow.
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

// BenchmarkCompile measures the cost of compiling a new version of the config.
func BenchmarkCompile(b *testing.B) {
	cfg, _ := config.Load()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := rules.Compile(cfg.Rules); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkScopes measures the cost of a file without its lines.
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

// BenchmarkGeneratedAndVendored measures what the serious rules cost on generated and vendored
// files, including minified ones.
func BenchmarkGeneratedAndVendored(b *testing.B) {
	cfg, engine := shipped(b)
	facts := corpus(b, 10<<20)
	facts.Files = slices.DeleteFunc(facts.Files, func(f pipeline.File) bool { return !skipped(&f) })
	b.SetBytes(addedBytes(facts))
	n := 0
	for b.Loop() {
		n = scanned(b, engine, cfg, facts)
	}
	b.ReportMetric(float64(n), "findings")
	b.ReportMetric(float64(len(facts.Files)), "files")
}

// linesOfOwn keeps the files whose lines all rules look at.
func linesOfOwn(facts *pipeline.PRFacts) *pipeline.PRFacts {
	facts.Files = slices.DeleteFunc(facts.Files, func(f pipeline.File) bool { return skipped(&f) })
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

func addedLines(facts *pipeline.PRFacts) int {
	n := 0
	for i := range facts.Files {
		for _, h := range facts.Files[i].Hunks {
			for _, l := range h.Lines {
				if l.Op == pipeline.LineAdded {
					n++
				}
			}
		}
	}
	return n
}

// review does not call t.Helper: benchmarks call it so often that they would measure it.
func review(t testing.TB, scan *rules.Scan, agent string) []pipeline.Finding {
	answer, err := scan.Agent(agent).Review(context.Background(), everything(agent))
	if err != nil {
		t.Fatal(err)
	}
	return answer.Output.Findings
}

func everything(agent string) dispatch.Task {
	return dispatch.Task{Entry: pipeline.ManifestEntry{Agent: agent, Scope: pipeline.AgentScope{All: true}}}
}
