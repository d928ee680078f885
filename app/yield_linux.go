package app

import (
	"os"
	"strconv"
	"syscall"
)

// Yield lowers the priority of this process for good, so that a server on the same machine goes
// first. It is for commands that compute for long. Linux has a priority for each thread, and new
// threads inherit it. If it can't be lowered, the process goes on as before.
func Yield() {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, lowest)
		}
	}
}

// lowest is the lowest priority.
const lowest = 19
