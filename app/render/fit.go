package render

import (
	"math"
	"strings"
)

// GitHub's limits. A comment has 65,536 characters, a check's summary and text
// 65,535 bytes each. Bytes are the strictest way to count, so that no other
// way can be exceeded; the rest is room for what GitHub may count besides.
const (
	maxBody   = 65_000
	unlimited = math.MaxInt
)

// What the sections that list things may take, in bytes, so that none can
// push the findings out; those below the findings a quarter of it where there
// are too many findings. Together, and with as many notices as there may be, they
// leave findings a fifth of maxBody at the worst, and nearly all of it on most pull
// requests.
const (
	roomProblems    = 4000
	roomShared      = 1000
	roomTable       = 4000
	roomResolved    = 6000
	roomAside       = 6000
	roomReports     = 6000
	roomDisputed    = 6000
	roomCoverage    = 10_000
	roomGaps        = 8000
	roomProposed    = 4000
	roomLoop        = 3000 // each of the places of an attempt, and the history of attempts
	roomMachine     = 6000 // of the machine-readable section
	roomUnconfirmed = 3000
	roomRun         = 1000            // the footer's run id, time and link, and the section's time
	roomDetails     = maxDetails + 30 // each other link to the details page
)

// items are the parts of a list. Each is put into words only when it is needed, so
// that a long list costs no more than the items that fit.
type items struct {
	n  int
	at func(i int) safe
}

func listOf(list []safe) items {
	return items{len(list), func(i int) safe { return list[i] }}
}

// each makes items of a slice.
func each[T any](list []T, word func(*T) safe) items {
	return items{len(list), func(i int) safe { return word(&list[i]) }}
}

// then returns both lists, one after the other.
func (it items) then(more items) items {
	return items{it.n + more.n, func(i int) safe {
		if i < it.n {
			return it.at(i)
		}
		return more.at(i - it.n)
	}}
}

// more says how many further items there are, and where.
type more struct {
	N       int
	Details safe
}

// moreOf counts the items that a list leaves out.
func moreOf(n int) safe {
	return say("more", more{N: n})
}

// first words at most limit items of a list, and counts the others.
func first[T any](list []T, limit int, word func(T) safe) []safe {
	var out []safe
	for i, item := range list {
		if i == limit {
			return append(out, moreOf(len(list)-i))
		}
		out = append(out, word(item))
	}
	return out
}

// bullet is a line break, a quote and a bullet, in bytes.
const bullet = 5

// take returns the items that fit into room bytes, with a bullet each, and how
// many do not.
func (it items) take(room int) (fits []safe, more int) {
	for i := range it.n {
		item := it.at(i)
		if room -= len(item) + bullet; room < 0 {
			return fits, it.n - i
		}
		fits = append(fits, item)
	}
	return fits, 0
}

func (it items) all() []safe {
	fits, _ := it.take(unlimited)
	return fits
}

// fit chooses how each of n findings, worst first, is shown in room bytes: long,
// short, or not at all. After a finding that is not shown, no other is shown. If all
// fit in short, as many of the worst as possible are long. Otherwise half of the room
// goes to long ones.
func fit(n, room int, long, short func(i int) safe) []safe {
	if room >= unlimited {
		return items{n, long}.all()
	}
	shorts, total := []safe(nil), 0
	for i := 0; i < n && total <= room; i++ {
		s := short(i)
		shorts = append(shorts, s)
		total += len(s) + 2
	}
	all := len(shorts) == n && total <= room
	spare := room / 2
	if all {
		spare = room - total
	}
	var out []safe
	for i, s := range shorts {
		if spare > 0 {
			l := long(i)
			extra := len(l) + 2
			if all {
				extra = len(l) - len(s)
			}
			if extra <= spare && len(l)+2 <= room {
				s, spare = l, spare-extra
			} else if !all {
				spare = 0
			}
		}
		if room -= len(s) + 2; room < 0 {
			break
		}
		out = append(out, s)
	}
	return out
}

// lines joins lines, and blocks joins blocks with a blank line between.
func lines(items []safe) safe { return joined(items, "\n") }

func blocks(items []safe) safe { return joined(items, "\n\n") }

func joined(items []safe, sep string) safe {
	var b strings.Builder
	for _, item := range items {
		if item == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(sep)
		}
		b.WriteString(string(item))
	}
	return safe(b.String())
}
