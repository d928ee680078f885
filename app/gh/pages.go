package gh

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/reviewgate/reviewgate/app/ports"
)

const (
	// perPage is GitHub's maximum.
	perPage = 100
	// pagesAtOnce keeps one large pull request from using all calls in flight.
	pagesAtOnce = 6
)

// pages reads at most maxPages pages of a list. whole is false if the list has more.
// The first page says how many pages there are; pages then reads the others
// concurrently. P is the type of one page.
func pages[P any](ctx context.Context, c *api, t ports.Target, r request, maxPages int) (all []P, whole bool, err error) {
	first, l, err := page[P](ctx, c, t, r, 1)
	if err != nil {
		return nil, false, err
	}
	if l.last == 0 && l.next != nil { // GitHub doesn't count long lists
		all = []P{first}
		whole, err = walk(ctx, c, t, r.after(l.next), maxPages-1, func(p P) bool { all = append(all, p); return true })
		return all, whole, err
	}
	all = make([]P, max(1, min(l.last, maxPages)))
	all[0] = first
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(pagesAtOnce)
	for i := range all[1:] {
		g.Go(func() error {
			var err error
			all[i+1], _, err = page[P](ctx, c, t, r, i+2)
			return err
		})
	}
	return all, l.last <= maxPages, g.Wait()
}

// page reads the n-th page of a list, from 1.
func page[P any](ctx context.Context, c *api, t ports.Target, r request, n int) (p P, l links, err error) {
	more := url.Values{"per_page": {strconv.Itoa(perPage)}}
	if n > 1 {
		more.Set("page", strconv.Itoa(n))
	}
	l, err = c.do(ctx, t, r.after(more), asJSON(&p))
	return p, l, err
}

// walk reads a list page by page, until take returns false or maxPages pages were
// read. whole is false if the list has more than maxPages pages.
func walk[P any](ctx context.Context, c *api, t ports.Target, r request, maxPages int, take func(P) (more bool)) (whole bool, err error) {
	r = r.after(url.Values{"per_page": {strconv.Itoa(perPage)}})
	for range maxPages {
		var p P
		l, err := c.do(ctx, t, r, asJSON(&p))
		if err != nil {
			return false, err
		}
		if !take(p) || l.next == nil {
			return true, nil
		}
		r = r.after(l.next)
	}
	return false, nil
}

// allPages is pages, but a list of more pages is an error.
func allPages[P any](ctx context.Context, c *api, t ports.Target, r request, maxPages int) ([]P, error) {
	all, whole, err := pages[P](ctx, c, t, r, maxPages)
	if err == nil && !whole {
		err = tooMany(r.op, maxPages*perPage)
	}
	return all, err
}

// walkAll is walk, but a list of more pages is an error.
func walkAll[P any](ctx context.Context, c *api, t ports.Target, r request, maxPages int, take func(P) (more bool)) error {
	whole, err := walk(ctx, c, t, r, maxPages, take)
	if err == nil && !whole {
		err = tooMany(r.op, maxPages*perPage)
	}
	return err
}

// after returns the request with more query parameters.
func (r request) after(more url.Values) request {
	query := maps.Clone(r.query)
	if query == nil {
		query = url.Values{}
	}
	maps.Copy(query, more)
	r.query = query
	return r
}

// tooMany says that a list is too long to read. It is not temporary: waiting doesn't
// make the list shorter.
func tooMany(op string, most int) error {
	return &ports.HostError{Op: op, Kind: ports.HostInvalid, Err: fmt.Errorf("there are more than the %d that are looked at", most)}
}

// links says where a list continues, and whether the repository has moved.
type links struct {
	next  url.Values // added to the query for the next page; nil on the last page
	last  int        // number of the last page, or 0 if it is this page or unknown
	moved bool       // GitHub redirected the request
}

// linksOf reads the Link header. It takes only the position in the list from the URLs,
// so that an answer can't choose what is requested next.
func linksOf(h http.Header) links {
	var l links
	for _, link := range strings.Split(strings.Join(h.Values("Link"), ","), ",") {
		target, params, _ := strings.Cut(link, ";")
		target = strings.TrimSpace(target)
		u, err := url.Parse(strings.TrimSuffix(strings.TrimPrefix(target, "<"), ">"))
		if err != nil || !strings.HasPrefix(target, "<") || !strings.HasSuffix(target, ">") {
			continue
		}
		for _, param := range strings.Split(params, ";") {
			switch strings.ReplaceAll(strings.TrimSpace(param), `"`, "") {
			case "rel=next":
				l.next = place(u.Query())
			case "rel=last":
				if n, err := strconv.Atoi(u.Query().Get("page")); err == nil && n > 0 {
					l.last = n
				}
			}
		}
	}
	return l
}

// place returns the parameters of a query that are a position in a list, or nil.
func place(query url.Values) url.Values {
	var p url.Values
	for _, name := range []string{"page", "cursor", "after"} {
		if v := query.Get(name); v != "" {
			if p == nil {
				p = url.Values{}
			}
			p.Set(name, v)
		}
	}
	return p
}

// maxWalk bounds lists that are read page by page: 10,000 entries.
const maxWalk = 100
