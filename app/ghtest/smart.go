package ghtest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// gitRoutes are the parts of git's smart HTTP protocol that fetches need. They are not part
// of the API, so its rate limits don't count them.
var gitRoutes = []*route{
	{method: "GET", template: "/{owner}/{repo}/info/refs", auth: asGit, needs: readContents, free: true, serve: serveGit},
	{method: "POST", template: "/{owner}/{repo}/git-upload-pack", auth: asGit, needs: readContents, free: true, serve: serveGit},
	// Git tries its older protocol if the answer does not use the newer one. GitHub does not
	// speak it.
	{method: "GET", template: "/{owner}/{repo}/HEAD", auth: asGit, free: true, serve: func(*call) *Response { return notFound() }},
}

// serveGit lets git itself answer, from the repository's objects. As on GitHub, any object
// may be requested by its SHA, and filters are obeyed.
func serveGit(c *call) *Response {
	query := c.req.URL.Query()
	if c.route.method == http.MethodGet && query.Get("service") != "git-upload-pack" {
		return refuse(http.StatusForbidden, "Only fetches are answered.")
	}
	if err := c.repo.git.objects.sync(); err != nil {
		return broken(err)
	}
	_, path, _ := strings.Cut(c.req.URL.Path, ".git/")
	cmd := gitCommand(c.ctx, "http-backend")
	cmd.Env = append(cmd.Env,
		"GIT_PROJECT_ROOT="+c.repo.git.objects.dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=x-access-token",
		"PATH_INFO=/"+path, "REQUEST_METHOD="+c.route.method, "QUERY_STRING="+c.req.URL.RawQuery,
		"CONTENT_TYPE="+c.req.Header.Get("Content-Type"), "CONTENT_LENGTH="+strconv.Itoa(len(c.body)),
		"HTTP_CONTENT_ENCODING="+c.req.Header.Get("Content-Encoding"), "GIT_PROTOCOL="+c.req.Header.Get("Git-Protocol"),
		"GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=uploadpack.allowAnySHA1InWant", "GIT_CONFIG_VALUE_0=true",
		"GIT_CONFIG_KEY_1=uploadpack.allowFilter", "GIT_CONFIG_VALUE_1=true",
	)
	cmd.Stdin = bytes.NewReader(c.body)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	// When a client requests an unknown object, git fails and reports that in its answer.
	if err := cmd.Run(); err != nil && out.Len() == 0 {
		return broken(errors.Join(err, errors.New(stderr.String())))
	}
	resp, err := readCGI(&out)
	if err != nil {
		return broken(err)
	}
	return resp
}

// readCGI reads the answer of a CGI program.
func readCGI(out io.Reader) (*Response, error) {
	r := bufio.NewReader(out)
	header, err := textproto.NewReader(r).ReadMIMEHeader()
	if err != nil {
		return nil, fmt.Errorf("read git's answer: %w", err)
	}
	resp := &Response{Status: http.StatusOK, Header: http.Header(header), cut: -1}
	if status := resp.Header.Get("Status"); status != "" {
		code, _, _ := strings.Cut(status, " ")
		if resp.Status, err = strconv.Atoi(code); err != nil {
			return nil, fmt.Errorf("read git's answer: the status %q: %w", status, err)
		}
		resp.Header.Del("Status")
	}
	resp.Body, err = io.ReadAll(r)
	return resp, err
}
