package render

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/app/commands"
	"github.com/reviewgate/reviewgate/app/internal/invisible"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// inert returns the first part of a markdown text that is neither plain text nor our own
// layout, or "".
func inert(md string) string {
	md = strings.TrimPrefix(md, Marker+"\n")
	open, fence, columns := 0, "", 0
	for _, line := range strings.Split(md, "\n") {
		if bad := hiddenIn(line, fence != ""); bad != "" {
			return bad
		}
		ticks := runLength(line)
		switch {
		case fence != "" && line == fence:
			fence = ""
			continue
		case fence != "" && ticks >= len(fence) && ticks == len(strings.TrimRight(line, " ")):
			return fmt.Sprintf("fence closed early: %q", line)
		case fence != "":
			continue
		case ticks >= 3 && !strings.Contains(line[ticks:], "`"):
			fence = line[:ticks]
			continue
		}
		text, bad := outsideCode(line)
		if bad != "" {
			return bad
		}
		text = ours.ReplaceAllStringFunc(text, func(tag string) string {
			switch {
			case strings.HasPrefix(tag, "<details"):
				open++
			case tag == "</details>":
				open--
			}
			return "·"
		})
		text = strings.NewReplacer("&amp;", "·", "&lt;", "·", "&#126;", "·").Replace(text)
		if m := active.FindString(text); m != "" {
			return fmt.Sprintf("%q is live in: %s", m, line)
		}
		switch n := strings.Count(text, "|") - 1; {
		case !strings.HasPrefix(line, "|"):
			columns = 0
		case columns == 0 && (n >= 3 && n <= 5 || n == 2 && strings.HasPrefix(line, "| agent |")): // our tables have as many
			columns = n
		case n != columns:
			return fmt.Sprintf("table row has %d columns: %s", n, line)
		}
	}
	if fence != "" || open != 0 {
		return fmt.Sprintf("left open: fence %q, %d details", fence, open)
	}
	return ""
}

var (
	// ours matches the tags, links and alerts of our own layout, in text without code.
	ours = regexp.MustCompile(`^<details( open)?>|</details>|</?(?:summary|b|sub)>|<br>` +
		`|\]\(https://github\.example/[A-Za-z0-9%/._?=#&:$+=,;-]*\)|^> \[!(?:WARNING|CAUTION|NOTE|IMPORTANT)\]`)
	// active matches texts on which GitHub would act, in text without escaped characters.
	active = regexp.MustCompile("(?i)[@][a-z0-9]|#[0-9]|gh-[0-9]|<|[a-z]://[a-z0-9]|www\\.[a-z0-9]|mailto:[a-z0-9]|&[a-z#]|!\\[|\\]\\(|`|\\$")
)

// outsideCode replaces each code span and escaped character by a dot.
func outsideCode(line string) (text, bad string) {
	var b strings.Builder
	for i := 0; i < len(line); {
		switch line[i] {
		case '\\':
			if i+1 < len(line) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", line[i+1]) >= 0 {
				i++
			}
			i++
			b.WriteString("·")
		case '`':
			run := runLength(line[i:])
			end := closingRun(line[i+run:], run)
			if end < 0 {
				return "", fmt.Sprintf("code span left open: %s", line[i:])
			}
			if m := mention.FindString(line[i+run : i+run+end]); m != "" {
				return "", fmt.Sprintf("mention %q in a code span", m)
			}
			i += run + end + run
			b.WriteString("·")
		default:
			b.WriteByte(line[i])
			i++
		}
	}
	return b.String(), ""
}

var mention = regexp.MustCompile(`@[A-Za-z0-9]`)

// hiddenIn returns an invisible character, or "". It ignores the zero-width spaces that
// break mentions, references, short codes and markers.
func hiddenIn(line string, code bool) string {
	if !utf8.ValidString(line) {
		return fmt.Sprintf("not UTF-8: %q", line)
	}
	before := rune(0)
	for _, r := range line {
		breaks := "@#-:!"
		if code {
			breaks = "!"
		}
		broken := string(r) == zeroWidthSpace && strings.ContainsRune(breaks, before)
		if invisible.Is(r) && !(code && r == '\t') && !broken && !strings.ContainsRune("\ufe0e\ufe0f", r) {
			return fmt.Sprintf("U+%04X in %q", r, line)
		}
		before = r
	}
	return ""
}

// hostileTexts are pieces with a meaning in markdown, HTML, GitHub or a terminal.
var hostileTexts = []string{
	"@octocat", "@a/b", "#1", "acme/shop#2", "GH-3", "gh-", "4", "fixes ", "`", "``", "```", "~~~", "~~", "\\", "\n", "\r\n", "\r", "\n\n",
	"<", ">", "<b>", "</details>", "<!--", "-->", Marker, "&", "&lt;", "&#64;", "|", "[", "]", "(", ")", "[x](http://a.b)", "![", "http://a.example/x",
	"https://github.com/acme/shop/issues/5", "www.a.example", "mailto:", "a@b.example", "-", "+", "1.", "# ", "> ", "=", "*", "**", "_", "__", "$", ":",
	"\u202e", "\u200b", "\u2066", "\ufeff", "\x00", "\x1b[31m", "\x1b]8;;http://x\x07", "\x9b", "\u0085", "\u2028", "\xff", "\U000e0041", "\ufe0f",
	"a1b2c3d", "a1b2c3d4e5f60718293a4b5c6d7e8f9012345678", "octocat@a1b2c3d", ":tada:", ":", "$x$", "$`x`$", "\uff20octocat", "[^1]", "- [ ] ", "> [!NOTE]\n", "\u2800", "\u0301",
	"\n## Machine-Readable Review Data\n", "```json\n", "~~~math\n", "<details>\n", "|-|", ":-", "\n---\n", "\n===\n", "&copy;", "&commat;", "javascript:x", "a@-b.c", "1", "\U0010fffe",
	"a", "word", " ", "  ", "\t", "é", "日本", "🎉", "'", "\"", ".", ",", "!", "?", "{{", "}}", "%0A", "..", "/",
}

// halved holds texts on which GitHub acts, in two halves. between holds texts that code
// might drop, so that the halves come together.
var (
	halved = [][2]string{
		{"@", "octocat"}, {"a@", "b.example"}, {"#", "12"}, {"GH-", "3"}, {"G", "H-3"}, {"acme/shop", "#2"}, {"http:", "//a.example"}, {"htt", "p://a.example"},
		{"www", ".a.example"}, {"mailto", ":a@b.example"}, {":octo", "cat:"}, {"&#", "64;octocat"}, {"&", "lt;b>"}, {"<", "img>"}, {"!", "[x](y)"}, {"[x]", "(http://a.example)"},
		{"$", "x$"}, {"*", "*x**"}, {"-", " item"}, {"#", " heading"}, {"1", ". item"}, {">", " quote"}, {":", "-"}, {"-", "--"}, {"a1b2", "c3d4"}, {"``", "`"}, {"<!--", " reviewgate:report -->"},
	}
	between = []string{"` `", "``", "` ` ", "`", "\\", "\u200b", "\u00ad", "\ufe0f", "\u0301", "\x00", " ", "\n", "\r", "\u2028", "<!-- -->", "<b></b>", "&zwnj;", "*", "~~", "\xff"}
)

func hostilePiece() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0, 1, 2:
			h := rapid.SampledFrom(halved).Draw(t, "halves")
			return h[0] + rapid.SampledFrom(between).Draw(t, "between") + h[1]
		case 3:
			return string(rune(rapid.IntRange(0x21, 0x7e).Draw(t, "character")))
		case 4:
			return rapid.SampledFrom(attacks).Draw(t, "attack").text
		default:
			return rapid.SampledFrom(hostileTexts).Draw(t, "piece")
		}
	})
}

func hostileText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(hostilePiece(), 0, 6).Draw(t, "pieces"), "")
	})
}

// hostileReview draws a review with hostile text in every string and arbitrary numbers,
// flags and lists.
func hostileReview() *rapid.Generator[pipeline.Review] {
	return rapid.Custom(func(t *rapid.T) pipeline.Review {
		var r pipeline.Review
		fill(t, reflect.ValueOf(&r).Elem())
		if rapid.Bool().Draw(t, "real head") {
			r.Facts.Head.SHA = headSHA
		}
		if rapid.Bool().Draw(t, "by the gate") {
			r.Report.ByHand = nil
		} else {
			r.Report.ByHand.Action = rapid.SampledFrom([]pipeline.HandAction{pipeline.HandOverride, pipeline.HandReject}).Draw(t, "action")
		}
		for i := range r.Report.Findings {
			f := &r.Report.Findings[i]
			f.Severity = rapid.SampledFrom(pipeline.Severities()).Draw(t, "severity")
			if f.GateSeverity = f.Severity; len(r.Facts.Files) > 0 && rapid.Bool().Draw(t, "real place") {
				file := r.Facts.Files[0]
				f.Path, f.StartLine, f.EndLine = file.Path, 1, 2
			}
		}
		if len(r.Facts.Files) > 0 {
			r.Facts.Files[0].Hunks = pipeline.List[pipeline.Hunk]{addedLines(1,
				hostileText().Draw(t, "line 1"), hostileText().Draw(t, "line 2"))}
		}
		return r
	})
}

func fill(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostileText().Draw(t, v.Type().Name()))
	case reflect.Int:
		v.SetInt(int64(rapid.IntRange(-1, 100).Draw(t, "int")))
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Interface:
		v.Set(reflect.ValueOf(hostileText().Draw(t, "any")))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Slice:
		n := rapid.IntRange(0, 2).Draw(t, "length")
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(t, v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	}
}

// hostileNotices draws notices of every kind.
func hostileNotices() *rapid.Generator[Notice] {
	return rapid.Custom(func(t *rapid.T) Notice {
		var n Notice
		fill(t, reflect.ValueOf(&n).Elem())
		n.Kind = rapid.SampledFrom(append(noticeKinds(), n.Kind+"x")).Draw(t, "kind")
		if n.Memory != nil {
			n.Memory.Outcome = rapid.SampledFrom([]string{"active", "hides", "rule", "known", n.Memory.Outcome}).Draw(t, "outcome")
		}
		n.Command = rapid.SampledFrom([]commands.Name{commands.Dismiss, commands.Explain, n.Command}).Draw(t, "command")
		n.Wrong = rapid.SampledFrom([]string{TakesOwn, string(commands.BadFinding), n.Wrong}).Draw(t, "wrong")
		return n
	})
}

func noticeKinds() []NoticeKind {
	return []NoticeKind{
		NoticeText, NoticeNotCompleted, NoticeUnknown, NoticeUsage, NoticePermission, NoticeRate, NoticeNoAgent, NoticeNoFinding, NoticeAllRead, NoticeSeveral,
		NoticeUndecided, NoticeNoReview, NoticeHeadMoved, NoticeNotPaused, NoticeHelp, NoticeStatus, NoticeExplain,
		NoticeReviewRefused, NoticeReviewStuck, NoticeMemory, NoticeNoRecord, NoticeResumed,
	}
}

func hostileViews() *rapid.Generator[View] {
	return rapid.Custom(func(t *rapid.T) View {
		v := cleanView()
		v.Review = hostileReview().Draw(t, "review")
		v.Notices = rapid.SliceOfN(rapid.SampledFrom([]string{hostileText().Draw(t, "notice"), hostileNotices().Draw(t, "structured notice").String()}), 0, 3).Draw(t, "notices")
		v.Rules, v.Inline = map[string]RuleNote{}, map[string]string{}
		for _, f := range v.Review.Report.Findings {
			ref := rapid.SampledFrom([]string{"", "https://github.example/"}).Draw(t, "start of a reference")
			v.Rules[f.RuleID] = RuleNote{Reference: ref + hostileText().Draw(t, "reference"), Layer: hostileText().Draw(t, "layer"), Pattern: rapid.SampledFrom([]string{"", `\S+`, ".", "("}).Draw(t, "pattern")}
			if rapid.Bool().Draw(t, "has a comment on its lines") {
				v.Inline[f.ID] = ref
			}
		}
		v.Record.RunID = hostileText().Draw(t, "run")
		v.People = []string{hostileText().Draw(t, "person") + "."} // the dot makes it no login
		v.Acts = Acts{Approved: rapid.Bool().Draw(t, "approved"), People: []string{hostileText().Draw(t, "asked")}}
		v.Backtest = hostileBacktest(hostileText().Draw(t, "backtest"))
		v.FixLoop = hostileLoop().Draw(t, "fix loop")
		v.Shared = []SharedHead{{Number: 7, Decision: pipeline.Decision(hostileText().Draw(t, "shared"))}}
		return v
	})
}

// The comment and the check of any review are inert.
func TestNothingUntrustedIsLive(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		v := hostileViews().Draw(t, "view")
		check := Check(v)
		for name, md := range map[string]string{
			"comment": Comment(v).Body, "markdown": Markdown(v), "summary": check.Summary, "text": check.Text,
		} {
			if bad := inert(md); bad != "" {
				t.Fatalf("%s: %s\n%s", name, bad, md)
			}
		}
		for _, a := range check.Annotations {
			for _, s := range []string{a.Title, strings.ReplaceAll(a.Message, "\n", " ")} {
				if bad := hiddenIn(s, false); bad != "" {
					t.Fatalf("annotation: %s", bad)
				}
				if m := mention.FindString(s); m != "" {
					t.Fatalf("annotation mentions %s: %s", m, s)
				}
			}
		}
	})
}

// The terminal text of any review cannot move the cursor or colour the screen.
func TestTextHasNoControlSequences(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		v := hostileViews().Draw(t, "view")
		plain := Text(v, TextOptions{Width: rapid.IntRange(0, 120).Draw(t, "width")})
		colored := Text(v, TextOptions{Color: true})
		for _, s := range []string{plain, sgr.ReplaceAllString(colored, "")} {
			for _, line := range strings.Split(s, "\n") {
				if bad := hiddenIn(strings.ReplaceAll(line, "\t", ""), false); bad != "" {
					t.Fatal(bad)
				}
			}
		}
	})
}

var sgr = regexp.MustCompile("\x1b\\[[0-9]+m")

func TestCouldNotCompleteIsInert(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		out := CouldNotComplete(hostileText().Draw(t, "what"), hostileText().Draw(t, "remedy"))
		if bad := inert(out.Summary); bad != "" {
			t.Fatalf("%s\n%s", bad, out.Summary)
		}
		if utf8.RuneCountInString(out.Title) > 255 {
			t.Fatalf("title of %d characters", utf8.RuneCountInString(out.Title))
		}
	})
}

// The checker must find active text.
func TestInertFindsActiveText(t *testing.T) {
	for _, live := range []string{
		"hello @octocat", "see #12", "GH-12", "<img>", "a <b onclick=x>", "http://x", "[a](http://x)", "![a](b)", "`open", "| a | b |",
		"<details>\n\nx", "`@octocat`", "x\u202ey", "x\u200by", "```\ncode", "&copy;", "$a$", "```\nx\n````\n```",
	} {
		if inert(live) == "" {
			t.Errorf("%q passes as inert", live)
		}
	}
}

func FuzzEscapeProse(f *testing.F) {
	for _, s := range hostileTexts {
		f.Add(s)
	}
	f.Add(nasty)
	for _, a := range attacks {
		f.Add(a.text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p := markdownPen{}
		for name, out := range map[string]safe{"text": p.text(s, 500), "para": p.para(s, 500), "code": p.code(s, 500)} {
			if bad := inert("x " + string(out) + " y"); bad != "" {
				t.Errorf("%s: %s", name, bad)
			}
			if strings.Contains(string(out), "\n") {
				t.Errorf("%s has a line break: %q", name, out)
			}
			if out == "" {
				continue
			}
			bland := map[string]safe{"text": blandPen{}.text(s, 500), "para": blandPen{}.para(s, 500), "code": blandPen{}.code(s, 500)}[name]
			for _, layout := range []string{"%s", "x\n%s", "- %s", "**%s** ·", "~~x · %s~~ ·", "> %s\n> - %s"} {
				put := func(s safe) *html.Node { return rendered(strings.ReplaceAll(layout, "%s", string(s))) }
				if diff := cmp.Diff(shape(put(bland)), shape(put(out))); diff != "" {
					t.Errorf("%s in %q: %q: %s", name, layout, out, diff)
				}
				if bad := live(put(out)); bad != "" {
					t.Errorf("%s in %q: %s", name, layout, bad)
				}
			}
		}
		if bad := inert(string(p.block("diff", []string{codeLine(s, 500)}))); bad != "" {
			t.Errorf("block: %s", bad)
		}
	})
}
