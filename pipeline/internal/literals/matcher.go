package literals

// Matcher finds literals in text, ignoring the case of ASCII letters. It is an Aho-Corasick
// automaton with all transitions in a table, so a byte costs two look-ups in any state. It does not
// change after NewMatcher, so any number of goroutines may use it.
type Matcher struct {
	column [256]uint32 // by byte; the bytes in no literal share column 0
	next   []uint32    // state + column -> state; a state is its row's offset
	report uint32      // the first state that ends a literal
	width  uint32
	ids    [][]int // by reporting state, the literals that end there
}

// node is a state while the automaton is being built.
type node struct {
	next []int // by column, 0 for none until link completes it
	fail int
	ids  []int
}

// NewMatcher builds the automaton for the literals. Empty literals are never found.
func NewMatcher(literals []string) *Matcher {
	m := &Matcher{width: 1}
	for _, l := range literals {
		for _, b := range []byte(lower(l)) {
			if m.column[b] == 0 {
				m.column[b] = m.width
				m.width++
			}
		}
	}
	for b := byte('a'); b <= 'z'; b++ {
		m.column[b-'a'+'A'] = m.column[b]
	}
	m.layOut(m.link(m.trie(literals)))
	return m
}

func (m *Matcher) trie(literals []string) []node {
	nodes := []node{{next: make([]int, m.width)}}
	for id, l := range literals {
		at := 0
		for _, b := range []byte(l) {
			c := m.column[b]
			if nodes[at].next[c] == 0 {
				nodes[at].next[c] = len(nodes)
				nodes = append(nodes, node{next: make([]int, m.width)})
			}
			at = nodes[at].next[c]
		}
		if at != 0 {
			nodes[at].ids = append(nodes[at].ids, id)
		}
	}
	return nodes
}

// link completes the transitions, breadth first: a missing transition goes where that of the
// longest proper suffix goes.
func (m *Matcher) link(nodes []node) []node {
	queue := []int{0}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		fail := nodes[at].fail
		if at != 0 {
			nodes[at].ids = append(nodes[at].ids, nodes[fail].ids...)
		}
		for c := range nodes[at].next {
			to := nodes[at].next[c]
			switch {
			case to == 0:
				nodes[at].next[c] = nodes[fail].next[c]
			case at == 0:
				queue = append(queue, to)
			default:
				nodes[to].fail = nodes[fail].next[c]
				queue = append(queue, to)
			}
		}
	}
	return nodes
}

// layOut writes the states into one table, with the reporting states last.
func (m *Matcher) layOut(nodes []node) {
	place := make([]uint32, len(nodes))
	var rows uint32
	for i, n := range nodes {
		if n.ids == nil {
			place[i] = rows * m.width
			rows++
		}
	}
	m.report = rows * m.width
	for i, n := range nodes {
		if n.ids != nil {
			place[i] = rows * m.width
			rows++
			m.ids = append(m.ids, n.ids)
		}
	}
	m.next = make([]uint32, rows*m.width)
	for i, n := range nodes {
		for c, to := range n.next {
			m.next[place[i]+uint32(c)] = place[to]
		}
	}
}

// Find calls hit for every position where literals end, with their indexes in the list given to
// NewMatcher and the offset after their last byte. The positions ascend.
func (m *Matcher) Find(text string, hit func(ids []int, end int)) {
	var state uint32
	for i := 0; i < len(text); i++ {
		state = m.next[state+m.column[text[i]]]
		if state >= m.report {
			hit(m.ids[(state-m.report)/m.width], i+1)
		}
	}
}

// lower converts the ASCII letters of s to lower case.
func lower(s string) string {
	b := []byte(s)
	lowerBytes(b)
	return string(b)
}

func lowerBytes(b []byte) {
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
}
