//go:build unix

package localgit

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// endTogether has what a command starts end with it when its context ends. What
// git started would go on else, with the token, until the remote closes.
func endTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}
