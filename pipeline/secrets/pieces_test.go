package secrets

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// ofPieces are made-up tokens that the tests write in pieces.
func ofPieces() []string {
	draw := rand.New(rand.NewPCG(23, 7))
	return []string{drawn(&formats[0], 5), "AKIA" + drawnFrom(`[A-Z0-9]{16}`, draw), "sk_live_" + drawnFrom(word+`{24}`, draw), "glpat-" + drawnFrom(`[A-Za-z0-9_-]{20}`, draw), "dop_v1_" + drawnFrom(low+`{64}`, draw)}
}

// puts are the ways in which a program joins pieces. Each # is a part of the token, which may be
// cut anywhere.
var puts = map[string][]string{
	"an empty piece": {
		`"#" + "" + "#"`, `"#" + "" + "" + '' + "#"`, `"#" "" "#"`, `'#' || '' || '#'`, `'#' . '' . '#'`, `'#'.''.'#'`, `"#"""'#'`, `"#"''"#"`, `concat!("#", "", "#")`, `concat('#', '', '#')`, `["#", "", "#"].join("")`,
		`"" + "#" + "" + "#" + ""`, `"#" + str("") + "#"`, "\"#\" +\n  \"\" +\n  \"#\"", "`#` + `` + `#`", `"#" & "" & "#"`, `"#" <> "" <> "#"`, `"#" .. '' .. "#"`, `"#" ++ "" ++ "#"`, `f"#" f"" f"#"`, `"""#""" + "" + """#"""`,
		`"#" + (""+"") + "#"`, `"#" + /* "" */ "" + "#"`,
	},
	"short pieces of a list": {
		`["#", "#", "#", "#!3"].join("")`, `"".join(["#!4", "#!5", "#", "#!1"])`, `"#!2".concat("#!3", "#", "#!2")`, `concat("#", "#!7")`, `concat!("#", "#!1")`, `strings.Join([]string{"#", "#", "#!2"}, "")`, `paste0("#", "#!5")`,
		`implode('', array('#', '#!6'))`, "[\n  '#',\n  '#!3', # the rest\n]", `String.join("", "#", "#!2")`, `CONCAT_WS('', '#', '#!4')`, `%w[x].join; ["#","#!2"].join`, `[*"", "#", "#!1"].reduce(:+)`,
	},
	"the middle of a format": {
		`"#%s#" % "#"`, `"#{}#".format("#")`, `fmt.Sprintf("#%s#", "#")`, `fmt.Sprintf("%s#%s#", "#", "#")`, `"#{0}#".format("#")`, `"{1}#{0}" .format("#2", "#1")`, `"#%(a)s#" % {"a": "#"}`, `"#{a}#".format(a="#")`, `String.format("#%s#%s", "#", "#")`,
		`printf '#%s#' '#'`, `format!("#{}#", "#")`, `sprintf("#%s#", '#')`, `"{0}#{1}" -f '#', '#'`, `string.Format("#{0}#", "#")`, `String(format: "#%@#", "#")`, `"#%1#".arg("#")`, `$"#{"#"}#"`, `"#%s#%s" % ("#", "#")`, `"#%2$s%1$s" % "#2"`,
	},
	"much text between": {
		"\"#\" + // " + strings.Repeat("why and what for ", 50) + "\n  \"#\"", "\"#\" +" + strings.Repeat(" ", 900) + "\"#\"", "\"#\" + /* " + strings.Repeat("why's \"that\" ", 60) + "*/ \"#\"", "\"#\" +" + strings.Repeat("\n", 700) + "\"#\"",
		"(\"#\"" + strings.Repeat("\n  # a comment's line", 80) + "\n  \"#\")", "'#' ||" + strings.Repeat("\n  -- a line", 90) + "\n  '#'",
	},
	"empty insertions": {
		`"##{}#"`, "`#${[]}#`", `T=#$()#`, `f"#{ '' }#"`, `$"#{ string.Empty }#"`, `"#\("#")"`, `"#\("#")#"`, `"#{{ "#" }}{{ "#" }}"`, `x: {{ "#" }}{{ "#" }}`, `x: ${{ '#' }}${{ '#' }}`, `x: #${{ '' }}#`, `"##{''}#"`, `"##{nil}#"`, "`#${''}#`", "`#${x}#`", `T=#${x}#`, `<%= "#" %><%= "#" %>`,
		`<?= '#' ?><?= '#' ?>`, `#{{ "" }}#`, `f"#{str()}#"`, `"#$(true)#"`, `x: {{ "#" | quote }}{{- "#" -}}`,
	},
	"other marks": {
		`"#".to_string() + "#"`, `"#".to_owned() + &"#".to_string()`, `"#".plus("#")`, `"#"s + "#"s`, `'#'::text || '#'`, `("#" as string) + "#"`, `"#"! + "#"`, `[[#]] .. [[#]]`, `[==[#]==] .. "#"`, `q(#) . q(#)`, `q{#} . qq[#]`, `%q(#) + %q(#)`, `%q(#) + "#"`, `"#"$'#'`, `#$"#"`, `#$'#'`, `#^#`, `#^#^#`,
		`concat!(r#"#"#, r#"#"#)`, `R"(#)" R"(#)"`, `$$#$$ || $$#$$`, `~s(#) <> ~s(#)`, `"#"sv + "#"sv`, `"#".concat("#")`, `"#".to_string().as_str().to_owned() + "#"`, `CAST('#' AS text) || '#'`, `"#".freeze + "#".freeze`, `<string>"#"</string> + "#"`, `"#" + EMPTY + "#"`, `"#" +x+ "#"`,
	},
	"alternatives": {
		`(1?"#":"") + "#"`, `"#" + (a ? "#" : "")`, `"#" + (a ? "none" : "#")`, `(a ? "none" : "#") + "#"`, `(a ? "#" : "none") + (a ? "#" : "none")`, `("#" if 1 else "") + "#"`, `("#" if x else "none") + "#"`, `"#" + ("none" if x else "#")`, `(if (x) "#" else "none") + "#"`, `"#" + (a ?: "#")`, `(null ?? "#") + "#"`,
	},
	"a member": {
		`{a:"#"}.a + "#"`, `({ a: "#" }).a + "#"`, `"#" + {a:"#"}.a`, `{"a":"#"}["a"] + "#"`, `"#" + {"a": "#"}["a"]`, `["a"=>"#"]["a"] . "#"`, `"#" . ["a" => "#"]["a"]`, `dict(a="#")["a"] + "#"`, `"#" + dict(a="#")["a"]`, `map[string]string{"a": "#"}["a"] + "#"`, `"#" + map[string]string{"a": "#"}["a"]`,
		`{a: "#"}[:a] + "#"`, `"#" + {a: "#"}[:a]`, `{a:"#"}?.a + "#"`, `["#"][0] + "#"`, `"#" + {a:{b:"#"}}.a.b`, `{a:{b:"#"}}.a.b + "#"`,
	},
	"words": {
		`%w[# #].join`, `%w(#!4 # #).join("")`, `%W{# # #}.join`, `join("", qw(# #))`, `join '', qw/# #!3/`, `~w(# #) |> Enum.join`, "%w[\n  #\n  #\n].join", `%i[# #].join`, `"#" + %w[# #].join`, `%w[# #].join + "#"`, `qw[ # # ]`,
	},
}

// cutInto replaces each # of a template by a part of a token: it cuts the token into as many parts
// as there are. "#!3" has three characters. In a template with "#1", the parts are in the order of
// the numbers.
func cutInto(template, token string) string {
	const raw = "\x01"
	for _, r := range []string{`r#"`, `"#,`, `"#)`, `f"#{`, `##{`} {
		with := strings.Replace(r, "#", raw, 1)
		switch r {
		case `f"#{`:
			continue
		case `##{`:
			with = "#" + raw + "{"
		case `"#,`, `"#)`:
			if !strings.Contains(template, `r#`) && !strings.Contains(template, "r"+raw) {
				continue
			}
		}
		template = strings.ReplaceAll(template, r, with)
	}
	template = strings.NewReplacer("# a comment's", raw+" a comment's", "# the rest", raw+" the rest").Replace(template)
	parts := strings.Split(template, "#")
	n := len(parts) - 1
	sizes := make([]int, n)
	left, free := len(token), 0
	for i := range sizes {
		if strings.HasPrefix(parts[i+1], "!") && parts[i+1][1] >= '0' && parts[i+1][1] <= '9' {
			sizes[i] = int(parts[i+1][1] - '0')
			parts[i+1] = parts[i+1][2:]
			left -= sizes[i]
		} else {
			free++
		}
	}
	var b strings.Builder
	b.WriteString(parts[0])
	for i := range sizes {
		size := sizes[i]
		if size == 0 {
			size = left / free
			left, free = left-size, free-1
		}
		b.WriteString(token[:size])
		token = token[size:]
		b.WriteString(parts[i+1])
	}
	return strings.ReplaceAll(b.String(), raw, "#")
}

// A token is found in all kinds of pieces, and all of them are replaced.
func TestTokensInPieces(t *testing.T) {
	d := detector(t)
	for name, templates := range puts {
		t.Run(name, func(t *testing.T) {
			for _, template := range templates {
				for _, token := range ofPieces() {
					shown := inOrder(template, token)
					lines := strings.Split(shown, "\n")
					f := facts("a.txt", prefixed("+", lines)...)
					found := d.Redact(&f)
					left := strings.Join(texts(f), "\n")
					if len(found) == 0 || len(texts(f)) != len(lines) {
						t.Errorf("%.200s: %d found", shown, len(found))
						continue
					}
					for i := 0; i+6 <= len(token); i++ {
						if part := token[i : i+6]; strings.Contains(left, part) && strings.Contains(shown, part) {
							t.Errorf("%.200s: left %.300s", shown, left)
							break
						}
					}
				}
			}
		})
	}
}

// inOrder is cutInto for templates with the parts in another order than in the token.
func inOrder(template, token string) string {
	third := len(token) / 3
	switch {
	case template == `"{1}#{0}" .format("#2", "#1")`:
		return fmt.Sprintf(`"{1}%s{0}".format("%s", "%s")`, token[third:2*third], token[2*third:], token[:third])
	case strings.HasPrefix(template, `"#%(a)s#"`):
		return fmt.Sprintf(`"%s%%(a)s%s" %% {"a": "%s"}`, token[:third], token[2*third:], token[third:2*third])
	case template == `"#%2$s%1$s" % "#2"`:
		return fmt.Sprintf(`printf("%s%%2$s%%1$s", "%s", "%s")`, token[:third], token[2*third:], token[third:2*third])
	case template == `fmt.Sprintf("%s#%s#", "#", "#")`:
		return fmt.Sprintf(`fmt.Sprintf("%%s%s%%s%s", "%s", "%s")`, token[4:10], token[third+6:], token[:4], token[10:third+6])
	case template == `"{0}#{1}" -f '#', '#'`:
		return fmt.Sprintf(`"{0}%s{1}" -f '%s', '%s'`, token[4:third], token[:4], token[third:])
	case strings.Count(template, "#") == 4 && strings.Contains(template, "%s#%s"):
		quarter := len(token) / 4
		at := strings.Split(template, "#")
		return at[0] + token[:quarter] + at[1] + token[2*quarter:3*quarter] + at[2] + token[quarter:2*quarter] + at[3] + token[3*quarter:] + at[4]
	case strings.Count(template, "#") == 3 && (strings.Contains(template, "#%") || strings.Contains(template, "#{")) && !strings.Contains(template, `{"`) && !strings.Contains(template, "{{"):
		at := strings.Split(template, "#")
		return at[0] + token[:third] + at[1] + token[2*third:] + at[2] + token[third:2*third] + at[3]
	case strings.Count(template, "#%s#%s") == 1:
		return template
	}
	return cutInto(template, token)
}

// Adjacent strings that are words, names, or lists of beginnings of tokens are not tokens.
func TestAdjacentStringsThatAreNotTokens(t *testing.T) {
	d := detector(t)
	for _, text := range []string{
		`"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-", "hunter2000", "AKIA", "ASIA"`, `["AKIA", "ASIA", "ABIA", "ACCA", "AROA", "AIDA", "ANPA", "ANVA"].join("|")`, `join("sk-proj-", "the-name-of-a-project-2", "and-the-name-of-its-owner")`,
		`"ghp_" + "the_name_of_a_token" + "of_somebody_who_has_one"`, `format("%s-%s", "sk-ant-", "claude-3-5-haiku-20241022")`, `{"prefix": "ghp_", "length": 36, "of": "letters and digits"}`, `["sk_live_", "customerSubscriptionCreated", "invoicePaymentSucceeded"]`,
		`fmt.Sprintf("ghp_%s_and_%s", "someNameOfATestCase", "anotherNameOfATestCase")`, `f("glpat-", "kubernetes-cluster-name-2", "eu-west-1", "production")`, `"dop_v1_" + "digitalocean" + "kubernetes"`, "`sk-${environment}-proj-${name}-${region}-of-the-cluster`",
	} {
		f := facts("a.txt", "+"+text)
		if found := d.Redact(&f); len(found) > 0 {
			t.Errorf("%s: %+v", text, found)
		}
	}
}

// Hardly any token that providers generate looks like words.
func TestRandomTokensAreNotWords(t *testing.T) {
	missed, all := 0, 0
	for i := range formats {
		f := &formats[i]
		if strings.HasPrefix(f.rest, isSetTo) || f.prefix[0] == '"' {
			continue
		}
		for seed := range uint64(20) {
			all++
			if !isRandom(drawn(f, seed)) {
				missed++
			}
		}
	}
	if missed*200 > all {
		t.Errorf("%d of %d tokens look like words", missed, all)
	}
}

// No text between a name and its value hides the value.
func TestKeysApartFromTheirName(t *testing.T) {
	d := detector(t)
	draw := rand.New(rand.NewPCG(29, 7))
	for name, value := range map[string]string{
		"AWS_SECRET_ACCESS_KEY": drawnFrom(`[A-Za-z0-9+/]{40}`, draw), "DD_API_KEY": drawnFrom(`[a-f0-9]{32}`, draw), "TWILIO_AUTH_TOKEN": drawnFrom(`[a-f0-9]{32}`, draw), "CF_API_TOKEN": drawnFrom(`[A-Za-z0-9_-]{40}`, draw), "HEROKU_API_KEY": drawnFrom(uuid, draw),
	} {
		for _, setting := range []string{
			"N:\n  V", "N:\n\n  V\nb: 1", "N:\n  \"V\"", "\"N\":\n  \"V\"", "{\n  \"N\":\n\n    \"V\"\n}", "N: >-\n\n  V", "N: |\n\n\n  V\n", "N: !!str V", "N: !!str \"V\"", "N: &a V", "N: !secret &b 'V'", "N: !!str |\n  V", "? N\n: V", "? \"N\"\n: \"V\"",
			"N = \"\"\"\nV\"\"\"", "N = '''\nV\n'''", "N;V", "\"N\";\"V\"", "N|V", "N=$(echo V)", "N=$(echo -n \"V\")", "N=\"$(printf '%s' 'V')\"", "N=`echo V`", `"N": {"prod": "V"}`, `"N": {"eu": {"prod": "V"}}`, "N:\n  prod: V", "N:\n  - V", `N: ["V"]`, `N = { default = "V" }`,
			"<key>N</key><string>V</string>", "<key>N</key>\n<string>V</string>", "<name>N</name>\n  <value>V</value>", `<property name="N" type="string"><value>V</value></property>`, `<property name="N">V</property>`, `<add key="N" type="x" value="V"/>`,
			`{"name": "N", "type": "string", "value": "V"}`, `{"name": "N", "type": "SecureString", "tier": "a b", "value": "V"}`, "- name: N\n  type: x\n  value: V", "- name: N\n  # why\n  value: V", "- name: N\n  # why\n  # and how\n\n  value: \"V\"", "[[env]]\nname = \"N\"\nkind = \"s\"\nvalue = \"V\"",
			"variable \"N\" {\n  type = string\n  description = \"a\"\n  sensitive = true\n  nullable = false\n  ephemeral = false\n  # no\n  default = \"V\"\n}", "variable \"N\" {\n  validation {\n    condition = true\n  }\n  a = 1\n  b = 2\n  c = 3\n  default = \"V\"\n}",
		} {
			lines := strings.Split(strings.NewReplacer("N", name, "V", value).Replace(setting), "\n")
			f := facts("package-lock.json", prefixed("+", lines)...)
			if found := d.Redact(&f); len(found) == 0 || strings.Contains(strings.Join(texts(f), ""), value) || len(texts(f)) != len(lines) {
				t.Errorf("%q: %d found, left %q", setting, len(found), texts(f))
			}
		}
	}
	hash := drawnFrom(`[a-f0-9]{32}`, draw)
	for _, setting := range []string{
		"DD_API_KEY:\nmd5: H", "DD_API_KEY: {}\nmd5: H", "- name: DD_API_KEY\n- name: md5\n  sum: H", "DD_API_KEY: !env\nmd5: H", "<key>DD_API_KEY</key><string/><key>md5</key><string>H</string>", `{"name": "DD_API_KEY", "type": "string"}, {"sum": "H"}`,
		"variable \"DD_API_KEY\" {}\nvariable \"md5\" {\n  default = \"H\"\n}", "DD_API_KEY=$(sum H)", "DD_API_KEY:\n  HH",
	} {
		f := facts("deploy.lock", prefixed("+", strings.Split(strings.ReplaceAll(setting, "H", hash), "\n"))...)
		for _, r := range d.Redact(&f) {
			if r.RuleID != ruleGeneric {
				t.Errorf("%q: %+v", setting, r)
			}
		}
	}
}
