package app

import (
	"testing"
	"testing/fstest"
)

func TestCgroupLimit(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  MemoryLimit
	}{
		"no cgroups": {fstest.MapFS{}, MemoryLimit{}},
		"version 2": {fstest.MapFS{"proc/self/cgroup": file("0::/a/b\n"), "sys/fs/cgroup/a/b/memory.max": file("1000\n")},
			MemoryLimit{1000, "cgroup /sys/fs/cgroup/a/b/memory.max"}},
		"limit of a parent": {fstest.MapFS{"proc/self/cgroup": file("0::/a/b\n"), "sys/fs/cgroup/a/memory.max": file("500\n"), "sys/fs/cgroup/a/b/memory.max": file("1000\n")},
			MemoryLimit{500, "cgroup /sys/fs/cgroup/a/memory.max"}},
		"a container's own root": {fstest.MapFS{"proc/self/cgroup": file("0::/kubepods/x\n"), "sys/fs/cgroup/memory.max": file("700\n")},
			MemoryLimit{700, "cgroup /sys/fs/cgroup/memory.max"}},
		"no limit": {fstest.MapFS{"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("max\n")}, MemoryLimit{}},
		"version 1": {fstest.MapFS{"proc/self/cgroup": file("7:cpu,memory:/a\n3:pids:/a\n"), "sys/fs/cgroup/memory/a/memory.limit_in_bytes": file("900\n")},
			MemoryLimit{900, "cgroup /sys/fs/cgroup/memory/a/memory.limit_in_bytes"}},
		"version 1 without a limit": {fstest.MapFS{"proc/self/cgroup": file("7:memory:/\n"), "sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n")}, MemoryLimit{}},
		"a path that climbs":        {fstest.MapFS{"proc/self/cgroup": file("0::/../../a\n"), "sys/fs/cgroup/a/memory.max": file("1\n")}, MemoryLimit{1, "cgroup /sys/fs/cgroup/a/memory.max"}},
		"nonsense":                  {fstest.MapFS{"proc/self/cgroup": file("::\n\n0:"), "sys/fs/cgroup/memory.max": file("-5")}, MemoryLimit{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := cgroupLimit(c.files); got != c.want {
				t.Errorf("cgroupLimit = %+v, want %+v", got, c.want)
			}
		})
	}
}
