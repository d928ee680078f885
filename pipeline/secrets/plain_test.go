package secrets

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/zricethezav/gitleaks/v8/detect"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// plain is gitleaks' own detector.
func plain(t testing.TB) *detect.Detector {
	t.Helper()
	cfg, err := gitleaksConfig()
	if err != nil {
		t.Fatal(err)
	}
	d := detect.NewDetector(cfg)
	d.IgnoreGitleaksAllow = true
	return d
}

func detector(t testing.TB) *Detector {
	t.Helper()
	d, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

type result struct{ Rule, Secret string }

func sorted(list []result) []result {
	slices.SortFunc(list, func(a, b result) int { return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Secret, b.Secret)) })
	return list
}

func plainResults(d *detect.Detector, text, path string) []result {
	var out []result
	fragmentary := ""
	for _, f := range d.Detect(fragment(text, path)) {
		r := result{f.RuleID, f.Secret}
		if (&rule{id: f.RuleID}).fragmentary() {
			r.Secret = f.Match
			fragmentary += f.Match
		}
		out = append(out, r)
	}
	// For these rules we take the whole match, and a generic match within it adds nothing.
	out = slices.DeleteFunc(out, func(r result) bool { return r.Rule == ruleGeneric && strings.Contains(fragmentary, r.Secret) })
	return sorted(out)
}

func ourResults(d *Detector, text, path string) []result {
	var out []result
	if s := d.search(text); s != nil {
		for _, m := range s.gitleaks(path, nil) {
			out = append(out, result{m.rule.id, text[m.from:m.to]})
		}
	}
	return sorted(out)
}

// Searching only candidates misses nothing: in the same text, we find the same as gitleaks.
func TestSameAsGitleaksOnCode(t *testing.T) {
	limit := sample.Size(1<<16, 4<<20)
	if testing.Short() {
		limit = min(limit, 1<<19)
	}
	theirs, ours := plain(t), detector(t)
	found := 0
	// The sources of gitleaks' rules are full of samples.
	files := sample.Of(t, 60, module(t, "github.com/zricethezav/gitleaks/v8", "cmd/generate/config/rules"))
	files = append(files, code(t, limit)...)
	for _, f := range files {
		if ours.skips(f.path) {
			continue
		}
		for _, piece := range pieces(f.text, 8<<10) {
			want := plainResults(theirs, piece, f.path)
			found += len(want)
			if diff := gocmp.Diff(want, ourResults(ours, piece, f.path), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-gitleaks +ours):\n%s", f.path, diff)
			}
		}
	}
	t.Logf("%d files, %d findings", len(files), found)
	if found < sample.Size(50, 200) {
		t.Errorf("only %d findings to compare", found)
	}
}

// The same is true of lines that people committed.
func TestSameAsGitleaksOnHistory(t *testing.T) {
	limit := sample.Size(1<<16, 2<<20)
	if testing.Short() {
		limit = min(limit, 1<<19)
	}
	theirs, ours := plain(t), detector(t)
	list, lines, _ := historyPieces(t, limit)
	found := 0
	for _, p := range list {
		if ours.skips(p.path) {
			continue
		}
		want := plainResults(theirs, p.text, p.path)
		found += len(want)
		if diff := gocmp.Diff(want, ourResults(ours, p.text, p.path), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-gitleaks +ours):\n%s", p.path, diff)
		}
	}
	t.Logf("%d lines, %d findings", lines, found)
}

// pieces cuts text into pieces of whole lines, n bytes or a little more.
func pieces(text string, n int) []string {
	var out []string
	for len(text) > n {
		to := n + strings.IndexByte(text[n:], '\n') + 1
		if to == n {
			break
		}
		out, text = append(out, text[:to]), text[to:]
	}
	return append(out, text)
}

// The same is true of every rule's own secrets, between lines of code and between each other.
func TestSameAsGitleaksOnGenerated(t *testing.T) {
	theirs, ours := plain(t), detector(t)
	own := 0
	for _, r := range ours.rules {
		secret := rapid.StringMatching(r.regex.String())
		text := rapid.Custom(func(t *rapid.T) string {
			part := rapid.OneOf(secret, secret, rapid.SampledFrom(between))
			separator := rapid.SampledFrom([]string{"\n", " ", "", "\r\n", "\"", "\n\n"}).Draw(t, "separator")
			return strings.Join(rapid.SliceOfN(part, 1, 8).Draw(t, "text"), separator)
		})
		found := false
		for seed := range sample.Size(1, 10) {
			path := []string{"", "a.go", "b.yaml", "main.tf", "nuget.config", "x.php"}[seed%6]
			text := text.Example(seed)
			want, got := plainResults(theirs, text, path), ourResults(ours, text, path)
			want = slices.DeleteFunc(want, func(f result) bool { return f.Rule == ruleGeneric && isOther(f, got) })
			got = slices.DeleteFunc(got, func(f result) bool { return isBeyond(f, text) && !slices.Contains(want, f) })
			if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: %q (-gitleaks +ours):\n%s", r.id, text, diff)
			}
			found = found || slices.ContainsFunc(want, func(f result) bool { return f.Rule == r.id })
		}
		if found {
			own++
		}
	}
	// Some rules need more than their expression: entropy, or a word elsewhere.
	t.Logf("%d of %d rules found a secret of their own", own, len(ours.rules))
	if own < len(ours.rules)*2/3 {
		t.Errorf("only %d of %d rules found a secret of their own", own, len(ours.rules))
	}
}

// isBeyond reports whether a finding need not be gitleaks' too. The long s, and host names with
// another character than a dot, fit gitleaks' expressions but not its keywords. And a match that
// gitleaks drops for its low entropy can swallow a name that is in the place of another name's
// value.
func isBeyond(f result, text string) bool {
	switch f.Rule {
	case ruleGeneric, "slack-webhook-url", "slack-config-access-token", "sidekiq-sensitive-url":
		return true
	}
	return strings.ContainsRune(text, '\u017f')
}

// isOther reports whether another rule found the value of a generic finding.
func isOther(f result, all []result) bool {
	return slices.ContainsFunc(all, func(o result) bool { return o.Rule != ruleGeneric && strings.Contains(o.Secret, f.Secret) })
}

var between = []string{
	"func main() {", "api_key = ", "password:", "  token=\"", "const Key = `", "// see https://example.org/a?key=1", "curl -s \\", "-u admin:",
	"kind: Secret", "data:", "facebook", "sourcegraph", "airtable", "\u212aey: ", "\u017fecret = \"", "export default {", "a", "\t", "}", "\xff\xfe",
}
