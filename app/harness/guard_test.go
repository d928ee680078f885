package harness

import (
	"fmt"
	"io"
	"os/exec"
	"sync"
)

// watch remembers which servers live and kills them once its input ends: that
// is when the test ends, however it does. An interrupt is the test's matter.
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

// tellGuard says that a process started or ended.
func tellGuard(what string, pid int) {
	guard.mu.Lock()
	defer guard.mu.Unlock()
	// A guard that is gone can't be helped, and the test kills what it starts.
	_, _ = fmt.Fprintln(guard.input, what, pid)
}
