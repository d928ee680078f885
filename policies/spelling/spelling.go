// Package spelling suggests the existing name that a misspelt one probably means.
package spelling

import "strings"

// Longer words and lists are not searched, because that would take too long.
const (
	longestWord = 80
	mostNames   = 1000
)

// Nearest returns the name that differs from the word by the fewest slips, at most the given
// number, or "". The case of letters does not count as a slip, and a word is not its own
// correction.
func Nearest(word string, names []string, slips int) string {
	if len(word) > longestWord || len(names) > mostNames {
		return ""
	}
	best, distance := "", slips+1
	for _, name := range names {
		if len(name)-len(word) >= distance || len(word)-len(name) >= distance {
			continue
		}
		if d := Slips(strings.ToLower(word), strings.ToLower(name)); name != word && d < distance {
			best, distance = name, d
		}
	}
	return best
}

// Slips counts the letters that are missing, added, replaced, or swapped with the next one between
// two words.
func Slips(a, b string) int {
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
