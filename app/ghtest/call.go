package ghtest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// call is a request being answered.
type call struct {
	s      *Server
	route  *route
	req    *http.Request
	ctx    context.Context
	params map[string]string
	prefix string
	caller caller
	body   []byte
	json   map[string]any
	repo   *Repo

	known bool          // whether the caller is known
	early time.Duration // see Call
}

// maxBody limits a request's body. It is four times the largest body that GitHub's own limits
// allow: a check run with fifty annotations full of details.
const maxBody = 32 << 20

// serve answers every request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.begin()
	defer s.end()
	start := time.Now()
	path, prefix := trimBase(r)
	rt, params := match(r.Method, s.byName(path))
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()

	c := &call{s: s, route: rt, req: r, ctx: ctx, params: params, prefix: prefix}
	resp := c.answer(w)
	end := time.Now()
	entry := Call{
		Method: r.Method, Path: path, Query: r.URL.RawQuery, Status: resp.Status,
		At: s.now(), Took: end.Sub(start), Start: start, End: end, Early: c.early,
	}
	if rt != nil {
		entry.Route = rt.name()
	}
	if c.caller.installation != nil {
		entry.Installation = c.caller.installation.id
	}
	s.mu.Lock()
	s.Calls.all = append(s.Calls.all, entry)
	if rt == nil {
		s.Calls.unknown = append(s.Calls.unknown, entry)
	}
	s.notify()
	s.mu.Unlock()
	w.Header().Set("Date", s.now().Format(http.TimeFormat))
	resp.write(w)
	if c.known {
		s.limiter.told(c.caller, resp)
	}
}

// begin and end count the requests in progress.
func (s *Server) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active++
}

func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active--
	s.notify()
}

// answer passes a request through authentication, limits, hooks and the route.
func (c *call) answer(w http.ResponseWriter) *Response {
	if c.route == nil {
		return refuse(http.StatusNotFound, "Not Found")
	}
	if c.req.Header.Get("User-Agent") == "" {
		return refuse(http.StatusForbidden, "Request forbidden by administrative rules. Please make sure your request has a User-Agent header")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, c.req.Body, maxBody))
	if err != nil {
		return refuse(http.StatusRequestEntityTooLarge, "Payload too large")
	}
	c.body = body
	who, refused := c.s.authenticate(c.route.auth, c.req)
	c.caller = who
	if refused != nil {
		// A hook also sees a refused request, because it may want to change the refusal.
		return c.s.hooked(c, func() *Response { return refused })
	}
	c.known = true
	if !c.route.free {
		c.early = c.s.limiter.early(who)
	}
	defer c.s.limiter.arrive(who)()
	resp := c.s.hooked(c, func() *Response {
		if limited := c.s.limiter.enter(c.route, who); limited != nil {
			return limited
		}
		return c.conditional(c.dispatch())
	})
	if !resp.drop {
		c.s.limiter.charge(c.route, who, resp)
	}
	return resp
}

// dispatch finds the repository of the request, checks permissions and body, and runs the
// route.
func (c *call) dispatch() *Response {
	if c.route.auth != asApp {
		if refused := c.admit(); refused != nil {
			return refused
		}
	}
	if c.route.body != nil {
		if refused := c.decode(); refused != nil {
			return refused
		}
	}
	return c.route.serve(c)
}

// admit finds the repository and checks the permission for the request. A repository that the
// token doesn't cover is not found, unless it is public.
func (c *call) admit() *Response {
	owner, inRepo := c.params["owner"]
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if inRepo {
		repo, moved := s.state.find(owner, c.params["repo"])
		if repo == nil || repo.private && !c.caller.covers(repo) {
			return notFound()
		}
		if moved {
			return c.redirect(repo)
		}
		c.repo = repo
		if !c.caller.covers(repo) {
			if c.route.method == http.MethodGet {
				return nil
			}
			return refuse(http.StatusForbidden, "Resource not accessible by integration")
		}
	}
	if !c.caller.permitted(c.route.needs) {
		resp := refuse(http.StatusForbidden, "Resource not accessible by integration")
		resp.Header.Set("X-Accepted-GitHub-Permissions", strings.ReplaceAll(strings.Join(c.route.needs, "; "), ":", "="))
		return resp
	}
	return nil
}

// decode reads the body and validates it with the route's schema.
func (c *call) decode() *Response {
	if len(c.body) == 0 || string(c.body) == "null\n" {
		if len(c.route.body.required()) == 0 {
			return nil
		}
		return refuse(http.StatusBadRequest, "Body should be a JSON object")
	}
	var value any
	if err := json.Unmarshal(c.body, &value); err != nil {
		return refuse(http.StatusBadRequest, "Problems parsing JSON")
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return refuse(http.StatusBadRequest, "Body should be a JSON object")
	}
	if problem := c.route.body.check("", value); problem != "" {
		return refuse(http.StatusUnprocessableEntity, "Invalid request.\n\n"+problem)
	}
	c.json = fields
	return nil
}

// into fills v from a body that its schema has accepted.
func (c *call) into(v any) error {
	if len(c.json) == 0 {
		return nil
	}
	return json.Unmarshal(c.body, v)
}

// conditional adds an ETag, which only the same token can use. It answers 304 if the client
// already has the answer.
func (c *call) conditional(resp *Response) *Response {
	if c.route.method != http.MethodGet || resp.Status != http.StatusOK {
		return resp
	}
	credential := c.req.Header.Get("Authorization")
	sum := sha256.Sum256(slices.Concat([]byte(credential), []byte{0}, []byte(c.req.Header.Get("Accept")), []byte{0}, resp.Body))
	tag := fmt.Sprintf(`"%x"`, sum)
	resp.Header.Set("ETag", "W/"+tag)
	resp.Header.Set("Cache-Control", "private, max-age=60, s-maxage=60")
	resp.Header.Set("Vary", "Accept, Authorization, Cookie, X-GitHub-OTP")
	if asked := c.req.Header.Get("If-None-Match"); asked != "" && strings.TrimPrefix(asked, "W/") == tag {
		resp.Status, resp.Body = http.StatusNotModified, nil
		resp.Header.Del("Content-Type")
	}
	return resp
}

// write sends the answer, or the part of it that its faults allow.
func (resp *Response) write(w http.ResponseWriter) {
	if resp.drop {
		panic(http.ErrAbortHandler)
	}
	h := w.Header()
	maps.Copy(h, resp.Header)
	h.Set("X-GitHub-Request-Id", newGUID())
	h.Set("X-GitHub-Media-Type", "github.v3; format=json")
	if resp.Status != http.StatusNotModified && resp.Status != http.StatusNoContent {
		h.Set("Content-Length", strconv.Itoa(len(resp.Body)))
	}
	w.WriteHeader(resp.Status)
	if resp.cut >= 0 && resp.cut < len(resp.Body) {
		_, _ = w.Write(resp.Body[:resp.cut])
		// Buffered bytes must be sent before the connection is dropped.
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	// The stand-in ignores clients that hung up.
	_, _ = w.Write(resp.Body)
}

// answer creates a JSON answer.
func answer(status int, v any) *Response {
	body, err := marshal(v)
	if err != nil {
		return refuse(http.StatusInternalServerError, "Server Error: "+err.Error())
	}
	return &Response{Status: status, Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}}, Body: body, cut: -1}
}

func ok(v any) *Response { return answer(http.StatusOK, v) }

// refuse creates an error in GitHub's form.
func refuse(status int, message string) *Response {
	return answer(status, object{"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status)})
}

func notFound() *Response { return refuse(http.StatusNotFound, "Not Found") }

// invalid creates a 422 about one field.
func invalid(resource, field, code, message string) *Response {
	return answer(http.StatusUnprocessableEntity, object{
		"message": "Validation Failed", "documentation_url": "https://docs.github.com/rest", "status": "422",
		"errors": []object{{"resource": resource, "field": field, "code": code, "message": message}},
	})
}

// broken answers when git failed, which no client could have caused.
func broken(err error) *Response {
	return refuse(http.StatusInternalServerError, "Server Error: "+err.Error())
}

// locked runs f with the Server's lock held.
func (c *call) locked(f func() *Response) *Response {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return f()
}
