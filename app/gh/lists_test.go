package gh

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// longList answers with full pages of a list of this many entries. It names the number of
// pages, or only says that there is a next page.
func longList(pages int, counted bool, item func(i int) string, wrap string) *fake {
	return &fake{answer: func(r *http.Request) *http.Response {
		n, _ := strconv.Atoi(r.URL.Query().Get("page"))
		n = max(n, 1)
		var items []string
		for i := range perPage {
			items = append(items, item((n-1)*perPage+i))
		}
		var link string
		if n < pages {
			link = fmt.Sprintf(`<https://github.test/x?page=%d>; rel="next"`, n+1)
			if counted {
				link += fmt.Sprintf(`, <https://github.test/x?page=%d>; rel="last"`, pages)
			}
		}
		return reply(200, fmt.Sprintf(wrap, strings.Join(items, ",")), "Link", link)
	}}
}

// TestCutListsAreNotSilent proves that a cut list is an error. Otherwise unseen objects would
// count as missing and would be created again.
func TestCutListsAreNotSilent(t *testing.T) {
	comment := func(i int) string { return fmt.Sprintf(`{"id":%d,"body":"hello"}`, i+1) }
	check := func(i int) string { return fmt.Sprintf(`{"id":%d,"app":{"id":%d},"status":"completed"}`, i+1, testApp) }
	pull := func(i int) string {
		return fmt.Sprintf(`{"number":%d,"state":"open","head":{"sha":"%s"},"base":{"repo":{"id":1001}},"updated_at":"2026-11-20T12:00:00Z"}`, i+1, strings.Repeat("b", 40))
	}
	inst := func(i int) string { return fmt.Sprintf(`{"id":%d,"account":{"login":"acme"}}`, i+1) }
	repo := func(i int) string { return fmt.Sprintf(`{"id":%d,"name":"r%d","owner":{"login":"acme"}}`, i+1, i) }
	for name, tt := range sample.Map(t, 3, map[string]struct {
		most int
		item func(int) string
		wrap string
	}{
		"Comments":      {maxCommentPages, comment, `[%s]`},
		"Checks":        {maxCheckPages, check, `{"total_count":9999,"check_runs":[%s]}`},
		"PullsOnHead":   {maxHeadPages, pull, `[%s]`},
		"OpenPulls":     {maxWalk, pull, `[%s]`},
		"Installations": {maxWalk, inst, `[%s]`},
		"Repositories":  {maxWalk, repo, `{"total_count":9999,"repositories":[%s]}`},
	}) {
		for _, counted := range []bool{true, false} {
			hub := longList(tt.most, counted, tt.item, tt.wrap)
			if err := calls[name].do(t, hub.client(t, nil)); err != nil || hub.asked() != tt.most {
				t.Errorf("%s, %d pages, counted %v: %v, asked %d times", name, tt.most, counted, err, hub.asked())
			}
			hub = longList(tt.most+1, counted, tt.item, tt.wrap)
			err := calls[name].do(t, hub.client(t, nil))
			he := wantHostError(t, err, ports.HostInvalid)
			if !strings.Contains(err.Error(), "more than") || he.Temporary() || hub.asked() > tt.most {
				t.Errorf("%s, one page more, counted %v: %v, asked %d times", name, counted, err, hub.asked())
			}
		}
	}
}

// When the number of pages is unknown, they are read one after the other.
func TestUncountedPages(t *testing.T) {
	comment := func(i int) string {
		return fmt.Sprintf(`{"id":%d,"body":"%s","performed_via_github_app":{"id":%d}}`, i+1, marker, testApp)
	}
	hub := longList(4, false, comment, `[%s]`)
	got, err := hub.client(t, nil).Comments(t.Context(), pullTarget, marker)
	if err != nil || len(got) != 400 {
		t.Fatalf("%d comments, %v", len(got), err)
	}
	for i, c := range got {
		if c.ID != int64(i+1) {
			t.Fatalf("comment %d is %d", i, c.ID)
		}
	}
}

func TestLinks(t *testing.T) {
	for header, want := range map[string]links{
		``: {},
		`<https://api.github.com/x?page=2>; rel="next", <https://api.github.com/x?page=9>; rel="last"`: {next: url.Values{"page": {"2"}}, last: 9},
		`<https://api.github.com/x?cursor=v1_5&per_page=100>; rel="next"`:                              {next: url.Values{"cursor": {"v1_5"}}},
		`<https://api.github.com/x?after=Y3&page=3>; rel="next"`:                                       {next: url.Values{"after": {"Y3"}, "page": {"3"}}},
		`<https://evil.test/steal?page=2&state=closed>; rel="next"`:                                    {next: url.Values{"page": {"2"}}},
		`<https://api.github.com/x?page=1>; rel="first", <https://api.github.com/x?page=2>; rel=prev`:  {},
		`<https://api.github.com/x?page=-1>; rel="last"`:                                               {},
		`<https://api.github.com/x?page=2; rel="next"`:                                                 {},
		`<%zz>; rel="next"`:                      {},
		`<https://api.github.com/x>; rel="next"`: {},
	} {
		if got := linksOf(http.Header{"Link": {header}}); got.last != want.last || got.next.Encode() != want.next.Encode() {
			t.Errorf("%s: %+v, want %+v", header, got, want)
		}
	}
}

// FuzzLinks proves that only a position in the list comes from a header.
func FuzzLinks(f *testing.F) {
	f.Add(`<https://api.github.com/x?page=2>; rel="next", <https://api.github.com/x?page=9>; rel="last"`)
	f.Add(`<?cursor=a%26state%3Dclosed>; rel="next"`)
	f.Add(`<>;;rel=next,<`)
	f.Fuzz(func(t *testing.T, header string) {
		l := linksOf(http.Header{"Link": {header}})
		if l.last < 0 || l.next != nil && len(l.next) == 0 {
			t.Errorf("%q: %+v", header, l)
		}
		r := request{query: url.Values{"state": {"open"}}}.after(l.next)
		if got := r.query.Get("state"); got != "open" {
			t.Errorf("%q: state %q", header, got)
		}
		for name := range l.next {
			if name != "page" && name != "cursor" && name != "after" {
				t.Errorf("%q: took %q", header, name)
			}
		}
	})
}

// Remarks stay within a limit of memory.
func TestRemarksAreBounded(t *testing.T) {
	sample.Variant(t)
	for length, fails := range map[int]bool{60_000: false, 100_000: true} {
		body := "words " + strings.Repeat("a", length-6)
		hub := longList(1, true, func(i int) string {
			return fmt.Sprintf(`{"id":%d,"body":%q,"user":{"login":"alice","type":"User"}}`, i+1, body)
		}, `[%s]`)
		got, err := hub.client(t, nil).Source(pullTarget).Remarks(t.Context(), "words")
		if !fails {
			if err != nil || len(got) != perPage {
				t.Errorf("%d remarks, %v", len(got), err)
			}
			continue
		}
		if he := wantHostError(t, err, ports.HostInvalid); he.Temporary() || !strings.Contains(err.Error(), "more than 8 MB") || got != nil {
			t.Errorf("%d remarks, %v", len(got), err)
		}
	}
}
