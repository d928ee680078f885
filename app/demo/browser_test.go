package demo

import (
	"context"
	_ "embed" // axe
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/pipeline/needs"
)

var pictures = flag.String("pictures", "", "a `directory` for pictures of each step of the page")

//go:embed testdata/axe-core-4.14.1/axe.min.js
var axe string

// started returns a demo that ends with the test.
func started(t *testing.T) *demo {
	t.Helper()
	d, err := start(t.Context(), Options{Out: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.close)
	return d
}

// visitor is a person with a browser.
type visitor struct {
	*testing.T
	d     *demo
	ctx   context.Context
	width int64 // of the window, in pixels

	mu       sync.Mutex
	troubles []string // errors in the browser's console
}

// visit opens the page in a window of this width.
func visit(t *testing.T, d *demo, width int64) *visitor {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		needs.Lacks(t, "no chromium, which shows the page; on Debian: apt-get install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // its sandbox refuses root
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, closePage := chromedp.NewContext(ctx)
	t.Cleanup(closePage)
	v := &visitor{T: t, d: d, ctx: ctx, width: width}
	if err := chromedp.Listen(ctx, v.listen); err != nil {
		t.Fatal(err)
	}
	order(v, log.Enable, cdp.Empty{})
	order(v, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 500})
	v.run(chromedp.Navigate(d.url()))
	return v
}

// listen notes errors, and what the page's security policy refused.
func (v *visitor) listen(event any) {
	text := ""
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			text = e.Entry.Text + " " + e.Entry.URL
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			text = fmt.Sprint("console.error in ", e.StackTrace)
		}
	case *runtime.EventExceptionThrown:
		text = e.ExceptionDetails.Text
	}
	if text != "" {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.troubles = append(v.troubles, text)
	}
}

func (v *visitor) run(actions ...chromedp.Action[chromedp.Void]) {
	v.Helper()
	if err := chromedp.Do(v.ctx, actions...); err != nil {
		v.Fatal(err)
	}
}

// answer runs actions that lead to a new page.
func (v *visitor) answer(actions ...chromedp.Action[chromedp.Void]) {
	v.Helper()
	if _, err := chromedp.RunResponse(v.ctx, actions...); err != nil {
		v.Fatal(err)
	}
}

// ask evaluates an expression in the page.
func ask[T any](v *visitor, expression string) T {
	v.Helper()
	value, err := chromedp.Run(v.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		v.Fatalf("%.200s: %v", expression, err)
	}
	return value
}

// order gives the browser a command.
func order[P, R any](v *visitor, command cdp.Command[P, R], params P) {
	v.Helper()
	if _, err := chromedp.Call(v.ctx, command, params); err != nil {
		v.Fatal(err)
	}
}

// button is the selector of a step's button.
func button(name string) string { return `form[action="/demo/` + name + `"] button` }

// click presses a button with the mouse.
func (v *visitor) click(name string) {
	v.Helper()
	v.answer(chromedp.Click(chromedp.CSS(button(name))))
}

// enter presses a button by the keyboard alone.
func (v *visitor) enter(name string) {
	v.Helper()
	for range 40 {
		if ask[bool](v, "document.activeElement === document.querySelector('"+button(name)+"')") {
			v.answer(chromedp.KeyEvent(kb.Enter))
			return
		}
		v.run(chromedp.KeyEvent(kb.Tab))
	}
	v.Fatalf("40 presses of Tab don't reach the button %s", name)
}

// says checks texts of the page.
func (v *visitor) says(texts ...string) {
	v.Helper()
	page := ask[string](v, "document.querySelector('main').innerText")
	for _, text := range texts {
		if !strings.Contains(page, text) {
			v.Errorf("the page lacks %q:\n%s", text, page)
		}
	}
	if strings.Contains(page, `{"`) || strings.Contains(page, `": `) {
		v.Errorf("the page shows JSON:\n%s", page)
	}
}

// inspect checks how the page is made: it fits the window, whether its collapsed parts are open or not,
// and axe finds no fault in light and dark colours once they are open.
func (v *visitor) inspect(step string) {
	v.Helper()
	v.fits(fmt.Sprintf("%s-%d", step, v.width))
	ask[chromedp.Void](v, "document.querySelectorAll('details').forEach(d => d.open = true)")
	v.fits(fmt.Sprintf("%s-%d-open", step, v.width))
	ask[chromedp.Void](v, axe)
	for _, scheme := range []string{"light", "dark"} {
		order(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		v.picture(fmt.Sprintf("%s-%d-%s", step, v.width, scheme))
		found := ask[[]string](v, `axe.run().then(r => r.violations.map(x => x.id + ": " + x.help + ": " + x.nodes.slice(0, 3).map(n => n.html + " " + n.failureSummary).join("; ")))`)
		for _, violation := range found {
			v.Errorf("%s, %s, %d px: %s", step, scheme, v.width, violation)
		}
	}
	order(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
}

// fits checks that the page is not wider than the window. A telephone's innerWidth grows with the page.
func (v *visitor) fits(what string) {
	v.Helper()
	v.picture(what)
	if wide := ask[int64](v, "Math.max(innerWidth, document.documentElement.scrollWidth)"); wide > v.width {
		v.Errorf("%s: the page is %d px wide", what, wide)
	}
}

// picture keeps a picture of the whole page.
func (v *visitor) picture(name string) {
	v.Helper()
	if *pictures == "" {
		return
	}
	png, err := chromedp.Run(v.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		v.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*pictures, name+".png"), png, 0o600); err != nil {
		v.Fatal(err)
	}
}

// calm fails the test for errors in the browser's console.
func (v *visitor) calm() {
	v.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, trouble := range v.troubles {
		v.Error("the browser complains:", trouble)
	}
}

// A person plays the story by the page's buttons: with the mouse on a telephone, and by the keyboard on
// a wider screen.
func TestStoryInABrowser(t *testing.T) {
	for _, screen := range []struct {
		width int64
		press func(*visitor, string)
	}{{360, (*visitor).click}, {900, (*visitor).enter}} {
		t.Run(fmt.Sprint(screen.width), func(t *testing.T) {
			v := visit(t, started(t), screen.width)
			v.says("There is no pull request yet.", "First open the pull request.")
			v.inspect("0-begin")

			screen.press(v, "open")
			v.says("feat: vouchers and refunds", "A required check failed: merging is blocked", "Failed: 1 critical, 4 major, 4 warnings",
				"1 · GitHub PAT in this line", "9 annotations", "Files changed (6)", "Webhook pull_request opened", "Agents: build-reviewer, design-auditor, finance-sme", "Decision: fail, with 9 findings")
			v.inspect("1-open")

			screen.press(v, "push")
			v.says("merging is blocked", "Needs fixes: 2 major, 1 warning", "Resolved: 6", "wants to merge 2 commits", "commented · edited", "alice has pushed her fix.")
			v.inspect("2-push")

			screen.press(v, "review")
			v.says("Needs fixes: 2 major, 1 warning", "🚀 1", "run 2 on this head", "Command review")
			v.inspect("3-review")

			screen.press(v, "dismiss")
			v.says("Needs fixes: 1 major, 1 warning", "/review dismiss", "bob has dismissed a finding.", "merging is blocked")
			v.inspect("4-dismiss")

			screen.press(v, "override")
			v.says("All checks have passed", "Passed by hand by carol", "Nothing blocks the merge.", "These are all steps of the story.")
			v.inspect("5-override")
			v.calm()
		})
	}
}

// Links of the comment lead to lines of the change on the page.
func TestLinksStayOnThePage(t *testing.T) {
	v := visit(t, started(t), 900)
	v.click("open")
	if away := ask[[]string](v, "[...document.links].map(a => a.href).filter(h => h.startsWith('"+webURL+"'))"); len(away) > 0 {
		t.Errorf("links to a GitHub that is not there: %q", away)
	}
	if lost := ask[[]string](v, "[...document.links].map(a => a.getAttribute('href')).filter(h => h.startsWith('#') && !document.getElementById(h.slice(1)))"); len(lost) > 0 {
		t.Errorf("links to no place of the page: %q", lost)
	}
	ask[chromedp.Void](v, "[...document.querySelectorAll('.bot a')].find(a => a.textContent === 'payments/client.go:18').click()")
	if got := ask[string](v, "document.querySelector(':target').innerText"); !strings.Contains(got, "InsecureSkipVerify") {
		t.Errorf("the link to line 18 of payments/client.go leads to %q", got)
	}
	if !ask[bool](v, "document.querySelector(':target').checkVisibility()") {
		t.Error("the line is in a collapsed part")
	}
	v.calm()
}

// Text of strangers is shown and does nothing, even though the page shows HTML that comments bring.
func TestHostileTextInABrowser(t *testing.T) {
	const attack = `<img src=x onerror="document.title='ran'"><script>document.title='ran'</script><style>main{display:none}</style>` +
		`<svg onload="document.title='ran'"></svg><form action="/demo/override"><button>Win</button></form> **shown**`
	d := started(t)
	v := visit(t, d, 360)
	v.click("open")
	title := attack
	d.pr.Edit(ghtest.Edit{Title: &title, Body: &title})
	d.pr.Comment("mallory", attack+" [link](javascript:alert(1)) <a href=\"javascript:alert(1)\" onclick=\"alert(1)\">other</a>")
	d.pr.Push(ghtest.Files{`<img src=x onerror=alert(1)>.txt`: attack + "\n"}, attack)
	if err := d.reviewed(d.pr.HeadSHA())(t.Context()); err != nil {
		t.Fatal(err)
	}
	v.run(chromedp.Reload())
	v.says("<img src=x onerror=\"document.title='ran'\">", "shown")
	if title := ask[string](v, "document.title"); !strings.HasPrefix(title, "<img src=x") {
		t.Errorf("the page's title is %q", title)
	}
	if got := ask[[]string](v, `[...document.querySelectorAll("main :is(script, style, img, svg, [onerror], [onclick], [style])")].map(e => e.outerHTML)`); len(got) > 0 {
		t.Errorf("the page has %q", got)
	}
	if got := ask[int](v, "document.querySelectorAll('form').length"); got != len(story) {
		t.Errorf("the page has %d forms", got)
	}
	if got := ask[[]string](v, "[...document.links].map(a => a.protocol).filter(p => p != 'http:' && p != 'https:')"); len(got) > 0 {
		t.Errorf("links by %q", got)
	}
	v.calm()
}
