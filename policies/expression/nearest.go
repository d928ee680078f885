package expression

import "github.com/reviewgate/reviewgate/policies/spelling"

// nearest returns the name that the word most likely means, or "". At most one letter in three may
// be wrong.
func nearest(word string, names []string) string {
	return spelling.Nearest(word, names, max(len(word)/3, 1))
}
