//go:build unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// account is the user that the server runs as: the server refuses to run as root.
type account struct {
	credential *syscall.Credential // nil for whoever runs the test
}

func unprivileged() (account, error) {
	if os.Geteuid() != 0 {
		return account{}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uerr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gerr := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(uerr, gerr); err != nil {
			return account{}, fmt.Errorf("read the ids of user %s: %w", name, err)
		}
		return account{&syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
	}
	return account{}, errors.New("the server refuses to run as root, and there is no user postgres or nobody")
}

func (a account) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), name, args...) // the shell that watches ends it
	// A group of its own: Ctrl-C is for the test, whose end ends the server.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: a.credential}
	return cmd
}

func (a account) own(paths ...string) error {
	if a.credential == nil {
		return nil
	}
	for _, p := range paths {
		if err := os.Chown(p, int(a.credential.Uid), int(a.credential.Gid)); err != nil {
			return err
		}
	}
	return nil
}
