package render

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// linker returns URLs of the code host's pages for one review. A method returns "" if
// there is no page to link to.
type linker struct {
	web     string // without a slash at its end
	base    string // owner/name of the repository with the pull request
	head    string // owner/name of the repository with the head
	headSHA string
	baseSHA string
}

func newLinker(l Links, f *pipeline.PRFacts) linker {
	k := linker{
		web: strings.TrimRight(l.WebURL, "/"), base: l.Repository, head: f.Head.Repository,
		headSHA: f.Head.SHA, baseSHA: f.Base.SHA,
	}
	if k.head == "" || strings.Contains(k.head, pipeline.RedactionMark) {
		k.head = k.base // it has the commits, too, if the fork is deleted or its name is a secret
	}
	return k
}

func (k linker) commit(sha string) string {
	if k.web == "" || k.base == "" || !isSHA(sha) {
		return ""
	}
	return k.web + "/" + escapePath(k.base) + "/commit/" + sha
}

// file returns a permalink to lines of a file at the head.
func (k linker) file(name string, start, end int) string {
	u := k.blob(k.head, k.headSHA, name)
	if u == "" || start <= 0 {
		return u
	}
	if isMarkdown(name) {
		u += "?plain=1" // rendered markdown has no line numbers
	}
	u += fmt.Sprintf("#L%d", start)
	if end > start {
		u += fmt.Sprintf("-L%d", end)
	}
	return u
}

// removed returns a permalink to a removed file at the base.
func (k linker) removed(name string) string { return k.blob(k.base, k.baseSHA, name) }

// directory returns a permalink to a directory at the head.
func (k linker) directory(name string) string {
	return k.at("tree", k.head, k.headSHA, strings.TrimSuffix(name, "/"))
}

func (k linker) blob(repository, sha, name string) string {
	return k.at("blob", repository, sha, name)
}

func (k linker) at(kind, repository, sha, name string) string {
	if k.web == "" || repository == "" || !isSHA(sha) || name == "" || path.Clean("/"+name) != "/"+name {
		return ""
	}
	return k.web + "/" + escapePath(repository) + "/" + kind + "/" + sha + "/" + escapePath(name)
}

// pathEscapes escapes characters that url.PathEscape keeps and that mean something in
// markdown.
var pathEscapes = strings.NewReplacer("@", "%40", "~", "%7E")

// escapePath escapes a path for a markdown link, except for the slashes.
func escapePath(p string) string {
	segments := strings.Split(p, "/")
	for i, s := range segments {
		segments[i] = pathEscapes.Replace(url.PathEscape(s))
	}
	return strings.Join(segments, "/")
}

func isMarkdown(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mdown", ".mkd":
		return true
	}
	return false
}

// isSHA reports whether s is a full SHA-1 or SHA-256 object name.
func isSHA(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// shortSHA shortens a commit's SHA for people.
func shortSHA(sha string) string {
	if isSHA(sha) {
		return sha[:7]
	}
	return sha
}
