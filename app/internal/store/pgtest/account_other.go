//go:build !unix

package pgtest

import (
	"context"
	"fmt"
	"os/exec"
)

type account struct{}

func unprivileged() (account, error) {
	return account{}, fmt.Errorf("%w: the tests start it on Unix only", errMissing)
}

func (account) command(name string, args ...string) *exec.Cmd {
	return exec.CommandContext(context.Background(), name, args...)
}

func (account) own(...string) error { return nil }
