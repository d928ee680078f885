package app

import (
	"os"
	"strconv"
	"syscall"
)

// yield lowers the priority of this process, so that a server on the same machine goes first.
// Linux has a priority for each thread, and new threads inherit it.
func yield() {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return // without /proc the work goes on at its own priority
	}
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, lowest) // likewise
		}
	}
}

// lowest is the lowest priority.
const lowest = 19
