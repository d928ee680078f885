package secrets

import (
	"bytes"
	"cmp"
	"strings"
)

// commentEnds finds the ends of comments. It caches what it found, since many strings may end
// at the same comments.
type commentEnds struct {
	text sourceText
	rows map[int]int // the ends of rows of comments, by their starts
	// line is the start of the last search for the end of a line, and that end. blocks are the same
	// for the marks that end comments. An end of -1 says that there is none.
	line   [2]int
	blocks map[string][2]int
}

// end is the end of a row of comments and spaces that begins at an offset, or 0.
func (c *commentEnds) end(at int) int {
	if end, ok := c.rows[at]; ok {
		return end
	}
	var begins []int
	i := at
	for i < len(c.text) {
		if end, ok := c.rows[i]; ok && end > 0 {
			i = end
			break
		}
		end := c.one(i)
		if end == 0 {
			break
		}
		begins = append(begins, i)
		for i = end; i < len(c.text) && strings.IndexByte(" \t\r\n", c.text[i]) >= 0; i++ {
		}
	}
	for _, b := range begins {
		c.rows[b] = i
	}
	if len(begins) == 0 {
		return 0
	}
	return i
}

// one is the end of one comment, or 0.
func (c *commentEnds) one(i int) int {
	if strings.IndexByte(commentBegins, c.text[i]) < 0 {
		return 0
	}
	rest := string(c.text[i:min(len(c.text), i+maxCommentMark)])
	for _, kind := range comments {
		switch {
		case !strings.HasPrefix(rest, kind.begin):
		case kind.end == "\n":
			return c.lineEnd(i)
		default:
			return c.blockEnd(i+len(kind.begin), kind.end)
		}
	}
	return 0
}

// lineEnd is the end of the line of an offset.
func (c *commentEnds) lineEnd(i int) int {
	if i > c.line[1] || i < c.line[0] || c.line[1] < 0 {
		end := bytes.IndexByte(c.text[i:], '\n')
		if end < 0 {
			end = len(c.text) - i
		}
		c.line = [2]int{i, i + end}
	}
	return c.line[1]
}

// blockEnd is the end of the first mark after an offset, or 0.
func (c *commentEnds) blockEnd(i int, mark string) int {
	last, ok := c.blocks[mark]
	if ok && last[0] <= i && i < last[1] {
		return last[1]
	}
	if ok && last[0] <= i && last[1] < 0 {
		return 0
	}
	end := bytes.Index(c.text[i:], []byte(mark))
	if end < 0 {
		c.blocks[mark] = [2]int{min(i, cmp.Or(last[0], i)), -1}
		return 0
	}
	end += i + len(mark)
	c.blocks[mark] = [2]int{i, end}
	return end
}
