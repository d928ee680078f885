package publish

import (
	"sync"
)

// FollowedHeads are the heads that reads showed and no event told of, by target,
// until the work on it is done.
type FollowedHeads struct {
	mu sync.Mutex
	m  map[string]string
}

// Set notes a head, or with an empty one that there is none any more.
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
