package secrets

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// joins are calls that join a list. … is the place of the items, S is the separator, and text gives
// the quotes around each item.
var joins = []struct{ call, text, between string }{
	{`t = "S".join([…])`, `"%s"`, ", "}, {`t = 'S'.join(…,)`, `'%s'`, ", "}, {`t = […].join("S")`, `"%s"`, ","}, {`$t = implode("S", […]);`, `"%s"`, ", "}, {`$t = implode('S', array(…));`, `'%s'`, ", "}, {`t = String.join("S", …);`, `"%s"`, ", "},
	{`t = String.join("S", List.of(…));`, `"%s"`, ", "}, {`t = String.join("S", new String[]{…});`, `"%s"`, ", "}, {`t := strings.Join([]string{…}, "S")`, `"%s"`, ", "}, {"t := strings.Join([]string{\n\t…,\n}, \"S\")", `"%s"`, ",\n\t"}, {`t = join("S", […])`, `"%s"`, ", "},
	{`t = %w[…].join("S")`, `%s`, " "}, {`t = %w[…] * "S"`, `%s`, " "}, {`t = […] * "S"`, `"%s"`, ", "}, {`t = table.concat({…}, "S")`, `"%s"`, ", "}, {`t <- paste(…, sep="S")`, `"%s"`, ", "}, {`t <- paste(c(…), collapse = "S")`, `"%s"`, ", "},
	{`(def t (clojure.string/join "S" […]))`, `"%s"`, " "}, {`val t = List(…).mkString("S")`, `"%s"`, ", "}, {`val t = listOf(…).joinToString("S")`, `"%s"`, ", "}, {`val t = listOf(…).joinToString(separator = "S")`, `"%s"`, ", "}, {`let t = […].joined(separator: "S")`, `"%s"`, ", "},
	{`let t = […].join("S");`, `"%s"`, ", "}, {`let t = vec![…].join("S");`, `"%s"`, ", "}, {`$t = … -join "S"`, `"%s"`, ","}, {`$t = @(…) -join 'S'`, `'%s'`, ","}, {`t = Enum.join([…], "S")`, `"%s"`, ", "}, {`let t = String.concat "S" […]`, `"%s"`, "; "}, {`t = intercalate "S" […]`, `"%s"`, ", "},
	{`my $t = join("S", …);`, `'%s'`, ", "}, {`my $t = join 'S', qw(…);`, `%s`, " "}, {`SELECT CONCAT_WS('S', …)`, `'%s'`, ", "}, {`x: {{ join "S" (list …) }}`, `"%s"`, " "}, {`x: {{ […] | join('S') }}`, `'%s'`, ", "}, {`x: !Join ["S", […]]`, `"%s"`, ", "}, {"x: !Join\n  - \"S\"\n  - - …", `"%s"`, "\n    - "},
	{`var t = string.Join("S", new[] { … });`, `"%s"`, ", "}, {`var t = string.Join('S', …);`, `"%s"`, ", "}, {`t = […].reduce((a, b) => a + "S" + b)`, `"%s"`, ", "}, {`t = sep.join([…])`, `"%s"`, ", "}, {"const t = [\n  …,\n].join(SEPARATOR);", "'%s'", ",\n  "}, {`=TEXTJOIN("S",TRUE,…)`, `"%s"`, ","},
}

// separatedTokens are tokens with a sign between their parts.
func separatedTokens() map[string]string {
	draw := rand.New(rand.NewPCG(31, 7))
	return map[string]string{
		"ghp_" + drawnFrom(`[A-Za-z0-9]{36}`, draw): "_", "glpat-" + drawnFrom(`[A-Za-z0-9]{20}`, draw): "-", "xoxb-" + drawnFrom(`[0-9]{12}-[0-9]{13}-[A-Za-z0-9]{24}`, draw): "-",
		"sq0csp-" + drawnFrom(`[A-Za-z0-9]{43}`, draw): "-", "SG." + drawnFrom(`[A-Za-z0-9]{22}\.[A-Za-z0-9]{43}`, draw): ".", "sk_live_" + drawnFrom(`[A-Za-z0-9]{24}`, draw): "_", "dop_v1_" + drawnFrom(low+`{64}`, draw): "_", "sk-ant-api03-" + drawnFrom(`[A-Za-z0-9]{93}`, draw): "-",
		"github_pat_" + drawnFrom(`[A-Za-z0-9]{22}_[A-Za-z0-9]{59}`, draw): "_", "https://hooks.slack.com/services/" + drawnFrom(`T[A-Z0-9]{8}/B[A-Z0-9]{8}/[A-Za-z0-9]{24}`, draw): "/",
		base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"u-3981","iat":17}`)) + "." + drawnFrom(`[A-Za-z0-9_-]{43}`, draw): ".",
	}
}

// A list that a call joins with the token's own separator is the token.
func TestTokensJoinedWithTheirSeparator(t *testing.T) {
	d := detector(t)
	for token, separator := range separatedTokens() {
		for _, j := range joins {
			if j.between == " " && j.text == "%s" && strings.Contains(token, ":") {
				continue // words are not empty
			}
			var items []string
			for _, part := range strings.Split(token, separator) {
				items = append(items, fmt.Sprintf(j.text, part))
			}
			shown := strings.NewReplacer(`"S"`, `"`+separator+`"`, `'S'`, `'`+separator+`'`).Replace(j.call)
			shown = strings.Replace(shown, "…", strings.Join(items, j.between), 1)
			lines := strings.Split(shown, "\n")
			f := facts("a.txt", prefixed("+", lines)...)
			found := d.Redact(&f)
			left := strings.Join(texts(f), "\n")
			last := items[len(items)-1]
			if len(found) == 0 || len(texts(f)) != len(lines) || strings.Contains(left, strings.Trim(last, `"'`)) {
				t.Errorf("%.200q: %d found, left %.300q", shown, len(found), left)
			}
		}
	}
}

// Lists of words and names are not tokens, whatever separates them.
func TestListsThatAreNotTokens(t *testing.T) {
	d := detector(t)
	hash := fmt.Sprintf("%x", randomBytes(20, 5))
	for _, text := range []string{
		`["sk", "en", "de", "fr", "es", "pt-BR", "zh-Hans-CN", "sr-Latn-RS"].join("-")`, `"_".join(["ghp", "the_name_of_a_token_2", "of_somebody_else"])`, `["xoxb", "xoxp", "xoxa", "12345678"].join("-")`, `"-".join(["glpat", "some-name-of-a-token-2024", "x"])`,
		`strings.Join([]string{"github", "pat", "someRepositoryName2", "anotherRepositoryNameToo"}, "_")`, `["eyJ", "header", "payload12", "signature"].join(".")`, `{"sk": 1, "md5": "` + hash + `"}`, `["sha", "` + hash + `"].join("-")`, `["SG", "Singapore", "SGP", "702"].join(".")`,
	} {
		f := facts("a.txt", "+"+text)
		if found := d.Redact(&f); len(found) > 0 {
			t.Errorf("%s: %+v", text, found)
		}
	}
}
