package ghtest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// page is the part of a list that a request asks for.
type page struct{ number, size int }

// page reads page and per_page like GitHub, which brings values out of range into it.
func (c *call) page() page {
	q := c.req.URL.Query()
	p := page{number: 1, size: 30}
	if n, err := strconv.Atoi(q.Get("page")); err == nil && n > 0 {
		p.number = n
	}
	if n, err := strconv.Atoi(q.Get("per_page")); err == nil && n > 0 {
		p.size = min(n, 100)
	}
	return p
}

// bounds returns the indexes of the page's items in a list of n items.
func (p page) bounds(n int) (from, to int) {
	from = min((p.number-1)*p.size, n)
	return from, min(from+p.size, n)
}

// slicePage renders the part of a list that the page asks for.
func slicePage[T any](p page, items []T, render func(T) object) []object {
	from, to := p.bounds(len(items))
	out := make([]object, 0, to-from)
	for _, item := range items[from:to] {
		out = append(out, render(item))
	}
	return out
}

// first is the page with as many of n items as a limit allows.
func first(limit, n int) page {
	if over(n, limit) {
		n = limit
	}
	return page{number: 1, size: n}
}

// linked adds the Link header for a list of n.
func (c *call) linked(resp *Response, n int) *Response {
	p := c.page()
	last := max(1, (n+p.size-1)/p.size)
	link := ""
	add := func(number int, rel string) {
		q := c.req.URL.Query()
		q.Set("page", strconv.Itoa(number))
		if link != "" {
			link += ", "
		}
		link += fmt.Sprintf("<%s>; rel=%q", c.self(q.Encode()), rel)
	}
	if p.number > 1 {
		add(min(p.number-1, last), "prev")
	}
	if p.number < last {
		add(p.number+1, "next")
		add(last, "last")
	}
	if p.number > 1 {
		add(1, "first")
	}
	if link != "" {
		resp.Header.Set("Link", link)
	}
	return resp
}

// self is the address of the request with another query.
func (c *call) self(query string) string {
	path, _ := trimBase(c.req)
	return c.s.URL + c.prefix + path + "?" + query
}

// listed answers with a page of a plain list.
func listed[T any](c *call, items []T, render func(T) object) *Response {
	return c.linked(ok(slicePage(c.page(), items, render)), len(items))
}

// number reads a numeric parameter of the path. No object has the number 0.
func (c *call) number(name string) int64 {
	n, err := strconv.ParseInt(c.params[name], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// oneOf reads a query parameter that only allows a few values.
func (c *call) oneOf(name string, values ...string) (string, *Response) {
	v := c.req.URL.Query().Get(name)
	if v == "" {
		return values[0], nil
	}
	if slices.Contains(values, v) {
		return v, nil
	}
	return "", refuse(http.StatusUnprocessableEntity, fmt.Sprintf("Invalid request.\n\n%q is not a valid value for %q.", v, name))
}
