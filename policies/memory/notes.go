package memory

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// Notes are what memory tells a language model about files of one service.
type Notes struct {
	Service        string // "" for files of no service
	FalsePositives []pipeline.FalsePositive
	Recurring      []pipeline.RecurringFinding
}

// NotesOn returns the notes on files, by service: one for each service that has one of the files, in
// the order of services, and a last one without a service if a file belongs to none. A file of a
// service is not told what is known of the rest of the repository. A false positive with globs is
// left out if none of the files matches; if a glob is not valid, none does. One that was taught on a
// finding that blocked is always left out.
//
// False positives are in the order of their ids. Recurring findings are in the order of frequency
// and of what they are about. Of these, only what stays the same from review to review is
// told: every review counts up, and if that changed the notes, no answer of a model could be carried
// over. So Severity, LastSeen and Example are not set, and Frequency is rounded down to a step.
func NotesOn(m *pipeline.Memory, services []pipeline.Service, paths []string) (all []Notes) {
	wanted := map[string]bool{}
	for _, p := range paths {
		wanted[p] = true
	}
	for _, s := range services {
		var own []string
		for _, p := range s.Files {
			if wanted[p] {
				own = append(own, p)
			}
		}
		if len(own) > 0 {
			all = append(all, notesOn(m, s.ID, own))
		}
	}
	for _, s := range services {
		for _, p := range s.Files {
			delete(wanted, p)
		}
	}
	if len(wanted) > 0 {
		rest := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !wanted[p] })
		all = append(all, notesOn(m, "", rest))
	}
	return all
}

func notesOn(m *pipeline.Memory, service string, paths []string) Notes {
	n := Notes{Service: service, FalsePositives: covering(m.FalsePositives, service, paths)}
	slices.SortFunc(n.FalsePositives, func(a, b pipeline.FalsePositive) int {
		return pipeline.CompareRecords(a.Record, b.Record)
	})
	for _, r := range m.Recurring {
		if r.Service == service && r.Frequency >= LeastRecurring {
			n.Recurring = append(n.Recurring, pipeline.RecurringFinding{
				Service: r.Service, Rule: r.Rule, Category: r.Category, Title: r.Title, Frequency: step(r.Frequency),
			})
		}
	}
	slices.SortFunc(n.Recurring, func(a, b pipeline.RecurringFinding) int {
		return cmp.Or(b.Frequency-a.Frequency,
			strings.Compare(a.Rule, b.Rule), strings.Compare(a.Category, b.Category), strings.Compare(a.Title, b.Title))
	})
	return n
}

// covering returns the false positives of a service that are about one of its files.
func covering(list []pipeline.FalsePositive, service string, paths []string) (out []pipeline.FalsePositive) {
	var globs []string
	owner := map[int]int{} // by index in globs: index in list
	covers := map[int]bool{}
	for i := range list {
		switch f := &list[i]; {
		case f.Service != service || f.Blocked:
		case len(f.Globs) == 0:
			covers[i] = true
		case !slices.ContainsFunc(f.Globs, func(g string) bool { return glob.Validate(g) != nil }):
			for _, g := range f.Globs {
				owner[len(globs)] = i
				globs = append(globs, g)
			}
		}
	}
	if set, err := glob.Compile(globs); err == nil {
		for _, p := range paths {
			for _, g := range set.Match(p) {
				covers[owner[g]] = true
			}
		}
	}
	for i := range list {
		if covers[i] {
			out = append(out, list[i])
		}
	}
	return out
}

// LeastRecurring is in how many pull requests a pattern was found before it is told.
const LeastRecurring = 3

// step rounds a count down to LeastRecurring, or to 1, 2 or 5 times a power of ten from 5 to 5,000.
func step(n int) int {
	for power := 1000; power > 0; power /= 10 {
		for _, digit := range []int{5, 2, 1} {
			if at := digit * power; n >= at && at > LeastRecurring {
				return at
			}
		}
	}
	return LeastRecurring
}
