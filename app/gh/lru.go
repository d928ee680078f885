package gh

import (
	"container/list"
	"sync"
)

// lru keeps the most recently used values, up to a total cost. It is safe for
// concurrent use.
type lru[V any] struct {
	mu    sync.Mutex
	max   int64
	cost  int64
	order *list.List // of *lruEntry[V], last used first
	byKey map[string]*list.Element
}

type lruEntry[V any] struct {
	key   string
	value V
	cost  int64
}

func newLRU[V any](maxCost int64) *lru[V] {
	return &lru[V]{max: maxCost, order: list.New(), byKey: map[string]*list.Element{}}
}

func (l *lru[V]) get(key string) (V, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.byKey[key]
	if !ok {
		var none V
		return none, false
	}
	l.order.MoveToFront(e)
	return e.Value.(*lruEntry[V]).value, true
}

// add stores a value, and replaces an older value of the same key. It does not store a
// value that costs more than an eighth of the total: too many others would have to go.
func (l *lru[V]) add(key string, value V, cost int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(key)
	if cost > l.max/8 {
		return
	}
	l.byKey[key] = l.order.PushFront(&lruEntry[V]{key, value, cost})
	l.cost += cost
	for l.cost > l.max {
		l.drop(l.order.Back().Value.(*lruEntry[V]).key)
	}
}

func (l *lru[V]) remove(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(key)
}

func (l *lru[V]) drop(key string) {
	if e, ok := l.byKey[key]; ok {
		l.order.Remove(e)
		delete(l.byKey, key)
		l.cost -= e.Value.(*lruEntry[V]).cost
	}
}

// httpCache is the bounded cache in which go-githubapp's HTTP cache stores its
// answers. All clients can share it: URLs distinguish repositories, and every answer is
// validated with the calling client's own token before it is used.
type httpCache struct{ *lru[[]byte] }

func (c *httpCache) Get(key string) ([]byte, bool) { return c.get(key) }
func (c *httpCache) Set(key string, answer []byte) { c.add(key, answer, int64(len(answer))) }
func (c *httpCache) Delete(key string)             { c.remove(key) }
