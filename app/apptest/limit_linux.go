package apptest

import "syscall"

// rlimitData is RLIMIT_DATA of Linux, which syscall does not name.
const rlimitData = 2

// limitData bounds the memory that this process may write to, for good. Under the race
// detector, which takes more than any limit, it does nothing.
func limitData(bytes uint64) error {
	if raceDetector {
		return nil
	}
	return syscall.Setrlimit(rlimitData, &syscall.Rlimit{Cur: bytes, Max: bytes})
}
