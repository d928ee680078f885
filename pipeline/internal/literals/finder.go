package literals

import "strings"

// Finder finds literals in text like a [Matcher], but in no order. It suits callers that need few
// of them at a time: a [Filter] reads text without its own literals at about a nanosecond a byte,
// however many literals the Finder has. It looks for the four bytes of each literal that are rarest
// in code, or for the three or two bytes of a shorter literal, and compares the rest only there. It
// does not change after NewFinder, so any number of goroutines may use it.
type Finder struct {
	list   []entry // from index 1 on
	quads  []int32 // by hash, the first entry with a key of four bytes, or 0
	threes []int32 // by hash, the first with a key of three bytes, or 0
	pairs  []int32 // by hash, the first with a key of two bytes, or 0
	ones   []int   // literals of one byte
	all    *Filter
}

// entry is one literal in lower case.
type entry struct {
	text string
	key  uint32 // the bytes that are looked for, folded
	at   int    // their position in the literal
	ids  []int  // indexes in the list given to NewFinder
	next int32  // the next entry with the same hash, or 0
}

// Filter finds a selection of a Finder's literals.
type Filter struct {
	finder *Finder
	quads  [1 << 11]uint32 // a bit for each hash of a key of four bytes, or of the last three
	pairs  [1 << 11]uint32 // a bit for each two bytes, folded
	short  bool            // there is a key of two bytes or one
	any    bool
}

// fold is the bit in which lower and upper case differ, for each of four bytes. Other bytes that
// differ only in this bit count as equal too, until they are compared.
const fold = 0x20202020

// hash distributes four bytes over 16 bits. The multiplier is 2^32 divided by the golden ratio.
func hash(quad uint32) uint32 { return quad * 0x9E3779B1 >> 16 }

// NewFinder builds the tables for the literals. Empty ones are never found.
func NewFinder(words []string) *Finder {
	size := 1 << 8
	for size < 2*len(words) {
		size *= 2
	}
	f := &Finder{list: make([]entry, 1), quads: make([]int32, size), threes: make([]int32, 1<<8), pairs: make([]int32, 1<<8)}
	at := map[string]int{}
	for id, w := range words {
		w = lower(w)
		switch i, ok := at[w]; {
		case w == "":
		case ok:
			f.list[i].ids = append(f.list[i].ids, id)
		default:
			at[w] = len(f.list)
			f.put(entry{text: w, ids: []int{id}})
		}
	}
	f.all = f.Only(func(int) bool { return true })
	return f
}

// put adds an entry to the table for its length.
func (f *Finder) put(e entry) {
	n := int32(len(f.list))
	switch {
	case len(e.text) >= 4:
		e.at = f.rarest(e.text)
		e.key = keyAt(e.text, e.at, 4)
		first := f.quad(e.key)
		e.next, *first = *first, n
	case len(e.text) == 3:
		e.key = keyAt(e.text, 0, 3)
		first := f.three(e.key)
		e.next, *first = *first, n
	case len(e.text) == 2:
		e.key = keyAt(e.text, 0, 2)
		first := f.pair(e.key)
		e.next, *first = *first, n
	default:
		f.ones = append(f.ones, len(f.list))
	}
	f.list = append(f.list, e)
}

func (f *Finder) quad(key uint32) *int32 { return &f.quads[hash(key)&uint32(len(f.quads)-1)] }

func (f *Finder) three(key uint32) *int32 {
	return &f.threes[hash(key)&uint32(len(f.threes)-1)]
}

func (f *Finder) pair(key uint32) *int32 { return &f.pairs[hash(key)&uint32(len(f.pairs)-1)] }

// keyAt returns n bytes of a text, folded, with the first in the lowest bits.
func keyAt(text string, at, n int) uint32 {
	var key uint32
	for i := range n {
		key |= (uint32(text[at+i]) | fold&0xFF) << (8 * i)
	}
	return key
}

// frequent are the most frequent bytes of code, in descending order.
const frequent = " etnra\tsiolcdpufmhg.()\",y=_b-:vkwx/"

// rarest is the position of the four bytes in a text that are rarest in code. Among equally rare
// ones it prefers those with the fewest other entries.
func (f *Finder) rarest(text string) int {
	best, least := 0, 0
	for i := range len(text) - 3 {
		cost := 0
		for j := i; j < i+4; j++ {
			if at := strings.IndexByte(frequent, text[j]); at >= 0 {
				cost += 4 + (len(frequent)-at)/2
			}
		}
		for e := *f.quad(keyAt(text, i, 4)); e != 0; e = f.list[e].next {
			cost += 2
		}
		if i == 0 || cost < least {
			best, least = i, cost
		}
	}
	return best
}

// All is the filter for all literals.
func (f *Finder) All() *Filter { return f.all }

// Only returns the filter for the literals for which wanted returns true, by their indexes in the
// list given to NewFinder.
func (f *Finder) Only(wanted func(id int) bool) *Filter {
	out := &Filter{finder: f}
	for i := range f.list[1:] {
		e := &f.list[1+i]
		want := false
		for _, id := range e.ids {
			want = want || wanted(id)
		}
		switch {
		case !want:
			continue
		case len(e.text) >= 4:
			h := hash(e.key)
			out.quads[h/32] |= 1 << (h % 32)
		case len(e.text) == 3:
			for before := range uint32(256) {
				h := hash(before | fold&0xFF | e.key<<8)
				out.quads[h/32] |= 1 << (h % 32)
			}
		case len(e.text) == 2:
			out.pairs[e.key/32] |= 1 << (e.key % 32)
			out.short = true
		default:
			out.short = true
			for other := range uint32(256) {
				key := other | fold&0xFF | uint32(e.text[0])<<8 | fold&0xFF00
				out.pairs[key/32] |= 1 << (key % 32)
			}
		}
		out.any = true
	}
	return out
}

// Find calls hit for every position where wanted literals end, with their indexes in the list given
// to NewFinder and the offset after their last byte. It may also call hit for other literals.
func (f *Filter) Find(text string, hit func(ids []int, end int)) {
	switch {
	case !f.any:
	case f.short:
		f.findAll(text, hit)
	default:
		f.findLong(text, hit)
	}
}

func (f *Filter) findAll(text string, hit func(ids []int, end int)) {
	var quad uint32
	for i := range len(text) {
		quad = quad>>8 | uint32(text[i])<<24
		folded := quad | fold
		h, pair := hash(folded), folded>>16
		if (f.quads[h/32]>>(h%32)|f.pairs[pair/32]>>(pair%32))&1 == 0 {
			continue
		}
		f.finder.compare(*f.finder.quad(folded), folded, text, i-3, hit)
		f.finder.compare(*f.finder.three(folded >> 8), folded>>8, text, i-2, hit)
		f.finder.compare(*f.finder.pair(pair), pair, text, i-1, hit)
		for _, e := range f.finder.ones {
			f.finder.list[e].compare(text, i, hit)
		}
	}
}

func (f *Filter) findLong(text string, hit func(ids []int, end int)) {
	var quad uint32
	for i := range len(text) {
		quad = quad>>8 | uint32(text[i])<<24
		if h := hash(quad | fold); f.quads[h/32]>>(h%32)&1 != 0 {
			folded := quad | fold
			f.finder.compare(*f.finder.quad(folded), folded, text, i-3, hit)
			f.finder.compare(*f.finder.three(folded >> 8), folded>>8, text, i-2, hit)
		}
	}
}

// compare compares the entries from e on whose key is at a position.
func (f *Finder) compare(e int32, key uint32, text string, at int, hit func(ids []int, end int)) {
	for ; e != 0; e = f.list[e].next {
		if f.list[e].key == key {
			f.list[e].compare(text, at, hit)
		}
	}
}

func (e *entry) compare(text string, at int, hit func(ids []int, end int)) {
	from := at - e.at
	if to := from + len(e.text); from >= 0 && to <= len(text) && isLower(text[from:to], e.text) {
		hit(e.ids, to)
	}
}

// isLower reports whether a text equals low in lower case. Both have the same length.
func isLower(text, low string) bool {
	for i := range len(text) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != low[i] {
			return false
		}
	}
	return true
}
