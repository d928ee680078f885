package render

import "strings"

// plainPen writes plain text for the terminal, and for titles and messages that GitHub
// does not render as markdown. It makes control characters visible, so that no text can
// move the cursor or colour the screen.
type plainPen struct{}

var _ pen = plainPen{}

func (plainPen) text(s string, limit int) safe { return safe(oneLine(s, limit)) }

func (plainPen) para(s string, limit int) safe {
	return safe(strings.Join(paragraphs(s, limit), "\n"))
}

func (plainPen) code(s string, limit int) safe { return safe(literal(s, limit)) }

func (plainPen) link(label safe, _ string) safe { return label }

func (plainPen) block(_ string, lines []string) safe { return safe(strings.Join(lines, "\n")) }
