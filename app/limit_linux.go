//go:build !race

package app

import (
	"os"
	"syscall"
)

// limitMemory bounds the memory of this process for good. When the process has used it up,
// the Go runtime ends the process. If the system runs out of memory first, it ends this
// process rather than the parent.
func limitMemory(most int64) error {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // may be read-only
	var now syscall.Rlimit
	if err := syscall.Getrlimit(rlimitData, &now); err != nil {
		return err
	}
	most = int64(min(uint64(most), now.Max))
	return syscall.Setrlimit(rlimitData, &syscall.Rlimit{Cur: uint64(most), Max: uint64(most)})
}
