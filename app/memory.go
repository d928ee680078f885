package app

import (
	"bufio"
	"bytes"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/rs/zerolog"
)

// memoryShare is the share of the memory limit that Go's soft limit is set to, in
// percent: the rest is for stacks of git, the kernel's buffers and what the collector
// does not count.
const memoryShare = 90

// MemoryLimit is how much memory this process may take, and by what.
type MemoryLimit struct {
	Bytes int64  // 0 where nothing limits it
	By    string // such as "cgroup /sys/fs/cgroup/memory.max"
}

// cgroupRoot is where control groups are mounted, in the file system's root.
const cgroupRoot = "sys/fs/cgroup"

// cgroupLimit finds the smallest limit of the control groups that a process is in and
// of those above them, of version 2 or 1. In a container the group's own directory
// may not be there, and the mount's root is it.
func cgroupLimit(root fs.FS) (least MemoryLimit) {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return least
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		parts := strings.SplitN(lines.Text(), ":", 3) // number, controllers, path
		if len(parts) != 3 {
			continue
		}
		dir, file := cgroupRoot, "memory.max"
		if parts[1] != "" {
			dir, file = cgroupRoot+"/memory", "memory.limit_in_bytes"
			if !hasField(parts[1], "memory") {
				continue
			}
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			name := path.Join(dir, group, file)
			if n := readLimit(root, name); n > 0 && (least.Bytes == 0 || n < least.Bytes) {
				least = MemoryLimit{n, "cgroup /" + name}
			}
			if group == "/" {
				break
			}
		}
	}
	return least
}

func hasField(list, name string) bool {
	for f := range strings.SplitSeq(list, ",") {
		if f == name {
			return true
		}
	}
	return false
}

// readLimit reads a limit in bytes, or 0 where nothing is limited. Version 1 writes a
// number near the greatest there is for that.
func readLimit(root fs.FS, name string) int64 {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/2 {
		return 0
	}
	return n
}

// limitHeap sets Go's soft limit by the memory limit of the process, and logs it. A
// GOMEMLIMIT in the environment stays as it is.
func limitHeap(log zerolog.Logger) MemoryLimit {
	m := memoryLimit()
	line := log.Info().Int64("limit_bytes", m.Bytes).Str("limit_by", m.By)
	if os.Getenv("GOMEMLIMIT") == "" && m.Bytes > 0 {
		debug.SetMemoryLimit(m.Bytes / 100 * memoryShare)
	}
	line.Int64("gomemlimit_bytes", debug.SetMemoryLimit(-1)).Msg("memory")
	return m
}

// smaller returns the smaller limit of two, of which either may be unknown.
func (m MemoryLimit) smaller(other MemoryLimit) MemoryLimit {
	if m.Bytes == 0 || other.Bytes > 0 && other.Bytes < m.Bytes {
		return other
	}
	return m
}
