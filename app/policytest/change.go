package policytest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/internal/unshown"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// change is the pull request of a case.
type change struct {
	pull       raw.PullRequest
	files      []raw.ChangedFile
	byPath     map[string]*raw.ChangedFile
	texts      map[string]string // of the files at the head, or nil if only a diff is known
	commits    []pipeline.Commit
	rootFiles  []string
	attributes []byte
}

func (c *change) read(f *jsontree.Fields, n *jsontree.Node) {
	repository := cmp.Or(f.Text("repository"), "acme/shop")
	owner, name, ok := strings.Cut(repository, "/")
	if !ok || owner == "" || name == "" || strings.Contains(name, "/") {
		f.Refuse("repository", "this is not the full name of a repository", "write OWNER/NAME")
	}
	branch := cmp.Or(f.Text("default_branch"), "main")
	sum := sha256.Sum256(n.AppendJSON(nil)) // a case has no commits: a hash replaces their SHAs
	c.pull = raw.PullRequest{
		Repository: pipeline.Repository{Owner: owner, Name: name, DefaultBranch: branch},
		Title:      f.Needed("title"), Body: text(f, n, "body"), Draft: f.Bool("draft"), Milestone: f.Text("milestone"),
		Author: pipeline.Author{
			Login: cmp.Or(f.Text("author"), "kim"), Type: cmp.Or(f.OneOf("author_type", "User", "Bot"), "User"),
			Association: cmp.Or(f.OneOf("author_association", associations...), "CONTRIBUTOR"),
		},
		Base:   pipeline.Base{Ref: cmp.Or(f.Text("base"), branch), SHA: strings.Repeat("0", 40)},
		Head:   pipeline.Head{Ref: cmp.Or(f.Text("head"), "change"), SHA: hex.EncodeToString(sum[:20]), Repository: repository, Fork: f.Bool("fork")},
		Labels: f.Texts("labels"),
	}
	if c.pull.Head.Fork {
		c.pull.Head.Repository = c.pull.Author.Login + "/" + name
	}
	c.rootFiles, c.attributes = f.Texts("root_files"), []byte(text(f, n, "gitattributes"))
	messages := f.Texts("commits")
	for i, message := range messages {
		sha := c.pull.Head.SHA
		if i < len(messages)-1 {
			sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", i, sha))
			sha = hex.EncodeToString(sum[:20])
		}
		c.commits = append(c.commits, pipeline.Commit{SHA: sha, Message: message, Author: c.pull.Author.Login})
	}
	c.pull.Commits = len(messages)
	c.readFiles(f, n)
	refuseUnknown(f, changeKeys)
	c.pull.Totals.Files, c.byPath = len(c.files), map[string]*raw.ChangedFile{}
	for i := range c.files {
		file := &c.files[i]
		c.byPath[file.Path] = file
		c.pull.Totals.Additions += file.Additions
		c.pull.Totals.Deletions += file.Deletions
	}
}

// lines is the number of a file's lines after the change, if the case shows it.
func (c *change) lines(file *raw.ChangedFile) (n int, known bool) {
	switch {
	case file == nil:
		return 0, false
	case file.Status == pipeline.FileRemoved:
		return 0, true
	case c.texts == nil: // a diff has all lines of new files only
		return file.Additions, file.Status == pipeline.FileAdded && file.Patch != ""
	}
	text := c.texts[file.Path]
	n = strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n, true
}

// associations are GitHub's values of author_association.
var associations = []string{"COLLABORATOR", "CONTRIBUTOR", "FIRST_TIMER", "FIRST_TIME_CONTRIBUTOR", "MANNEQUIN", "MEMBER", "NONE", "OWNER"}

// readFiles reads the files or the diff.
func (c *change) readFiles(f *jsontree.Fields, n *jsontree.Node) {
	files, diff := n.Get("files"), n.Get("diff")
	switch {
	case files == nil && diff == nil || files != nil && diff != nil:
		f.Add(*n.Error(`a change has either "files" or a "diff"`, "write one of the two"))
	case diff != nil:
		read, err := normalize.ReadDiff(text(f, n, "diff"))
		if err != nil {
			f.Refuse("diff", err.Error(), "git diff BASE...HEAD writes one")
		}
		c.files = read.Files
	case files.Kind != jsontree.Object || len(files.Members) == 0:
		f.Refuse("files", "this is not an object with a file", `write the files by their paths, such as {"a.go": {"head": ["package a"]}}`)
	default:
		c.texts = map[string]string{}
		for _, m := range files.Members {
			if f.Full() {
				return
			}
			c.readFile(f, m)
		}
	}
}

// readFile reads a file by its texts before and after the change.
func (c *change) readFile(f *jsontree.Fields, m jsontree.Member) {
	w := jsontree.FieldsOf(m.Value, "a file")
	w.Most = f.Most
	defer f.Take(w)
	if m.Value.Kind != jsontree.Object {
		return
	}
	base, head, from := text(w, m.Value, "base"), text(w, m.Value, "head"), w.Text("from")
	hasBase, hasHead := m.Value.Get("base") != nil, m.Value.Get("head") != nil
	refuseUnknown(w, fileKeys)
	file := raw.ChangedFile{Path: m.Key, PreviousPath: from}
	refuse := func(problem, remedy string) { w.Add(*m.Value.Error(problem, remedy)) }
	switch {
	case len(w.Wrong) > 0:
		return
	case !isPath(m.Key) || from != "" && !isPath(from):
		refuse("the name is not a path within a repository", "write it from the repository's root, without ..")
	case from != "" && (!hasBase || !hasHead):
		refuse("a moved file has a text before and one after", `add "base" and "head"`)
	case !hasBase && !hasHead:
		refuse("the file has no text", `add "head", or "base" for a removed file`)
	case from == "" && hasBase && hasHead && base == head:
		refuse("base and head are the same, so nothing is changed", "change one of them")
	case from != "":
		file.Status = pipeline.FileRenamed
	case !hasBase:
		file.Status = pipeline.FileAdded
	case !hasHead:
		file.Status = pipeline.FileRemoved
	default:
		file.Status = pipeline.FileModified
	}
	file.Patch, file.Additions, file.Deletions = unshown.Hunks([]byte(base), []byte(head))
	file.Empty = hasHead && head == ""
	c.files = append(c.files, file)
	if hasHead {
		c.texts[m.Key] = head
	}
}

// text reads an optional text: a string, or a list of its lines, which is easier to read in JSON.
func text(f *jsontree.Fields, n *jsontree.Node, key string) string {
	value := n.Get(key)
	var s string
	switch {
	case value == nil:
		return ""
	case value.Kind == jsontree.String:
		s = value.Text
	case value.Kind != jsontree.Array:
		f.Refuse(key, "this is not a text", "write a string, or a list of lines")
		return ""
	default:
		var lines strings.Builder
		for _, line := range f.Texts(key) {
			if strings.Contains(line, "\n") {
				f.Refuse(key, "a line of the list has a line break", "write each line by itself, or the text as one string")
				return ""
			}
			lines.WriteString(line + "\n")
		}
		s = lines.String()
	}
	if strings.ContainsRune(s, 0) {
		f.Refuse(key, "the text has a NUL, so it is not a text", "remove it")
	}
	return s
}

// source gives a case's change to the pipeline.
type source struct {
	*change
	config *config.Config
}

var _ normalize.Source = source{}

// PullRequest returns the case's pull request.
func (s source) PullRequest(context.Context) (raw.PullRequest, error) { return s.pull, nil }

// Files returns the changed files.
func (s source) Files(context.Context) (raw.Files, error) {
	return raw.Files{Files: slices.Clone(s.files), HeadSHA: s.pull.Head.SHA, Whole: true}, nil
}

// Commits returns the commits with the case's messages.
func (s source) Commits(context.Context) (raw.Commits, error) {
	return raw.Commits{Commits: slices.Clone(s.commits)}, nil
}

// Config returns the config that is tested.
func (s source) Config(context.Context) (normalize.ConfigRead, error) {
	return normalize.ConfigRead{Config: s.config, RootFiles: s.rootFiles, Attributes: s.attributes}, nil
}

// file returns a function that reads a file at the head. If the case has only a diff, nothing can be read.
func (s source) file() func(ctx context.Context, commit, path string, most int64) ([]byte, bool, error) {
	if s.texts == nil {
		return nil
	}
	return func(_ context.Context, _, path string, most int64) ([]byte, bool, error) {
		text, found := s.texts[path]
		return []byte(text[:min(int64(len(text)), most)]), found, nil
	}
}
