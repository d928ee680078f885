package app

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/rs/zerolog"
)

// memoryShare is Go's soft limit in percent of the memory limit. The rest is for git, the
// kernel's buffers and memory that the garbage collector does not count.
const memoryShare = 90

// MemoryLimit is how much memory this process may take, and what limits it.
type MemoryLimit struct {
	Bytes int64  // 0 where nothing limits it
	By    string // such as "cgroup /sys/fs/cgroup/memory.max"
}

// cgroupRoot is where control groups are mounted, relative to the file system's root.
const cgroupRoot = "sys/fs/cgroup"

// cgroupLimit finds the smallest limit among the control groups of this process and their
// parents, of version 2 or 1. In a container the group's own directory may be missing. The
// limit is then found at the mount's root.
func cgroupLimit(root fs.FS) (least MemoryLimit) {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return least
	}
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3) // number, controllers, path
		if len(parts) != 3 {
			continue
		}
		dir, file := cgroupRoot, "memory.max"
		if parts[1] != "" {
			dir, file = cgroupRoot+"/memory", "memory.limit_in_bytes"
			if !slices.Contains(strings.Split(parts[1], ","), "memory") {
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

// readLimit reads a limit in bytes. It returns 0 if there is none: version 1 then writes a
// number near the greatest possible.
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

// limitHeap sets Go's soft limit from the memory limit of the process, and logs both. It
// does not override GOMEMLIMIT.
func limitHeap(log zerolog.Logger) MemoryLimit {
	m := memoryLimit()
	line := log.Info().Int64("limit_bytes", m.Bytes).Str("limit_by", m.By)
	if os.Getenv("GOMEMLIMIT") == "" && m.Bytes > 0 {
		debug.SetMemoryLimit(m.Bytes / 100 * memoryShare)
	}
	if soft := debug.SetMemoryLimit(-1); soft < math.MaxInt64 {
		line.Int64("gomemlimit_bytes", soft)
	}
	line.Msg("memory")
	return m
}

// smaller returns the smaller of two limits. Either may be unknown.
func (m MemoryLimit) smaller(other MemoryLimit) MemoryLimit {
	if m.Bytes == 0 || other.Bytes > 0 && other.Bytes < m.Bytes {
		return other
	}
	return m
}
