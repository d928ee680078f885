package localgit

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// limitMemory bounds the memory that a process, and each of its children, may write to.
// If the system runs short of memory, it kills these processes first.
func limitMemory(pid int, most int64) error {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("1000"), 0) // may be read-only
	var now unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_DATA, nil, &now); err != nil {
		return err
	}
	limit := min(uint64(most), now.Max) // nobody may raise a limit of this process
	return unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: limit, Max: limit}, nil)
}
