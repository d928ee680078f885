package gh

import "github.com/reviewgate/reviewgate/pipeline/lru"

// newLRU returns a cache that does not store a value that costs more than an eighth of the
// total: too many others would have to go.
func newLRU[V any](most int64) *lru.Cache[string, V] { return lru.New[string, V](most, most/8) }

// httpCache is the bounded cache in which go-githubapp's HTTP cache stores its
// answers. All clients can share it: URLs distinguish repositories, and every answer is
// validated with the calling client's own token before it is used.
type httpCache struct{ *lru.Cache[string, []byte] }

func (c *httpCache) Set(key string, answer []byte) { c.Add(key, answer, int64(len(answer))) }
func (c *httpCache) Delete(key string)             { c.Remove(key) }
