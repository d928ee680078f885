package gh

import (
	"context"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/pipeline/lru"
)

// organisations caches the layers that were read recently, by installation and
// account. It does not cache failures.
type organisations struct {
	known     *lru.Cache[string, organisation]
	uncovered *lru.Cache[string, time.Time] // when GitHub refused a token for .github

	mu      sync.Mutex
	reading map[string]*reading
}

func newOrganisations() *organisations {
	return &organisations{
		known: newLRU[organisation](maxOrganisations), uncovered: newLRU[time.Time](maxUncovered), reading: map[string]*reading{},
	}
}

// begin joins a reading, or begins one if none is in progress.
func (o *organisations) begin(key string) (r *reading, first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r, ok := o.reading[key]; ok {
		return r, false
	}
	r = &reading{done: make(chan struct{}), err: context.Canceled} // stays if the reading panics
	o.reading[key] = r
	return r, true
}

func (o *organisations) end(key string, r *reading) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.reading[key] == r {
		delete(o.reading, key)
	}
	close(r.done)
}

// keep caches the result of a reading, unless ForgetConfig was called meanwhile.
func (o *organisations) keep(key string, r *reading, org organisation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.reading[key] != r {
		return
	}
	const overhead = 256 // approximate cost of an entry
	cost := int64(overhead)
	for _, f := range org.source.Files {
		cost += overhead + int64(len(f.Text))
	}
	o.known.Add(key, org, cost)
}
