//go:build !race

package app

import (
	"os"
	"syscall"
)

// limitMemory bounds the memory of this process, for good. What asks for more gets
// none, and the runtime ends the process. Where memory is short before that, the
// system is to end this process before its parent.
func limitMemory(most int64) error {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // may be read-only
	var now syscall.Rlimit
	if err := syscall.Getrlimit(rlimitData, &now); err != nil {
		return err
	}
	most = int64(min(uint64(most), now.Max))
	return syscall.Setrlimit(rlimitData, &syscall.Rlimit{Cur: uint64(most), Max: uint64(most)})
}
