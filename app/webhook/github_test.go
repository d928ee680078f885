package webhook

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// gfm reads markdown as GitHub does.
var gfm = goldmark.New(goldmark.WithExtensions(extension.GFM))

// hiddenAt tells what hides the command that ParseCommand finds in a text, as a
// reader of GitHub's own dialect sees it; empty if nothing does.
func hiddenAt(markdown string) string {
	at := commandAt(markdown)
	source := []byte(markdown)
	hidden := ""
	_ = ast.Walk(gfm.Parser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if holds(n.Lines(), at) {
				hidden = "code"
			}
		case *ast.HTMLBlock:
			if holds(n.Lines(), at) && n.HTMLBlockType == ast.HTMLBlockType2 {
				hidden = "an HTML comment"
			}
		case *ast.RawHTML:
			if holds(n.Segments, at) && strings.HasPrefix(string(n.Segments.Value(source)), "<!--") {
				hidden = "an HTML comment"
			}
		}
		return ast.WalkContinue, nil
	})
	return hidden
}

func holds(lines *text.Segments, at int) bool {
	for _, s := range lines.Sliced(0, lines.Len()) {
		if s.Start <= at && at < s.Stop {
			return true
		}
	}
	return false
}

// commandAt is where the line begins in which ParseCommand finds a command, or
// -1.
func commandAt(markdown string) int {
	lines, ends, at := strings.Split(markdown, "\n"), commentEnds(strings.Split(markdown, "\n")), 0
	var b blocks
	for i, line := range lines {
		if !b.hides(line, ends[i+1]) {
			if _, _, ok := commandIn(line); ok {
				return at
			}
		}
		at += len(line) + 1
	}
	return -1
}
