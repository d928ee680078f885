//go:build unix

package localgit

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// endTogether makes the child processes of a command end with it when its context ends.
// Otherwise git's children would go on, with the token, until the remote closes the
// connection. On systems that can do so, git also ends with this process.
func endTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}

// lockDir locks a directory until it is unlocked or this process ends in any way.
func lockDir(dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		d.Close()
		return nil, err
	}
	return func() { d.Close() }, nil
}

// isLeft reports whether no process has locked the directory.
func isLeft(dir string, _ fs.FileInfo) bool {
	unlock, err := lockDir(dir)
	if err == nil {
		unlock()
	}
	return err == nil
}
