package webhook

import (
	"context"
	"errors"
	"sync"
	"time"
)

// room is memory that bodies share while they are read. A body takes memory as its bytes
// arrive, not as the request promises. When the memory is used up, a body that needs
// more waits, and bodies that arrive more slowly than slowest are closed to make room.
type room struct {
	limit int64

	mu     sync.Mutex
	used   int64
	bodies map[*guest]bool
	freed  chan struct{} // closed and replaced whenever memory is given back
}

// slowest is the pace that a body must keep while others need its memory, in bytes per
// second. A body may fall behind by the grace, which is longer than GitHub's own pauses.
const (
	slowest = 8 << 10
	grace   = 2 * time.Second
)

// recheck is how long a waiting body sleeps before it looks again for bodies that have
// become slow.
const recheck = 250 * time.Millisecond

var (
	errBusy = errors.New("too many large bodies at once")
	errSlow = errors.New("slower than 8 KB/s while others wait")
)

// guest is a body in a room.
type guest struct {
	held  int64
	until time.Time // when it becomes slow unless more bytes arrive
	close func()    // ends the read that is under way
	slow  bool      // it was closed
}

func newRoom(limit int64) *room {
	return &room{limit: limit, bodies: map[*guest]bool{}, freed: make(chan struct{})}
}

func (r *room) enter(closing func()) *guest {
	g := &guest{until: time.Now().Add(grace), close: closing}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bodies[g] = true
	return g
}

func (r *room) leave(g *guest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(g)
}

// drop gives a body's memory back to the room. Call it with the lock held.
func (r *room) drop(g *guest) {
	if !r.bodies[g] {
		return
	}
	delete(r.bodies, g)
	r.used -= g.held
	g.held = 0
	close(r.freed)
	r.freed = make(chan struct{})
}

// came notes that n bytes of a body arrived. Each byte gives the body as much time as the
// byte takes at the slowest pace, up to the grace.
func (r *room) came(g *guest, n int) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if g.until.Before(now) {
		g.until = now
	}
	g.until = g.until.Add(time.Duration(n) * time.Second / slowest)
	if most := now.Add(grace); g.until.After(most) {
		g.until = most
	}
}

// take gives a body n more bytes. It waits at most maxWait, and closes slow bodies
// meanwhile. The error is errSlow if this body was closed, and errBusy otherwise.
func (r *room) take(ctx context.Context, g *guest, n int64) error {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	for {
		freed, err := r.try(g, n)
		if freed == nil || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return errBusy
		case <-freed:
		case <-time.After(recheck):
		}
	}
}

// try closes slow bodies if necessary, and gives a body n bytes if there is room for
// them. It returns nil, or a channel to wait for.
func (r *room) try(g *guest, n int64) (<-chan struct{}, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.used+n > r.limit {
		slow := r.slowest(g)
		if slow == nil {
			break
		}
		slow.slow = true
		slow.close()
		r.drop(slow)
	}
	switch {
	case g.slow:
		return nil, errSlow
	case r.used+n > r.limit:
		return r.freed, nil
	}
	r.used, g.held = r.used+n, g.held+n
	return nil, nil
}

// slowest returns the body other than g that is furthest behind the pace, or nil if all
// keep it.
func (r *room) slowest(g *guest) *guest {
	var out *guest
	now := time.Now()
	for b := range r.bodies {
		if b != g && b.held > 0 && b.until.Before(now) && (out == nil || b.until.Before(out.until)) {
			out = b
		}
	}
	return out
}

// closed reports whether a body was closed for being slow.
func (r *room) closed(g *guest) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return g.slow
}
