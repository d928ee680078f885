package render

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/sample"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// attacks are texts that would be active on GitHub if they were not escaped.
var attacks = []struct{ name, text string }{
	{"mention in halves", "@` `octocat"},
	{"mention in empty backticks", "@``octocat"},
	{"reference in halves", "fixes #` `12, closes GH` `-3 and GH-` `4"},
	{"entity in halves", "&` `#64;octocat &` `lt;img src=x>"},
	{"URL in halves", "http:` `//evil.example www` `.evil.example"},
	{"heading after empty code", "` ` # Approved"},
	{"list after empty code", "` ` - item"},
	{"quote after empty code", "` ` > [!NOTE]"},
	{"rule after empty code", "` ` ---"},
	{"column", ":-"}, {"column to the right", "-:"}, {"column in the middle", ":-:"}, {"long column", ":-----"},
	{"underline", "==="}, {"rule", "***"}, {"rule with spaces", "- - -"}, {"rule of low lines", "_ _ _"},
	{"e-mail address with a hyphen", "a@-b.example"}, {"e-mail address with a low line", "a@_b.example a@b_c.example"},
	{"e-mail address with a dot", "a@.b.example"},
	{"math", "$\\color{green}{\\textsf{Approved}}$ and $$x$$ and $`x`$ and \\$x\\$"},
	{"image of an emoji", ":octocat: :shipit: :+1: :100: :white_check_mark:"},
	{"emoji across our own colon", "x :octocat"},
	{"commits", "a1b2c3d a1b2c3d4e5f60718293a4b5c6d7e8f9012345678 octocat@a1b2c3d acme/shop@a1b2c3d4e5f60718293a4b5c6d7e8f9012345678 DEADBEEF"},
	{"commit before a URL", "a1b2c3dmailto:a@b.example a1b2c3dwww.a.example a1b2c3d`x`"},
	{"pipes in code", "a `b|c` http://x/|y $|"},
	{"pipe after a backslash", `a \| b \\| c`},
	{"marker", Marker}, {"marker in code", "`" + Marker + "`"},
	{"our section", "\n## Machine-Readable Review Data\n\n```json\n{\"status\": \"SUCCESS\"}\n```\n"},
	{"end of details", "</details></summary></sub></b>"}, {"block of HTML", "<div>\n<pre>\n<script>\n<!--\n<?php\n<![CDATA["},
	{"link definition", "[x]: http://evil.example\n[x]"}, {"footnote", "[^1]\n\n[^1]: http://evil.example"},
	{"link over lines", "[a\nb](http://evil.example)"}, {"image", "![x](http://evil.example/x.png)"},
	{"autolink", "<http://evil.example> <a@b.example>"}, {"other schemes", "ftp://a.example ssh://a javascript:alert(1) mailto:a@b.example xmpp:a@b.example"},
	{"URL in markup", "*http://evil.example* (www.evil.example) \"http://evil.example\" _www.evil.example_"},
	{"task list", "- [ ] a\n- [x] b"}, {"alert", "> [!CAUTION]\n> Merge at once"},
	{"fences", "```\nx\n~~~\n````mermaid\ngraph\n```math\nx"}, {"fence in a line", "``` `` ```"},
	{"indented code", "    x\n\tx"}, {"hard break", "a  \nb\\"},
	{"mention of a team", "cc @acme/ops, (@octocat) \"@octocat\" /@octocat .@octocat"},
	{"mention after an invisible character", "@\u200boctocat @\u200doctocat @\u202eoctocat @\ufe0foctocat \uff20octocat"},
	{"entities", "&#64;octocat &commat;octocat &#x40;octocat &num;12 &zwnj; &lt;b&gt;"},
	{"backslashes", `\@octocat \#12 \\@octocat \<b\> \` + "`x\\`"},
	{"open markup", "**a __b ~~c `d ``e [f ![g <h"},
	{"only invisible characters", "\u200b\u202e\u2066\ufeff\U000e0041\u3164"}, {"only backticks", "` ` `` ``` ` ``"},
	{"invalid UTF-8", "\xff\xc3(\xed\xa0\x80@\xffoctocat"}, {"NUL and escapes", "\x00\x1b[31m\x1b]8;;http://x\x07\u009b31m"},
	{"line separators", "a\u2028# b\u2029- c\u0085> d\v1. e\f+ f"},
}

// A text cannot change the layout around it, and GitHub acts on no part of it. By default
// each attack is tried in one kind of review.
func TestAttacks(t *testing.T) {
	for i, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			views := attackedViews(a.text)
			if !sample.Full() {
				views = views[i%len(views):][:1]
			}
			for _, v := range views {
				requireInert(t, v)
			}
		})
	}
}

// attackedViews returns reviews of several kinds in which every text is an attack: alone,
// within a line, or on the second line.
func attackedViews(attack string) []View {
	var views []View
	for _, s := range []string{attack, "x " + attack + " y", "x\n" + attack} {
		v := attackedView(s)
		views = append(views, v)
		proposed := &v.Review.Report.ProposedConfig
		proposed.Note = v.Notices[0]
		views = append(views, v)
		proposed.Problems = v.Review.Facts.Config.Problems
		views = append(views, v)
		v.Review.Report.ByHand = &pipeline.ByHand{Action: pipeline.HandOverride, By: attack, Reason: attack, Gate: pipeline.DecisionFail, GateCondition: attack}
		views = append(views, v)
	}
	return views
}

// attackedView is a review in which every text is s.
func attackedView(s string) View {
	v := hostileView()
	replaceNasty(&v, s)
	return v
}

// requireInert fails the test if a text of the view is active in any format, or changes our
// own layout.
func requireInert(t interface{ Fatalf(string, ...any) }, v View) {
	for name, pair := range documents(v) {
		md, bland := string(pair[0]), string(pair[1])
		page := rendered(md)
		if diff := cmp.Diff(shapeOf(bland), shape(page)); diff != "" {
			t.Fatalf("the layout of the %s changes:\n%s\n%s", name, diff, md)
		}
		if bad := live(page); bad != "" {
			t.Fatalf("live in the %s: %s\n%s", name, bad, md)
		}
		if bad := inert(md); bad != "" {
			t.Fatalf("%s: %s\n%s", name, bad, md)
		}
	}
	for _, body := range inlineTexts(v) {
		_, text, _ := strings.Cut(body, "\n")
		if bad := live(rendered(text)) + inert(text); bad != "" || len(body) > maxBody || strings.Contains(text, markerStart) || InlineFingerprint(body) == "" {
			t.Fatalf("comment on lines of %d bytes: %s\n%s", len(body), bad, body)
		}
	}
	comment := wholeComment(v)
	if n := strings.Count("\n"+comment, "\n## "); n != 2 || strings.Count("\n"+comment, "\n"+reviewreport.Heading+"\n") != 1 {
		t.Fatalf("the comment has %d headlines; want its own and that of the machine-readable section:\n%s", n, comment)
	}
	if !strings.HasPrefix(comment, Marker+"\n") || strings.Count(comment, Marker) != 1 {
		t.Fatalf("the comment has the marker %d times:\n%s", strings.Count(comment, Marker), comment)
	}
	if bad := live(rendered(comment)); bad != "" {
		t.Fatalf("live in the comment: %s\n%s", bad, comment)
	}
}

// documents returns the markdown texts of a view, each as it is and with bland words.
func documents(v View) map[string][2]safe {
	render := func(p pen) (report, summary, text safe) {
		r := reportWith(p, v, unlimited)
		report = r.comment()
		r.check = true
		text = blocks([]safe{r.text(1, 2), r.wholeReport(unlimited)})
		return safe(r.run.Replace(string(report))), safe(r.run.Replace(string(r.summary()))), safe(r.run.Replace(string(text)))
	}
	report, summary, text := render(markdownPen{})
	blandReport, blandSummary, blandText := render(blandPen{})
	return map[string][2]safe{
		"report":  {report, blandReport},
		"summary": {summary, blandSummary},
		"text":    {text, blandText},
	}
}

func TestHostileTextIsInert(t *testing.T) {
	sample.Check(t, func(t *rapid.T) { requireInert(t, hostileViews().Draw(t, "view")) })
}

// Checks without a verdict and notices are inert, too. They may quote an error by GitHub
// or by a proxy.
func TestHostileNoticesAreInert(t *testing.T) {
	bland := map[string]ports.CheckOutput{"could not": CouldNotComplete("x", "x"), "pending": PendingCheck(Pending{HeadSHA: "x", Reason: "x"}), "superseded": Superseded("x")}
	sample.Check(t, func(t *rapid.T) {
		s := "x" + hostileText().Draw(t, "text")
		for name, out := range map[string]ports.CheckOutput{
			"could not": CouldNotComplete(s, s), "pending": PendingCheck(Pending{HeadSHA: s, Reason: s}), "superseded": Superseded(s),
		} {
			page := rendered(out.Summary)
			if diff := cmp.Diff(shape(rendered(bland[name].Summary)), shape(page)); diff != "" {
				t.Fatalf("%s: the layout changes: %s\n%s", name, diff, out.Summary)
			}
			if bad := live(page); bad != "" {
				t.Fatalf("%s: live: %s\n%s", name, bad, out.Summary)
			}
			if bad := hiddenIn(out.Title, false); bad != "" || len(out.Title) > 255 || mention.MatchString(out.Title) {
				t.Fatalf("%s: title %q", name, out.Title)
			}
			if len(out.Summary) > 65_535 {
				t.Fatalf("%s: summary of %d bytes", name, len(out.Summary))
			}
		}
		v := cleanView()
		for _, f := range v.Review.Facts.Files {
			s = rapid.SampledFrom([]string{s, f.Path, v.Review.Manifest.Entries[0].Agent, ""}).Draw(t, "what is explained")
		}
		n := hostileNotices().Draw(t, "notice")
		if n.Kind == NoticeExplain {
			n.Text = s
		}
		v.Notices = rapid.SliceOfN(rapid.SampledFrom([]string{s, n.String(), Notice{Kind: NoticeUnknown, Text: s}.String()}), 1, 20).Draw(t, "notices")
		requireInert(t, v)
		alone := NoticeComment(v.Notices).Body
		if bad := live(rendered(alone)) + inert(alone); bad != "" || strings.Count(alone, Marker) != 1 || len(alone) > maxBody {
			t.Fatalf("%s\n%s", bad, alone)
		}
	})
}

// Rendering a review twice gives equal bytes.
func TestRenderingIsRepeatable(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		v := hostileViews().Draw(t, "view")
		once, again := everyFormat(v), everyFormat(v)
		if diff := cmp.Diff(once, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

func everyFormat(v View) []any {
	sarif, serr := SARIF(v)
	js, jerr := JSON(v)
	out := []any{Comment(v), Check(v), Markdown(v), Text(v, TextOptions{}), string(sarif), serr == nil, string(js), jerr == nil}
	for _, f := range machineFormats {
		b, err := f.write(v)
		out = append(out, string(b), err == nil)
	}
	return out
}

// The digest does not change with the parts that vary from run to run. It changes with
// everything else that is shown, even if there is little room.
func TestDigestLeavesOutOnlyTheRun(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		v := overflowView(rapid.SampledFrom([]int{0, 1, 30, 190, 300}).Draw(t, "findings"))
		v.Details = rapid.SampledFrom([]string{"", "https://github.example/x"}).Draw(t, "details")
		again := v
		again.Record = pipeline.RunRecord{RunID: hostileText().Draw(t, "run"), Version: v.Record.Version, Trigger: "other", APICalls: 9}
		if v.Details != "" {
			again.Details = "https://github.example/" + strings.Repeat("y", rapid.IntRange(0, maxDetails-23).Draw(t, "length"))
		}
		if Comment(v).Digest != Comment(again).Digest || Check(v).Digest != Check(again).Digest {
			t.Fatalf("another run changes the digest")
		}

		changed := v
		changed.Review.Report.Findings = slices.Clone(v.Review.Report.Findings)
		switch n := len(changed.Review.Report.Findings); {
		case n == 0:
			changed.Notices = []string{"refused"}
		default:
			changed.Review.Report.Findings[rapid.IntRange(0, n-1).Draw(t, "finding")].Title = "Another title"
		}
		before, after := Comment(v), Comment(changed)
		was, is := Check(v), Check(changed)
		if (before.Digest == after.Digest) != (before.Body == after.Body) {
			t.Fatalf("digest equal: %v, body equal: %v", before.Digest == after.Digest, before.Body == after.Body)
		}
		digests := was.Digest == is.Digest
		was.Digest, is.Digest = "", ""
		if equal := cmp.Equal(was, is); equal != digests {
			t.Fatalf("check: digest equal: %v, output equal: %v", digests, equal)
		}
	})
}

// JSON and SARIF have no invisible characters, because people may read them in a terminal.
func TestJSONHidesNothing(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		v := hostileViews().Draw(t, "view")
		sarif, err := SARIF(v)
		if err != nil {
			t.Fatal(err)
		}
		js, err := JSON(v)
		if err != nil {
			t.Fatal(err)
		}
		for name, b := range map[string][]byte{"SARIF": sarif, "JSON": js} {
			if bad := hiddenIn(strings.ReplaceAll(string(b), "\n", ""), false); bad != "" || !json.Valid(b) {
				t.Fatalf("%s: %s", name, bad)
			}
		}
		var back pipeline.Report
		if err := json.Unmarshal(js, &back); err != nil {
			t.Fatal(err)
		}
		again, err := JSON(View{Review: pipeline.Review{Report: back}})
		if err != nil || !bytes.Equal(js, again) {
			t.Fatalf("the JSON changes when it is read and written: %v", err)
		}
	})
}
