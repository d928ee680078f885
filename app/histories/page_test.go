package histories

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/config"
)

const (
	page          = "../../docs/usefulness.md"
	data          = "../../testdata/usefulness.md" // its tables
	readme        = "../../README.md"
	judged        = 100
	leastWanted   = 70
	mostNoise     = 1.0 // findings per 1,000 added lines
	tallyHeader   = "| repository | changes | left out |"
	verdictHeader = "| # | change | place |"
	singleHeader  = "| what was counted | count |"
	defectHeader  = "| defect | kind | source |"
)

var update = flag.Bool("update", false, "write the seeded defects' table of testdata/usefulness.md anew")

// builtIn are the rules of agents that the config does not define.
var builtIn = regexp.MustCompile(`^secret-[a-z0-9-]+$`)

// TestVerdicts computes the figures of docs/usefulness.md and the README from testdata/usefulness.md.
func TestVerdicts(t *testing.T) {
	text := readText(t, data)
	rules := shippedRules(t)
	wanted, seen := 0, map[string]bool{}
	rows := table(t, text, verdictHeader)
	for i, row := range rows {
		if len(row) != 8 || row[0] != strconv.Itoa(i+1) {
			t.Fatalf("verdict %d is %q", i+1, row)
		}
		change, place, rule, verdict, why := row[1], row[2], row[3], row[6], row[7]
		if key := strings.Join(row[1:6], "|"); seen[key] {
			t.Errorf("verdict %d appears twice", i+1)
		} else {
			seen[key] = true
		}
		if verdict != "wanted" && verdict != "noise" || len(why) < 10 || change == "" || place == "" {
			t.Errorf("verdict %d is not complete: %q", i+1, row)
		}
		if !rules[rule] && !builtIn.MatchString(rule) {
			t.Errorf("verdict %d: no rule %s", i+1, rule)
		}
		if verdict == "wanted" {
			wanted++
		}
	}
	if len(rows) != judged || wanted < leastWanted {
		t.Errorf("%d of %d verdicts are wanted; want %d of %d", wanted, len(rows), leastWanted, judged)
	}
	lines, blocked, changes, findings := tallies(t, text)
	noise := float64(judged-wanted) / judged * float64(findings) * 1000 / float64(lines)
	if noise > mostNoise {
		t.Errorf("%.2f findings in 1,000 lines are noise, want at most %.0f", noise, mostNoise)
	}
	says(t, page, fmt.Sprintf("**%d of the 100 are wanted, %d are noise.**", wanted, judged-wanted))
	says(t, page, fmt.Sprintf("**%s changes, %s added lines, %d findings, %d changes blocked.**", grouped(changes), grouped(lines), findings, blocked))
	says(t, page, fmt.Sprintf("**%.2f findings in 1,000 added lines**", 1000*float64(findings)/float64(lines)))
	says(t, page, fmt.Sprintf("**%.2f noise findings in 1,000 added lines**", noise))
	single := singles(t, text)
	says(t, page, fmt.Sprintf("the same run counts %d findings, or %.2f in 1,000 added lines", single[1], 1000*float64(single[1])/float64(lines)))
	says(t, page, fmt.Sprintf("Of all %d findings we judged %d wanted, which is %.1f %%", findings, single[0], 100*float64(single[0])/float64(findings)))
	says(t, readme, fmt.Sprintf("On %s merged changes of 17 well-kept public repositories the defaults produce %.2f findings per 1,000 added lines. Of 100 findings drawn at random %d were useful", grouped(changes), 1000*float64(findings)/float64(lines), wanted))
}

// singles are the figures of the table of single figures, from top to bottom.
func singles(t *testing.T, text string) []int {
	t.Helper()
	var all []int
	for _, row := range table(t, text, singleHeader) {
		n, err := strconv.Atoi(row[1])
		if err != nil {
			t.Fatalf("single figure %q: %v", row, err)
		}
		all = append(all, n)
	}
	if len(all) != 3 {
		t.Fatalf("%d single figures, want 3", len(all))
	}
	return all
}

// says looks for words in a file, across line breaks.
func says(t *testing.T, file, words string) {
	t.Helper()
	if !strings.Contains(strings.Join(strings.Fields(readText(t, file)), " "), words) {
		t.Errorf("%s does not contain %q", file, words)
	}
}

// tallies adds up the repositories and compares the result with the row of sums.
func tallies(t *testing.T, text string) (lines, blocked, changes, findings int) {
	t.Helper()
	var sums [5]int
	for _, row := range table(t, text, tallyHeader) {
		var n [5]int
		for i := range n {
			v, err := strconv.Atoi(row[i+1])
			if err != nil {
				t.Fatalf("tally %q: %v", row, err)
			}
			n[i] = v
		}
		if want := fmt.Sprintf("%.2f", 1000*float64(n[4])/float64(n[2])); row[6] != want {
			t.Errorf("%s has %s findings in 1,000 lines, the page says %s", row[0], want, row[6])
		}
		if row[0] == "all" {
			if n != sums {
				t.Errorf("the sums are %v, the page says %v", sums, n)
			}
			continue
		}
		for i := range n {
			sums[i] += n[i]
		}
	}
	return sums[2], sums[3], sums[0], sums[4]
}

// checkDefects compares the table of seeded defects with the result.
func checkDefects(t *testing.T, rows []string) {
	t.Helper()
	text := readText(t, data)
	at := strings.Index(text, defectHeader)
	if at < 0 {
		t.Fatalf("%s has no table %q", data, defectHeader)
	}
	want := defectHeader + " a line shows it | found by |\n|---|---|---|---|---|\n" + strings.Join(rows, "")
	old := text[at:]
	if end := strings.Index(old, "\n\n"); end >= 0 {
		old = old[:end+1]
	}
	if *update {
		text = strings.Replace(text, old, want, 1)
		if err := os.WriteFile(data, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if old != want {
		t.Errorf("the seeded defects of %s differ from the result: run go test ./app/histories -run TestDefects -update", data)
	}
}

// foundBefore returns for each defect the rule that finds it according to the table.
func foundBefore(t *testing.T) map[string]string {
	t.Helper()
	by := map[string]string{}
	for _, row := range table(t, readText(t, data), defectHeader) {
		by[row[0]] = strings.TrimPrefix(row[4], "–")
	}
	return by
}

// table reads the cells of the table whose header starts with header.
func table(t *testing.T, text, header string) [][]string {
	t.Helper()
	_, rest, ok := strings.Cut(text, header)
	if !ok {
		t.Fatalf("%s has no table %q", data, header)
	}
	var rows [][]string
	for i, line := range strings.Split(rest, "\n") {
		if i < 2 { // the rest of the header, and the line below it
			continue
		}
		if !strings.HasPrefix(line, "|") {
			break
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for j := range cells {
			cells[j] = strings.TrimSpace(cells[j])
		}
		rows = append(rows, cells)
	}
	return rows
}

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func shippedRules(t *testing.T) map[string]bool {
	t.Helper()
	c, problems := config.Load()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	ids := map[string]bool{}
	for _, r := range slices.Concat(c.Rules, c.Strict) {
		ids[r.ID] = true
	}
	return ids
}

// grouped writes n with commas: 1,234,567.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
