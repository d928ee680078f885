package app

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// restAfter is how long no job must have run before memory is given back. Giving it back
// takes some tens of milliseconds, which then delay nobody.
const restAfter = 5 * time.Second

// rest gives memory back to the system when the server becomes idle. Allocations make Go's
// garbage collector run. Without rest, an idle server would keep the memory of its last
// reviews for minutes, and part of it for good. Compiled configs and idle connections go too:
// they are few bytes, but spread over many pages, none of which could be given back. The next
// review compiles its config again, in about 60 ms.
type rest struct {
	give    func() // gives memory back
	mu      sync.Mutex
	running int
	timer   *time.Timer
}

// begun records that a job runs. Call end when the job has ended.
func (r *rest) begun() (end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running++
	if r.timer != nil {
		r.timer.Stop()
	}
	return r.ended
}

func (r *rest) ended() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running--; r.running > 0 {
		return
	}
	if r.timer == nil {
		r.timer = time.AfterFunc(restAfter, r.giveBack)
		return
	}
	r.timer.Reset(restAfter)
}

func (r *rest) giveBack() {
	if !r.busy() {
		r.give()
	}
}

// busy reports whether a job runs.
func (r *rest) busy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running > 0
}

// stop keeps memory from being given back after the server has ended.
func (r *rest) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running++ // for good
	if r.timer != nil {
		r.timer.Stop()
	}
}

func giveBack() {
	runtime.GC() // pools keep what they hold until the second collection
	debug.FreeOSMemory()
	releaseCode()
}
