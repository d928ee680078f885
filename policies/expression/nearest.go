package expression

import "strings"

// nearest returns the name that was most likely meant by the word, or "": at
// most one letter in three may be wrong.
func nearest(word string, names []string) string {
	const longest = 40 // no name is longer
	if len(word) > longest {
		return ""
	}
	best, distance := "", max(len(word)/3, 1)+1
	for _, name := range names {
		if d := edits(strings.ToLower(word), strings.ToLower(name)); d < distance {
			best, distance = name, d
		}
	}
	return best
}

// edits counts the letters to leave out, add, replace or swap with the next
// one to turn a into b.
func edits(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			d := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				d++
			}
			d = min(d, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
