package gh

import (
	"context"
	"maps"
	"net/url"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/reviewgate/reviewgate/app/review"
)

const (
	// perPage is the most that GitHub gives.
	perPage = 100
	// pagesAtOnce keeps one large pull request from taking all calls in
	// flight.
	pagesAtOnce = 6
)

// pages reads a list, at most maxPages of it. Once the first page has told how
// many there are the others are read side by side. P is what one page decodes
// to.
func pages[P any](ctx context.Context, c *Client, t review.Target, r request, maxPages int) ([]P, error) {
	first, last, err := page[P](ctx, c, t, r, 1)
	if err != nil {
		return nil, err
	}
	all := make([]P, max(1, min(last, maxPages)))
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
	return all, g.Wait()
}

// page reads the n-th page of a list, from 1. last is the number of the last
// page, or 0 if it is this one.
func page[P any](ctx context.Context, c *Client, t review.Target, r request, n int) (p P, last int, err error) {
	query := url.Values{}
	maps.Copy(query, r.query)
	query.Set("per_page", strconv.Itoa(perPage))
	if n > 1 {
		query.Set("page", strconv.Itoa(n))
	}
	r.query = query
	resp, err := c.do(ctx, t, r, asJSON(&p))
	if err != nil {
		return p, 0, err
	}
	return p, resp.LastPage, nil
}
