package app

import (
	"testing"
	"testing/synctest"
	"time"
)

// Memory is given back once, some time after the last job has ended. That does not happen
// while a job runs or after the server has ended.
func TestRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		given := 0
		r := rest{give: func() { given++ }}
		wait := func(d time.Duration, want int, when string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if given != want {
				t.Errorf("memory was given back %d times %s, want %d", given, when, want)
			}
		}
		one, two := r.begun(), r.begun()
		one()
		wait(time.Minute, 0, "while a job runs")
		two()
		wait(restAfter-time.Second, 0, "too early")
		three := r.begun()
		wait(time.Minute, 0, "while another job runs")
		three()
		wait(restAfter, 1, "at rest")
		wait(time.Hour, 1, "long after")
		r.begun()()
		r.stop()
		wait(time.Hour, 1, "after the end")
	})
}
