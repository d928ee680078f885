package app

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// releaseCode gives back the pages of the program's own code and constants. Two thirds of
// them are needed only at the start. The kernel also maps and keeps the pages around each
// page that is used. Pages that are needed again come back from the page cache at their
// next use. If the kernel refuses, the process only takes more memory.
func releaseCode() {
	if program, err := os.Readlink("/proc/self/exe"); err == nil {
		releaseFile(program)
	}
}

// releaseFile gives back the pages of a file that this process can't write and has never
// written. Changes to other pages would be lost: in a position-independent program the
// loader writes addresses into constants and protects them afterwards.
func releaseFile(name string) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer f.Close()
	var start, end uint64 // of the mapping; both 0 if it is not of the file
	for lines := bufio.NewScanner(f); lines.Scan(); {
		// 00400000-0182d000 r-xp 00000000 fd:01 1234    /usr/local/bin/reviewgate
		// Anonymous:             0 kB
		fields := bytes.Fields(lines.Bytes())
		switch {
		case len(fields) >= 5 && !bytes.HasSuffix(fields[0], []byte(":")):
			start, end = 0, 0
			if len(fields) != 6 || string(fields[5]) != name || fields[1][1] != '-' {
				continue
			}
			from, to, _ := bytes.Cut(fields[0], []byte("-"))
			var err1, err2 error
			start, err1 = strconv.ParseUint(string(from), 16, 64)
			if end, err2 = strconv.ParseUint(string(to), 16, 64); err1 != nil || err2 != nil {
				start, end = 0, 0
			}
		case start < end && len(fields) == 3 && string(fields[0]) == "Anonymous:" && string(fields[1]) == "0":
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, uintptr(start), uintptr(end-start), syscall.MADV_DONTNEED)
		}
	}
}
