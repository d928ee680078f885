package lru

import (
	"slices"
	"testing"
)

func TestCache(t *testing.T) {
	c := New[string, int](10, 5)
	for i, key := range []string{"a", "b", "c"} {
		c.Add(key, i, 3)
	}
	c.Get("a")
	c.Add("d", 3, 4) // b was used longest ago
	c.Add("c", 20, 3)
	c.Add("e", 4, 6) // too large
	var there []string
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		if _, ok := c.Get(key); ok {
			there = append(there, key)
		}
	}
	if want := []string{"a", "c", "d"}; !slices.Equal(there, want) || c.Len() != 3 {
		t.Errorf("there are %v, want %v", there, want)
	}
	if v, _ := c.Get("c"); v != 20 {
		t.Errorf("c is %d, want its newer value, 20", v)
	}
	c.Add("c", 30, 6) // too large, and the older value is gone all the same
	c.Remove("a")
	c.Add("f", 5, 5)
	if v, ok := c.Get("d"); !ok || v != 3 || c.Len() != 2 {
		t.Errorf("d is %d, %v, of %d values", v, ok, c.Len())
	}
}
