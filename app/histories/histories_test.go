package histories

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

var (
	repos   = flag.String("repos", "", "`directory` of git repositories to review the histories of")
	most    = flag.Int("changes", 60, "newest changes of each repository")
	outFile = flag.String("out", "", "`file` for all findings, one JSON object a line")
	printed = flag.Int("sample", 100, "findings to print for judging")
	seed    = flag.Uint64("seed", 1, "of the sample")
)

// TestHistories reviews the histories of -repos. Without the flag it reviews a made-up
// history, to prove that changes are separated and counted correctly.
func TestHistories(t *testing.T) {
	if *repos == "" {
		madeUp(t)
		return
	}
	found, err := repositories(*repos)
	if err != nil || len(found) == 0 {
		t.Fatalf("find git repositories in %s: %v", *repos, err)
	}
	var changes []change
	for _, name := range slices.Sorted(maps.Keys(found)) {
		list, err := mainLine(t.Context(), name, found[name], *most)
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, list...)
	}
	tallies, err := walk(t.Context(), newRunner(t), changes)
	if err != nil {
		t.Fatal(err)
	}
	var all []finding
	for _, x := range tallies {
		all = append(all, x.Findings...)
		for _, u := range x.Unread {
			t.Log("not read: ", u)
		}
		if x.Changes < 5*len(x.Unread) {
			t.Errorf("%s: %d changes could be read, %d could not", x.Repository, x.Changes, len(x.Unread))
		}
	}
	write(t, all)
	printTallies(t, tallies)
	printRules(t, all)
	printSample(t, all)
}

func madeUp(t *testing.T) {
	r := newRepository(t)
	r.write(map[string]string{"a.go": "package a\n"})
	r.commit("feat: a")
	r.git("switch", "--quiet", "--create", "topic")
	r.write(map[string]string{"b/client.go": "package b\n\nimport \"crypto/tls\"\n\nvar C = tls.Config{InsecureSkipVerify: true}\n"})
	r.commit("one")
	r.write(map[string]string{"b/more.go": "package b\n"})
	r.commit("two")
	r.git("switch", "--quiet", "main")
	r.git("merge", "--quiet", "--no-ff", "--message", "Merge topic", "topic")
	merge := r.git("rev-parse", "HEAD")
	r.write(map[string]string{"large.txt": strings.Repeat("x\n", mostLines+1)})
	r.commit("feat: too much")

	changes, err := mainLine(t.Context(), "shop", r.dir, 10)
	if err != nil {
		t.Fatal(err)
	}
	tallies, err := walk(t.Context(), newRunner(t), changes)
	if err != nil {
		t.Fatal(err)
	}
	if len(tallies) != 1 {
		t.Fatalf("%d tallies, want 1", len(tallies))
	}
	x := tallies[0]
	if x.Changes != 2 || x.LeftOut != 1 || x.Lines != 1+5+1 || x.Blocked != 1 {
		t.Errorf("%d changes, %d left out, %d lines, %d blocked; want 2, 1, 7, 1", x.Changes, x.LeftOut, x.Lines, x.Blocked)
	}
	if !slices.ContainsFunc(x.Findings, func(f finding) bool {
		return f.SHA == merge[:12] && f.Place == "b/client.go:5" && f.Rule == "sec-tls-verify-01"
	}) {
		t.Errorf("findings %+v lack the finding of the merge", x.Findings)
	}
}

func write(t *testing.T, all []finding) {
	if *outFile == "" {
		return
	}
	f, err := os.Create(*outFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i := range all {
		if err := enc.Encode(all[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

// printTallies prints the table of merged changes of testdata/usefulness.md.
func printTallies(t *testing.T, tallies []*tally) {
	var b strings.Builder
	b.WriteString("\n| repository | changes | left out | added lines | blocked | findings | per 1,000 lines |\n|---|--:|--:|--:|--:|--:|--:|\n")
	var sum tally
	for _, x := range tallies {
		row(&b, x)
		sum.Changes, sum.LeftOut, sum.Lines, sum.Blocked = sum.Changes+x.Changes, sum.LeftOut+x.LeftOut, sum.Lines+x.Lines, sum.Blocked+x.Blocked
		sum.Findings = append(sum.Findings, x.Findings...)
	}
	sum.Repository = "all"
	row(&b, &sum)
	t.Log(b.String())
}

func row(b *strings.Builder, x *tally) {
	fmt.Fprintf(b, "| %s | %d | %d | %d | %d | %d | %.2f |\n", x.Repository, x.Changes, x.LeftOut, x.Lines, x.Blocked, len(x.Findings), 1000*float64(len(x.Findings))/float64(max(1, x.Lines)))
}

func printRules(t *testing.T, all []finding) {
	count := map[string]int{}
	for i := range all {
		count[all[i].Rule]++
	}
	rules := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	var b strings.Builder
	for _, r := range rules {
		fmt.Fprintf(&b, "\n%5d  %s", count[r], r)
	}
	t.Log(b.String())
}

// printSample prints randomly drawn findings in the form of testdata/usefulness.md, with
// empty verdicts.
func printSample(t *testing.T, all []finding) {
	drawn := slices.Clone(all)
	rand.New(rand.NewPCG(*seed, 0)).Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	drawn = drawn[:min(len(drawn), *printed)]
	var b strings.Builder
	b.WriteString("\n| # | change | place | rule | severity | what stands there | verdict | why |\n|--:|---|---|---|---|---|---|---|\n")
	for i, f := range drawn {
		fmt.Fprintf(&b, "| %d | %s@%s | %s | %s | %s | %s | | |\n", i+1, f.Repository, f.SHA[:7], code(f.Place), f.Rule, f.Severity, code(f.Evidence))
	}
	t.Log(b.String())
}

// code is text in the form of a table cell.
func code(s string) string {
	const most = 90
	s = strings.NewReplacer("|", "¦", "`", "'", "\n", " ").Replace(s)
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}
