package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

// pull is a pull request as GitHub's API shows it.
type pull struct {
	Title, Body string
	files       []file
}

// file is a changed file. ID is its place on the page.
type file struct {
	Filename, Status, Patch string
	Additions, Deletions    int
	ID                      string
	Lines                   []diffLine
}

// diffLine is a line of a diff. ID is its place on the page, for lines of the head. A number is 0
// if that side does not have the line.
type diffLine struct {
	Kind     string // added, removed, kept or hunk
	Old, New int
	Text, ID string
}

// fileCache keeps the files of the newest head.
type fileCache struct {
	mu    sync.Mutex
	head  string
	files []file
}

// pull asks the stand-in for the pull request, and for the files of a new head.
func (d *demo) pull(ctx context.Context, pr *ghtest.PullRequest) (*pull, error) {
	p := &pull{}
	at := fmt.Sprintf("/repos/%s/pulls/%d", repository, pr.Number)
	if err := d.ask(ctx, at, p); err != nil {
		return nil, err
	}
	d.files.mu.Lock()
	defer d.files.mu.Unlock()
	if head := pr.HeadSHA(); d.files.head != head {
		var files []file
		if err := d.ask(ctx, at+"/files?per_page=100", &files); err != nil {
			return nil, err
		}
		for i := range files {
			files[i].ID = fmt.Sprintf("file-%d", i+1)
			files[i].Lines = diffLines(files[i].Patch, files[i].ID)
		}
		d.files.head, d.files.files = head, files
	}
	p.files = d.files.files
	return p, nil
}

// ask reads JSON from the stand-in's API.
func (d *demo) ask(ctx context.Context, path string, into any) error {
	owner, _, _ := strings.Cut(repository, "/")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.gh.URL+path, nil)
	if err != nil {
		return fmt.Errorf("ask for %s: %w", path, err)
	}
	req.Header.Set("Authorization", "Bearer "+d.gh.Token(owner))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("ask for %s: %w", path, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("ask for %s: %s", path, resp.Status)
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

var hunk = regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@`)

// diffLines reads a patch as GitHub gives it.
func diffLines(patch, id string) []diffLine {
	var lines []diffLine
	from, to := 0, 0 // the next lines
	for text := range strings.Lines(patch) {
		text = strings.TrimSuffix(text, "\n")
		l := diffLine{Kind: "hunk", Text: text}
		switch m := hunk.FindStringSubmatch(text); {
		case m != nil:
			from, _ = strconv.Atoi(m[1]) // digits
			to, _ = strconv.Atoi(m[2])
		case strings.HasPrefix(text, "+"):
			l = diffLine{Kind: "added", New: to, Text: text[1:], ID: fmt.Sprintf("%s-L%d", id, to)}
			to++
		case strings.HasPrefix(text, "-"):
			l = diffLine{Kind: "removed", Old: from, Text: text[1:]}
			from++
		case strings.HasPrefix(text, " "):
			l = diffLine{Kind: "kept", Old: from, New: to, Text: text[1:], ID: fmt.Sprintf("%s-L%d", id, to)}
			from, to = from+1, to+1
		}
		lines = append(lines, l)
	}
	return lines
}
