package sample

import (
	"runtime"
	"sync/atomic"
	"time"
)

// WatchHeap samples the heap in use, including garbage, every 5 ms. It returns a function that
// stops the sampling and returns the peak in bytes.
func WatchHeap() func() uint64 {
	var most atomic.Uint64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most.Store(max(most.Load(), m.HeapInuse))
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() uint64 {
		close(stop)
		<-stopped
		return most.Load()
	}
}
