package secrets

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// numbered are the ways in which a program writes a number within a string: H is the text before
// it, N the number, and R the rest.
var numbered = []string{
	"`H${N}R`", `"H" + N + "R"`, `"H"+N+"R"`, `"H" + str(N) + "R"`, `"H" . N . "R"`, `'H' || N || 'R'`, `"H" & N & "R"`, `"H" .. N .. "R"`, `"H" + String(N) + "R"`, `"H" + String.valueOf(N) + "R"`, `"H" + strconv.Itoa(N) + "R"`, `"H" + N.to_s + "R"`, `"H" + std::to_string(N) + "R"`,
	`f"H{N}R"`, `f"H{N:d}R"`, `f"H{N!s}R"`, `f"H{str(N)}R"`, `$"H{N}R"`, `"H#{N}R"`, `"H\(N)R"`, `"H$(N)R"`, "`H${String(N)}R`", `"H%dR" % N`, `"H%sR" % N`, `"H%iR" % (N,)`, `"H{}R".format(N)`, `"H{0}R".format(N)`, `"H{:d}R".format(N)`, `"H{a}R".format(a=N)`, `"H%(a)dR" % {"a": N}`,
	`fmt.Sprintf("H%d%s", N, "R")`, `fmt.Sprintf("H%[1]dR", N)`, `sprintf('H%d%s', N, 'R')`, `printf "H%ld%s" N "R"`, `format!("H{}{}", N, "R")`, `["H", N, "R"].join("")`, `concat!("H", N, "R")`, `cout << "H" << N << "R"`, `"H".concat(N, "R")`, `String.format("H%d%s", N, "R")`, `"H{0}{1}" -f N, "R"`,
}

// A number between the strings that a program joins is part of the token.
func TestTokensWithNumbers(t *testing.T) {
	d := detector(t)
	draw := rand.New(rand.NewPCG(37, 7))
	alike := map[string]func(string) string{
		"decimal": func(n string) string { return n }, "underscores": func(n string) string { return n[:2] + "_" + n[2:] }, "hexadecimal": func(n string) string { return "0x" + fmt.Sprintf("%x", decimal(n[:2])*1000+decimal(n[2:])) }, "a suffix": func(n string) string { return n + "n" },
	}
	for _, head := range []string{"ghp_" + drawnFrom(`[A-Za-z0-9]{9}[A-Z]`, draw), "glpat-" + drawnFrom(`[A-Za-z0-9]{4}[A-Z]`, draw), "xoxb-", "sk_live_" + drawnFrom(`[A-Za-z0-9]{6}`, draw), "AKIAQ" + drawnFrom(`[A-Z2-7]{5}`, draw)} {
		n := drawnFrom(`[1-9][0-9]{4}`, draw)
		rest := drawnFrom(`[A-Z][A-Za-z0-9]{24}`, draw)
		if strings.HasPrefix(head, "AKIA") {
			rest = drawnFrom(`[A-Z2-7]{6}`, draw)
		}
		for name, as := range alike {
			for _, template := range numbered {
				shown := strings.NewReplacer("H", head, "N", as(n), "R", rest).Replace(template)
				f := facts("a.txt", "+t = "+shown)
				found := d.Redact(&f)
				left := texts(f)[0]
				if len(found) == 0 || strings.Contains(left, rest[:6]) || len(head) > 6 && strings.Contains(left, head) {
					t.Errorf("%s: %s: %d found, left %s", name, shown, len(found), left)
				}
			}
		}
	}
}

// Numbers may be at the beginning of a token, there may be several, and they may stand for single
// characters.
func TestTokensWithSeveralNumbers(t *testing.T) {
	d := detector(t)
	draw := rand.New(rand.NewPCG(41, 7))
	team, bot, end := drawnFrom(`[1-9][0-9]{11}`, draw), drawnFrom(`[1-9][0-9]{12}`, draw), drawnFrom(`[A-Za-z0-9]{24}`, draw)
	telegram, key := drawnFrom(`[1-9][0-9]{8}`, draw), "AA"+drawnFrom(`[A-Za-z0-9]{33}`, draw)
	github := drawnFrom(`[A-Za-z0-9]{36}`, draw)
	hexes := drawnFrom(`[a-f][a-f0-9]{63}`, draw)
	for _, text := range []string{
		fmt.Sprintf(`f"xoxb-{%s}-{%s}-%s"`, team, bot, end), fmt.Sprintf(`fmt.Sprintf("xoxb-%%d-%%d-%%s", %s, %s, "%s")`, team, bot, end), fmt.Sprintf("`xoxb-${%s}-${%s}-%s`", team, bot, end), fmt.Sprintf(`"xoxb-" + %s + "-" + %s + "-%s"`, team, bot, end),
		fmt.Sprintf(`["xoxb", %s, %s, "%s"].join("-")`, team, bot, end), fmt.Sprintf(`"-".join(["xoxb", str(%s), str(%s), "%s"])`, team, bot, end), fmt.Sprintf(`"xoxb" + (-%s) + (-%s) + "-%s"`, team, bot, end), fmt.Sprintf(`"xoxb-%%d-%%d-%s" %% (%s, %s)`, end, team, bot),
		fmt.Sprintf(`str(%s) + ":%s"`, telegram, key), fmt.Sprintf(`f"{%s}:%s"`, telegram, key), fmt.Sprintf("`${%s}:%s`", telegram, key), fmt.Sprintf(`%s + ":%s"`, telegram, key), fmt.Sprintf(`"%%d:%s" %% %s`, key, telegram), fmt.Sprintf(`[%s, "%s"].join(":")`, telegram, key),
		fmt.Sprintf(`"ghp%%c%s" %% 95`, github), fmt.Sprintf(`f"ghp{95:c}%s"`, github), fmt.Sprintf(`f"ghp{0x5f:c}%s"`, github), fmt.Sprintf(`"ghp{:c}%s".format(95)`, github), fmt.Sprintf(`"ghp" + "%%c" %% 95 + "%s"`, github), fmt.Sprintf(`fmt.Sprintf("ghp%%c%%s", 0x5f, "%s")`, github), fmt.Sprintf(`printf("gh%%c%%c%s", 112, 95)`, github),
		fmt.Sprintf(`"dop_v1_%%x" %% 0x%s`, hexes), fmt.Sprintf(`f"dop_v1_{0x%s:x}"`, hexes), fmt.Sprintf(`"dop_v1_{:x}".format(0x%s)`, hexes),
		fmt.Sprintf(`"ghp_%s" + 1 + 2 + 3 + "%s"`, github[:12], github[:22]), fmt.Sprintf(`f"ghp_%s{1}{2}%s"`, github[:12], github[:23]), fmt.Sprintf(`"ghp_%s{1}%s"`, github[:12], github[:23]),
	} {
		f := facts("a.txt", "+t = "+text)
		found := d.Redact(&f)
		left := texts(f)[0]
		for _, part := range []string{end, key, github[:22], hexes} {
			if strings.Contains(left, part) {
				t.Errorf("%s: %d found, left %s", text, len(found), left)
			}
		}
	}
}

// Numbers next to strings make no tokens of them.
func TestNumbersThatAreNotTokens(t *testing.T) {
	d := detector(t)
	for _, text := range []string{
		`"ghp_", 36, "gho_", 36, "github_pat_", 82, "AKIA", 16`, `{"sk-ant-", 93}, {"xoxb-", 12345678901234}, {"glpat-", 20}`, `f("xoxb-", 1234567890123, 1234567890123)`, `AKIA[0:4] + 1234567890123456`, `["glpat-", 12345678901234567890, 20240101]`, "`sk-proj-${12}-${name}-some-words-${2024}-more-words-of-it`", `"dop_v1_%d" % 64`,
	} {
		f := facts("a.txt", "+"+text)
		if found := d.Redact(&f); len(found) > 0 {
			t.Errorf("%s: %+v", text, found)
		}
	}
}
