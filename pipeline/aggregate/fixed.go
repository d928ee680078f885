package aggregate

import (
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
)

// fixed indexes the findings that earlier heads had, newest first.
type fixed struct {
	all []pipeline.FixedFinding
	at  map[string]int // the newest entry of a fingerprint
}

func newFixed(all []pipeline.FixedFinding) fixed {
	x := fixed{all: all, at: make(map[string]int, len(all))}
	for i := range all {
		if _, newer := x.at[all[i].Fingerprint]; !newer {
			x.at[all[i].Fingerprint] = i
		}
	}
	return x
}

// recognise records on a new finding that it was there before, and which head fixed it last.
func (x fixed) recognise(f *item) {
	newest := len(x.all)
	for _, id := range f.Fingerprints {
		if i, ok := x.at[id]; ok {
			newest = min(newest, i)
		}
	}
	if newest < len(x.all) {
		sha := x.all[newest].HeadSHA
		f.addReasonOf(pipeline.ReasonBack, sha[:min(7, len(sha))])
	}
}

// next returns what the next review has to know: what this head fixed, then what earlier heads
// fixed and is not back.
func (x fixed) next(findings []*item, gone []pipeline.FixedFinding) pipeline.List[pipeline.FixedFinding] {
	seen := map[string]bool{}
	for _, f := range findings {
		addTo(seen, f.Fingerprints)
	}
	var out pipeline.List[pipeline.FixedFinding]
	for _, g := range slices.Concat(gone, x.all) {
		if len(out) == pipeline.MaxFixed {
			break
		}
		if !seen[g.Fingerprint] {
			seen[g.Fingerprint] = true
			out = append(out, g)
		}
	}
	return out
}
