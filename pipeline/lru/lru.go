// Package lru keeps the values that were used last.
package lru

import (
	"container/list"
	"sync"
)

// Cache keeps the most recently used values, up to a total cost. It is safe for concurrent
// use.
type Cache[K comparable, V any] struct {
	mu            sync.Mutex
	most, largest int64
	cost          int64
	order         *list.List // of *entry[K, V], last used first
	byKey         map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
	cost  int64
}

// New returns an empty cache. All values together cost at most most, and each at most largest,
// which is not more than most.
func New[K comparable, V any](most, largest int64) *Cache[K, V] {
	return &Cache[K, V]{most: most, largest: largest, order: list.New(), byKey: map[K]*list.Element{}}
}

// Get returns the value of a key, if there is one.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// Add stores a value, and replaces an older value of the same key. It does not store a value
// that costs too much.
func (c *Cache[K, V]) Add(key K, value V, cost int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(key)
	if cost > c.largest {
		return
	}
	c.byKey[key] = c.order.PushFront(&entry[K, V]{key, value, cost})
	c.cost += cost
	for c.cost > c.most {
		c.drop(c.order.Back().Value.(*entry[K, V]).key)
	}
}

// Remove removes the value of a key, if there is one.
func (c *Cache[K, V]) Remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(key)
}

// Clear removes all values.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.order.Init()
	clear(c.byKey)
	c.cost = 0
}

// Len returns how many values there are.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.byKey)
}

func (c *Cache[K, V]) drop(key K) {
	if e, ok := c.byKey[key]; ok {
		c.order.Remove(e)
		delete(c.byKey, key)
		c.cost -= e.Value.(*entry[K, V]).cost
	}
}
