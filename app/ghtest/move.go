package ghtest

import (
	"net/http"
	"strconv"
	"strings"
)

// place lists a repository under its name and ends a redirect from that name. The lock must
// be held.
func (st *state) place(r *Repo) {
	st.repos[fold(r.fullName())] = r
	delete(st.moved, fold(r.fullName()))
}

// find returns the repository with this name. moved tells that it is an old name. The lock
// must be held.
func (st *state) find(owner, name string) (r *Repo, moved bool) {
	full := fold(owner + "/" + name)
	if r := st.repos[full]; r != nil {
		return r, false
	}
	r = st.moved[full]
	return r, r != nil
}

// byName turns "/repositories/{id}/..." into the path by the repository's name. GitHub
// answers both alike, and redirects to the former.
func (s *Server) byName(path string) string {
	rest, ok := strings.CutPrefix(path, "/repositories/")
	if !ok {
		return path
	}
	id, rest, _ := strings.Cut(rest, "/")
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return path
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.state.repos {
		if r.id == n {
			return strings.TrimSuffix("/repos/"+r.fullName()+"/"+rest, "/")
		}
	}
	// No repository can have this name.
	return strings.TrimSuffix("/repos/-/-/"+rest, "/")
}

// redirect redirects a request for an old name: permanently for a read, and with unchanged
// method and body for a write.
func (c *call) redirect(r *Repo) *Response {
	status := http.StatusTemporaryRedirect
	if c.route.method == http.MethodGet {
		status = http.StatusMovedPermanently
	}
	path, _ := trimBase(c.req)
	rest := ""
	if parts := strings.SplitN(path, "/", 5); len(parts) == 5 {
		rest = "/" + parts[4]
	}
	to := c.s.URL + c.prefix + "/repositories/" + strconv.FormatInt(r.id, 10) + rest
	if q := c.req.URL.RawQuery; q != "" {
		to += "?" + q
	}
	resp := answer(status, object{"message": http.StatusText(status), "url": to, "documentation_url": "https://docs.github.com/rest/guides/best-practices-for-using-the-rest-api#follow-redirects"})
	resp.Header.Set("Location", to)
	return resp
}
