package apptest

import "syscall"

// rlimitData is Linux's RLIMIT_DATA, which package syscall lacks.
const rlimitData = 2

// limitData limits the memory that this process may write to, permanently. It does nothing
// under the race detector, which needs more memory than any limit.
func limitData(bytes uint64) error {
	if raceDetector {
		return nil
	}
	return syscall.Setrlimit(rlimitData, &syscall.Rlimit{Cur: bytes, Max: bytes})
}
