package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"time"

	"github.com/reviewgate/reviewgate/app/internal/trail"
	"github.com/reviewgate/reviewgate/app/review"
)

const (
	// defaultApartMemory is what a child process may take where the server's own limit
	// is not known or larger: what any review must do with.
	defaultApartMemory = 1 << 30
	// apartShare is what a child process may take of the server's own limit, in
	// percent: the server goes on beside it.
	apartShare = 60
	// maxApartAnswer bounds what is read of a child process, in bytes.
	maxApartAnswer = 64 << 10
	// apartBegan is what a child process says before it looks at the change: if it ends
	// before that, the change is not to blame.
	apartBegan = "began\n"
)

// apartTask is what a child process is told.
type apartTask struct {
	Lease  review.Lease
	Kind   review.JobKind
	Memory int64 // bytes
}

// apart does the work of a lease in a child process. That ends when this one does:
// its standard input is closed then.
func (a *App) apart(ctx context.Context, l review.Lease, kind review.JobKind) (ended review.Ended, err error) {
	text, err := json.Marshal(apartTask{l, kind, a.apartMemory()})
	if err != nil {
		return ended, fmt.Errorf("encode what the child process is to do: %w", err)
	}
	cmd := exec.CommandContext(ctx, a.options.Apart[0], a.options.Apart[1:]...)
	cmd.Env = append(os.Environ(), a.options.ApartEnv...)
	cmd.Stderr = os.Stderr
	cmd.WaitDelay = 5 * time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return ended, fmt.Errorf("make a pipe to the child process: %w", err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return ended, fmt.Errorf("make a pipe from the child process: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return ended, fmt.Errorf("start a child process: %w", err)
	}
	a.options.Log.Info().Str("target", l.Key).Int("pid", cmd.Process.Pid).Msg("a suspect is reviewed in a child process")
	_, werr := in.Write(append(text, '\n'))
	began, ended, rerr := readApart(io.LimitReader(out, maxApartAnswer))
	if rerr != nil {
		_ = cmd.Process.Kill() // Wait says how it ended
	}
	exit := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return ended, context.Cause(ctx)
	case rerr == nil && exit == nil:
		return ended, nil
	case !began:
		return ended, fmt.Errorf("the child process could not begin: %w", errors.Join(werr, rerr, exit))
	}
	return ended, &review.DiedError{How: fmt.Sprint(errors.Join(exit, rerr))}
}

// readApart reads what a child process says.
func readApart(r io.Reader) (began bool, ended review.Ended, err error) {
	lines := bufio.NewReader(r)
	first, err := lines.ReadString('\n')
	if err != nil || first != apartBegan {
		return false, ended, fmt.Errorf("it said nothing: %w", errors.Join(err, io.ErrUnexpectedEOF))
	}
	answer, err := lines.ReadBytes('\n')
	if err != nil {
		return true, ended, fmt.Errorf("it did not say how its work ended: %w", err)
	}
	if err := json.Unmarshal(answer, &ended); err != nil {
		return true, ended, fmt.Errorf("what it said is not understood: %w", err)
	}
	return true, ended, nil
}

// RunApart is what a child process of a server does: the work of one lease, within
// the memory that it is given. It reads what to do from in, which its parent keeps
// open for as long as it lives, and says on out how that ended.
func RunApart(ctx context.Context, settings Settings, o Options, in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	text, err := lines.ReadBytes('\n')
	var task apartTask
	if err == nil {
		err = json.Unmarshal(text, &task)
	}
	if err != nil {
		return fmt.Errorf("read what to do: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		os.Exit(1) // the parent has ended: the work is no longer ours
	}()
	if err := limitMemory(task.Memory); err != nil {
		return fmt.Errorf("limit the memory: %w", err)
	}
	debug.SetMemoryLimit(task.Memory / 10 * 8)
	o.Apart = nil
	if o.Version == "" {
		o.Version = Version()
	}
	a := &App{settings: settings, options: o, rest: rest{give: giveBack}}
	defer a.Close()
	if err := a.buildService(ctx, true); err != nil {
		return err
	}
	if err := a.obeyRefusals(ctx); err != nil {
		return err
	}
	if _, err := io.WriteString(out, apartBegan); err != nil {
		return err
	}
	ctx = trail.With(ctx, &trail.Trail{Kind: string(task.Kind), Target: task.Lease.Key})
	ended := review.EndedBy(a.service.WorkHeld(ctx, task.Lease, task.Kind))
	if len(ended.Err) > maxApartAnswer/8 {
		ended.Err = ended.Err[:maxApartAnswer/8]
	}
	return json.NewEncoder(out).Encode(ended)
}

// apartMemory is how much memory a child process may take, in bytes.
func (a *App) apartMemory() int64 {
	if a.options.ApartMemory > 0 {
		return a.options.ApartMemory
	}
	if most := a.memory.Bytes / 100 * apartShare; most > 0 {
		return min(most, defaultApartMemory)
	}
	return defaultApartMemory
}
