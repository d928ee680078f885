package dispatch

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// maxCitations bounds the look-ups for one agent, since each may be a call. Further citations count
// as not found.
const maxCitations = 20

// Citations are the findings' citations that were looked up and exist at the head. A citation
// proves a claim only if it exists, and an agent's own word for that is worth nothing. A citation
// that can't be looked up, for whatever reason, is left out, and then a person looks.
func Citations(ctx context.Context, findings []pipeline.Finding, facts *pipeline.PRFacts, o Options, agent string) []string {
	if o.Exists == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, o.Limits(agent).Timeout)
	defer cancel()
	var found []string
	asked := map[string]bool{}
	for i := range findings {
		cited := findings[i].Citation
		if findings[i].AutoClaim == "" || asked[cited] {
			continue
		}
		path, line, ok := place(cited)
		if !ok || factsShow(facts, path, line) {
			continue
		}
		if len(asked) == maxCitations || ctx.Err() != nil {
			break
		}
		asked[cited] = true
		if there, err := o.Exists(ctx, path, line); err == nil && there {
			found = append(found, cited)
		}
	}
	return found
}

// placePattern matches a path from the repository's root, optionally with a line.
var placePattern = regexp.MustCompile(`^([^\s:\\]{1,300}?)(?::([1-9][0-9]{0,7}))?$`)

// place reads a citation that names a file or a line of it. line is 0 if there is none. Symbols and
// advice in words are not places.
func place(citation string) (path string, line int, ok bool) {
	m := placePattern.FindStringSubmatch(citation)
	if m == nil || !strings.ContainsAny(m[1], "/.") {
		return "", 0, false
	}
	for part := range strings.SplitSeq(m[1], "/") {
		if part == "" || part == "." || part == ".." {
			return "", 0, false
		}
	}
	line, _ = strconv.Atoi(m[2]) // the pattern allows only numbers
	return m[1], line, true
}

// factsShow reports whether the facts alone show that the place exists at the head: a changed file,
// or one of its lines in the diff.
func factsShow(facts *pipeline.PRFacts, path string, line int) bool {
	for i := range facts.Files {
		f := &facts.Files[i]
		if f.Path != path {
			continue
		}
		if line == 0 || f.Status == pipeline.FileRemoved {
			return true
		}
		return slices.ContainsFunc(f.Hunks, func(h pipeline.Hunk) bool { return line >= h.NewStart && line < h.NewStart+h.NewLines })
	}
	return false
}
