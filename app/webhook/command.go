package webhook

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

const (
	commandWord = "/review"
	// maxLine is GitHub's limit for a comment, in characters. A stored command has a
	// lower limit: see [review.Command].
	maxLine = 65536
)

var lineFeeds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// ParseCommand finds the first /review command in a comment's Markdown. A command is at
// the start of a line, in text that readers see as the writer's own words: not in code,
// quotes, tables, links, HTML or a quoted mail. The name is "review" for the bare
// command, and otherwise the word after it, as typed. args are the rest of the line.
// Characters that don't print are removed from both.
func ParseCommand(markdown string) (name, args string, ok bool) {
	lines := strings.Split(lineFeeds.Replace(markdown), "\n")
	var candidates []int
	for i, line := range lines {
		if _, _, ok := commandIn(line); ok {
			candidates = append(candidates, i)
		}
	}
	if first := firstShown(lines, candidates); first >= 0 {
		return commandIn(lines[first])
	}
	return "", "", false
}

func commandIn(line string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(line, commandWord)
	if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return "", "", false
	}
	if strings.TrimSpace(rest) == "" {
		return "review", "", true
	}
	words := strings.Fields(recordable(plaintext.Line(rest), maxLine))
	if len(words) == 0 {
		return "", "", false
	}
	return words[0], strings.Join(words[1:], " "), true
}
