package rules_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// written is a source of one change, in the notation of fixtures.
type written struct {
	Title     string        `json:"title"`
	Body      string        `json:"body"`
	Commit    string        `json:"commit"` // the message of the only commit, or empty for the title
	Author    string        `json:"author"` // a bot if the name ends in [bot]
	Labels    []string      `json:"labels"`
	RootFiles []string      `json:"root_files"`
	Changed   []writtenFile `json:"files"`
}

// writtenFile is a file of one hunk: its lines with +, - or space, followed by as many
// more added (Pad) or removed (Drop) lines as the rule needs.
type writtenFile struct {
	Path   string              `json:"path"`
	Status pipeline.FileStatus `json:"status"` // modified, or removed if all of it is dropped
	Binary bool                `json:"binary"`
	Lines  []string            `json:"lines"`
	Pad    int                 `json:"pad"`
	Drop   int                 `json:"drop"`
}

func (w written) PullRequest(context.Context) (raw.PullRequest, error) {
	pr := raw.PullRequest{
		Repository: pipeline.Repository{Owner: "acme", Name: "shop"}, Number: 7,
		Title: w.Title, Body: w.Body, Labels: w.Labels,
		Author: pipeline.Author{Login: w.Author, Type: "User"},
		Head:   pipeline.Head{SHA: "abcdef0"}, Commits: 1,
	}
	if strings.HasSuffix(w.Author, "[bot]") {
		pr.Author.Type = "Bot"
	}
	for _, f := range w.Changed {
		c := f.changed()
		pr.Totals.Files++
		pr.Totals.Additions += c.Additions
		pr.Totals.Deletions += c.Deletions
	}
	return pr, nil
}

func (w written) Files(context.Context) (raw.Files, error) {
	var files raw.Files
	for _, f := range w.Changed {
		files.Files = append(files.Files, f.changed())
	}
	return files, nil
}

func (w written) Commits(context.Context) (raw.Commits, error) {
	return raw.Commits{Commits: []pipeline.Commit{{SHA: "abcdef0", Message: cmp.Or(w.Commit, w.Title)}}}, nil
}

func (w written) Config(context.Context) (normalize.ConfigRead, error) {
	return normalize.ConfigRead{Config: shippedConfig(), RootFiles: w.RootFiles}, nil
}

func (f writtenFile) changed() raw.ChangedFile {
	c := raw.ChangedFile{Path: f.Path, Status: f.Status, Binary: f.Binary}
	if c.Status == "" {
		c.Status = pipeline.FileModified
		if f.Drop > 0 {
			c.Status = pipeline.FileRemoved
		}
	}
	lines := append([]string{}, f.Lines...)
	for i := range f.Pad {
		lines = append(lines, fmt.Sprintf("+line %d", i))
	}
	for i := range f.Drop {
		lines = append(lines, fmt.Sprintf("-line %d", i))
	}
	if len(lines) == 0 {
		return c
	}
	for _, l := range lines {
		switch l[0] {
		case '+':
			c.Additions++
		case '-':
			c.Deletions++
		}
	}
	same := len(lines) - c.Additions - c.Deletions
	c.Patch = fmt.Sprintf("@@ -%d,%d +%d,%d @@\n%s", min(1, c.Deletions+same), c.Deletions+same, min(1, c.Additions+same), c.Additions+same, strings.Join(lines, "\n"))
	return c
}
