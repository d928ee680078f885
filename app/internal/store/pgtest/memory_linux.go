package pgtest

import "syscall"

// freeMemory is how many bytes there is room for in a directory in memory, 0 if it
// is none.
func freeMemory(dir string) uint64 {
	const tmpfs = 0x01021994
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil || fs.Type != tmpfs {
		return 0
	}
	return fs.Bavail * uint64(fs.Bsize)
}
