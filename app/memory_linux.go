package app

import (
	"math"
	"os"
	"syscall"
)

// rlimitData is Linux's RLIMIT_DATA: it limits the memory that the process may write to
// and shares with nobody.
const rlimitData = 2

// memoryLimit returns the smallest memory limit of this process.
func memoryLimit() MemoryLimit {
	least := cgroupLimit(os.DirFS("/"))
	for number, name := range map[int]string{rlimitData: "RLIMIT_DATA", syscall.RLIMIT_AS: "RLIMIT_AS"} {
		var r syscall.Rlimit
		if err := syscall.Getrlimit(number, &r); err == nil && r.Cur < math.MaxInt64/2 {
			least = least.smaller(MemoryLimit{int64(r.Cur), name})
		}
	}
	return least
}
