package aggregate

import (
	"cmp"
	"slices"
)

// wording finds findings by the words of their titles.
type wording struct {
	rarity []int // the number of findings with each word
	by     map[wordIn][]attributed
}

// attributed is a finding and its only maker. The maker is empty if several made it.
type attributed struct {
	f     *item
	maker source
}

type wordIn struct {
	path string
	word int32
}

// The bounds of a search for a similar title in one file: how many findings that share a rare word
// are looked at, and how many of them are compared by all words. The search follows document order.
const (
	maxLooked   = 128
	maxCompared = 32
)

// newWording indexes the findings by the words that residuals need.
func newWording(findings, residuals []*item) *wording {
	x := &wording{by: map[wordIn][]attributed{}}
	for _, list := range [][]*item{findings, residuals} {
		for _, f := range list {
			x.count(f.title)
		}
	}
	for _, f := range residuals {
		for _, word := range f.title.words {
			x.by[wordIn{f.Path, word}] = nil
		}
	}
	for _, f := range findings {
		m := attributed{f, f.maker()}
		for _, word := range f.title.words {
			at := wordIn{f.Path, word}
			if list, ok := x.by[at]; ok {
				x.by[at] = append(list, m)
			}
		}
	}
	return x
}

func (x *wording) count(t *title) {
	for _, word := range t.words {
		for int(word) >= len(x.rarity) {
			x.rarity = append(x.rarity, 0)
		}
		x.rarity[word]++
	}
}

// rarest returns the words of a title, rarest first.
func (x *wording) rarest(t *title) []int32 {
	words := slices.Clone(t.words)
	slices.SortFunc(words, func(a, b int32) int {
		return cmp.Or(cmp.Compare(x.rarity[a], x.rarity[b]), cmp.Compare(a, b))
	})
	return words
}

// of returns a finding in f's file with a similar title that somebody else made, or nil.
func (x *wording) of(f *item) *item {
	if f.Path == "" {
		return nil
	}
	looked, compared := 0, 0
	for _, word := range x.rarest(f.title) {
		for _, other := range x.by[wordIn{f.Path, word}] {
			if looked++; looked > maxLooked || compared == maxCompared {
				return nil
			}
			if other.maker == f.source() {
				continue
			}
			compared++
			if f.title.alike(other.f.title) {
				return other.f
			}
		}
	}
	return nil
}
