package harness

import (
	"fmt"
	"io"
	"os/exec"
	"sync"
)

// watch keeps a list of the live servers and kills them when its input ends. The input ends
// with the test, in whatever way the test ends. The test itself handles interrupts.
const watch = `trap '' INT
live=
while read -r what pid; do
	case $what in
	started) live="$live $pid" ;;
	ended) live=$(for p in $live; do [ "$p" = "$pid" ] || printf ' %s' "$p"; done) ;;
	esac
done
[ -z "$live" ] || kill -9 $live
rm -rf "$1"`

// guard is the shell that runs watch.
var guard struct {
	mu    sync.Mutex
	input io.WriteCloser
}

// startGuard starts the guard, which removes dir at the end.
func startGuard(dir string) error {
	cmd := exec.Command("/bin/sh", "-c", watch, "sh", dir)
	input, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	guard.input = input
	return cmd.Start()
}

// tellGuard reports that a process started or ended.
func tellGuard(what string, pid int) {
	guard.mu.Lock()
	defer guard.mu.Unlock()
	// If the guard is gone, the test still kills the processes that it started.
	_, _ = fmt.Fprintln(guard.input, what, pid)
}
