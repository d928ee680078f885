package render

import (
	"math"
	"strings"
)

// GitHub allows a comment 65,536 characters, and a check's summary and text 65,535 bytes
// each. A text never has more characters than bytes, so we count bytes. The difference is
// a reserve.
const (
	maxBody   = 65_000
	unlimited = math.MaxInt
)

// The room for each section with a list, in bytes, so that no section can push the
// findings out. Sections below the findings get a quarter of it if there are too many
// findings. In the worst case, with all notices, the findings still have a fifth of
// maxBody; on most pull requests they have nearly all of it.
const (
	roomProblems      = 4000
	roomShared        = 1000
	roomTable         = 4000
	roomResolved      = 6000
	roomAside         = 6000
	roomReports       = 6000
	roomDisputed      = 6000
	roomCoverage      = 10_000
	roomGaps          = 8000
	roomProposed      = 4000
	roomEvaluation    = 3000
	roomBacktest      = 3000
	roomLoop          = 3000 // each of the places of an attempt, and the history of attempts
	roomMachine       = 6000 // the machine-readable section
	roomSession       = 5000 // the table of reviewers
	roomPeople        = 1000 // the people who are mentioned
	roomBlockers      = 2000 // the blockers' summaries in the alert
	roomSessionNotes  = 2000
	roomClarification = 6000
	roomUnconfirmed   = 3000
	roomRun           = 1000            // the footer's run id, time and link, and the section's time
	roomDetails       = maxDetails + 30 // each other link to the details page
)

// items is a list whose items are put into words only when they are needed, so that a
// long list costs no more than the items that fit.
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

// more counts the items that a list leaves out, and links to them.
type more struct {
	N       int
	Details safe
}

// moreOf counts the items that a list leaves out.
func moreOf(n int) safe {
	return say("more", more{N: n})
}

// first puts at most limit items of a list into words, and counts the others.
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

// bullet is the size of a line break, a quote mark and a bullet, in bytes.
const bullet = 5

// take returns the items that fit into room bytes, with a bullet each. more counts the
// others.
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

// fit chooses for each of n findings, worst first, whether it is shown long, short or
// not at all in room bytes. It shows no finding after one that it leaves out. If all fit
// in short form, as many of the worst as possible are long. Otherwise half of the room
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

// lines joins items by line breaks, and blocks by blank lines. Both skip empty items.
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
