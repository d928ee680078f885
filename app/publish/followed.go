package publish

import (
	"sync"
)

// FollowedHeads holds, by target, heads that were read from GitHub but that no event
// reported. An entry is removed when the work on the target is done.
type FollowedHeads struct {
	mu sync.Mutex
	m  map[string]string
}

// Set stores the head of a target. An empty head removes the entry.
func (f *FollowedHeads) Set(key, headSHA string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if headSHA == "" {
		delete(f.m, key)
		return
	}
	if f.m == nil {
		f.m = map[string]string{}
	}
	f.m[key] = headSHA
}

func (f *FollowedHeads) is(key, headSHA string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.m[key] == headSHA
}
