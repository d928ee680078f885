package pgtest

import "syscall"

// freeMemory returns the free bytes of a directory in memory, or 0 if it is not in memory.
func freeMemory(dir string) uint64 {
	const tmpfs = 0x01021994
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil || fs.Type != tmpfs {
		return 0
	}
	return fs.Bavail * uint64(fs.Bsize)
}
