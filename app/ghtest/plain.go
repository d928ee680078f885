package ghtest

import (
	"bytes"
	"fmt"
	"strings"
)

// plainDiff writes the diff without git, as git would write it, if there is only one way to
// write it: files that were added, files that were removed, and files that were changed in one
// place. Plain is false for other changes; git is asked for those. To start git for every push
// would take most of a test's time.
func (ds *diffs) plainDiff(changes []change) (d *diff, plain bool) {
	d = &diff{}
	var raw strings.Builder
	var added, removed bool
	for _, c := range changes {
		added, removed = added || c.from == entry{}, removed || c.to == entry{}
		if added && removed {
			return nil, false // which may be a rename
		}
		f, section, plain := ds.plainFile(c)
		if !plain {
			return nil, false
		}
		raw.WriteString(section)
		f.setPatch(section)
		d.Files = append(d.Files, f)
		d.Additions += f.Additions
		d.Deletions += f.Deletions
	}
	d.Raw = raw.String()
	d.Lines = strings.Count(d.Raw, "\n")
	return d, true
}

// plainFile writes the section of one file.
func (ds *diffs) plainFile(c change) (f fileDiff, section string, plain bool) {
	if strings.IndexFunc(c.path, func(r rune) bool { return r <= ' ' || r == '"' || r == '\\' || r == 0x7f }) >= 0 {
		return f, "", false // which git quotes
	}
	old, plainOld := ds.plainText(c.from)
	text, plainNew := ds.plainText(c.to)
	h, plainHunk := changedOnce(old, text)
	if !plainOld || !plainNew || !plainHunk {
		return f, "", false
	}
	f = fileDiff{SHA: c.to.SHA, Path: c.path, Status: "modified", Additions: len(h.added), Deletions: len(h.removed)}
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git a/%s b/%s\n", c.path, c.path)
	before, after := c.from.SHA, c.to.SHA
	from, to := "a/"+c.path, "b/"+c.path
	switch {
	case c.from == entry{}:
		f.Status, before, from = "added", zeroSHA, "/dev/null"
		fmt.Fprintf(&b, "new file mode %s\n", c.to.Mode)
	case c.to == entry{}:
		f.Status, f.SHA, after, to = "removed", c.from.SHA, zeroSHA, "/dev/null"
		fmt.Fprintf(&b, "deleted file mode %s\n", c.from.Mode)
	case c.from.Mode != c.to.Mode:
		fmt.Fprintf(&b, "old mode %s\nnew mode %s\n", c.from.Mode, c.to.Mode)
	}
	if before == after {
		return f, b.String(), true
	}
	fmt.Fprintf(&b, "index %s..%s", before, after)
	if c.from.Mode == c.to.Mode {
		b.WriteString(" " + c.to.Mode)
	}
	b.WriteString("\n")
	if f.Additions+f.Deletions > 0 {
		fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
		h.write(&b, old)
	}
	return f, b.String(), true
}

// plainText returns the lines of a file that is text, and none of no file.
func (ds *diffs) plainText(e entry) (lines []string, plain bool) {
	if e == (entry{}) {
		return nil, true
	}
	o, there := ds.objects.get(e.SHA)
	// What git takes for binary has a zero byte near its beginning.
	if !there || e.Mode != "100644" && e.Mode != "100755" || bytes.IndexByte(o.data[:min(len(o.data), 8000)], 0) >= 0 {
		return nil, false
	}
	lines = strings.SplitAfter(string(o.data), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines, true
}

// hunk is the one place of a file that was changed: its lines after the first few.
type hunk struct {
	at             int
	removed, added []string
	after          []string
}

// changedOnce finds the one place at which a text was changed. Once is false if there is more
// than one way to describe the change: a line is both removed and added, or the change could
// lie one line higher or lower.
func changedOnce(old, text []string) (h hunk, once bool) {
	shared := min(len(old), len(text))
	for h.at < shared && old[h.at] == text[h.at] {
		h.at++
	}
	end := 0
	for end < shared-h.at && old[len(old)-1-end] == text[len(text)-1-end] {
		end++
	}
	h.removed, h.added, h.after = old[h.at:len(old)-end], text[h.at:len(text)-end], old[len(old)-end:]
	there := map[string]bool{}
	for _, line := range h.removed {
		there[line] = true
	}
	for _, line := range h.added {
		if there[line] {
			return h, false
		}
	}
	for _, group := range [][]string{h.removed, h.added} {
		if len(group) == 0 {
			continue
		}
		if h.at > 0 && old[h.at-1] == group[len(group)-1] || end > 0 && h.after[0] == group[0] {
			return h, false
		}
	}
	return h, true
}

// write writes the hunk with three lines around it and, like git, with the last
// line above that begins with a letter.
func (h hunk) write(b *strings.Builder, old []string) {
	const context = 3
	start := max(0, h.at-context)
	above, below := old[start:h.at], h.after[:min(context, len(h.after))]
	span := func(n int) string {
		from := start + 1
		if n == 0 {
			from--
		}
		if n == 1 {
			return fmt.Sprint(from)
		}
		return fmt.Sprintf("%d,%d", from, n)
	}
	around := len(above) + len(below)
	fmt.Fprintf(b, "@@ -%s +%s @@", span(around+len(h.removed)), span(around+len(h.added)))
	for n := start - 1; n >= 0; n-- {
		if c := old[n][0]; c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' {
			b.WriteString(" " + strings.TrimRight(old[n][:min(len(old[n]), 80)], " \t\r\n"))
			break
		}
	}
	b.WriteString("\n")
	for _, part := range []struct {
		sign  string
		lines []string
	}{{" ", above}, {"-", h.removed}, {"+", h.added}, {" ", below}} {
		for _, line := range part.lines {
			b.WriteString(part.sign)
			b.WriteString(line)
			if !strings.HasSuffix(line, "\n") {
				b.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
}
