package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/app/internal/trail"
	"github.com/reviewgate/reviewgate/app/review"
)

const (
	// defaultApartMemory is what a child process may take if the server's own limit
	// is unknown or larger: any review must do with it.
	defaultApartMemory = 1 << 30
	// apartShare is what a child process may take of the server's own limit, in
	// percent: the server goes on beside it.
	apartShare = 60
	// maxApartLine bounds a line that a child process writes, in bytes.
	maxApartLine = 64 << 10
	// maxApartTasks is how many tasks a child process takes in before it is ready.
	maxApartTasks = 64
	// apartIdle is how long the child process of several reviews waits for another one.
	apartIdle = 10 * time.Second
	// apartStop is how long a child process may take to stop a review that was called off.
	apartStop = 5 * time.Second
)

// apartSetup is the first line that a child process reads.
type apartSetup struct {
	Memory int64 // bytes
}

// apartTask is each further line: a review to begin, or one to stop.
type apartTask struct {
	ID    int64
	Lease review.Lease
	Kind  review.JobKind
	Stop  bool `json:",omitempty"`
}

// apartAnswer is a line that a child process writes. The first one has the ID 0: the
// process is ready. If it ends before that, no review is to blame.
type apartAnswer struct {
	ID    int64
	Ended review.Ended
}

// children are the child processes that review suspects.
type children struct {
	// common is the one in which several reviews run, nil before the first.
	mu     sync.Mutex
	common *child
	idle   *time.Timer
}

// apart does the work of a lease in a child process: one of its own if alone, and
// otherwise the common one. It implements review.Options.Apart.
func (a *App) apart(ctx context.Context, l review.Lease, kind review.JobKind, alone bool) (review.Ended, error) {
	c, err := a.children.join(a, alone)
	if err != nil {
		return review.Ended{}, err
	}
	defer a.children.leave(c, alone)
	a.options.Log.Info().Str("target", l.Key).Int("pid", c.cmd.Process.Pid).Bool("alone", alone).Msg("a suspect is reviewed in a child process")
	return c.do(ctx, apartTask{Lease: l, Kind: kind})
}

// join returns the child process to work in, which it starts if need be.
func (cs *children) join(a *App, alone bool) (*child, error) {
	if alone {
		c, err := a.startChild()
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.common == nil || cs.common.ended() {
		c, err := a.startChild()
		if err != nil {
			return nil, err
		}
		cs.common = c
	}
	if cs.idle != nil {
		cs.idle.Stop()
	}
	cs.common.users++
	return cs.common, nil
}

// leave ends a child process that nothing more is expected of.
func (cs *children) leave(c *child, alone bool) {
	if alone {
		c.end()
		return
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c.users--
	switch {
	case c.users > 0:
	case c.ended() || cs.common != c:
		c.end()
	default:
		cs.idle = time.AfterFunc(apartIdle, func() {
			cs.mu.Lock()
			defer cs.mu.Unlock()
			if c.users == 0 && cs.common == c {
				cs.common = nil
				c.end()
			}
		})
	}
}

// close ends the common child process. Its reviews have ended before.
func (cs *children) close() {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.common != nil {
		cs.common.end()
	}
}

// child is a child process. It ends when this one does: its standard input is closed
// then.
type child struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	users int // of the common one, guarded by children.mu
	gone  chan struct{}

	mu    sync.Mutex
	ready bool
	tasks map[int64]chan<- review.Ended
	last  int64 // the ID of the newest task: how many there were
	how   error // how it ended, once gone is closed
}

func (a *App) startChild() (*child, error) {
	// No review's end is the process's: others may run in it.
	cmd := exec.CommandContext(context.Background(), a.options.Apart[0], a.options.Apart[1:]...)
	cmd.Env = append(os.Environ(), a.options.ApartEnv...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe to the child process: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe from the child process: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a child process: %w", err)
	}
	c := &child{cmd: cmd, in: in, gone: make(chan struct{}), tasks: map[int64]chan<- review.Ended{}}
	_ = c.write(apartSetup{a.apartMemory()}) // a process that reads nothing has ended, which Wait says
	go c.read(out)
	return c, nil
}

// read hands on what the process answers until it ends.
func (c *child) read(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxApartLine)
	var wrong error
	for wrong == nil && lines.Scan() {
		var answer apartAnswer
		if wrong = json.Unmarshal(lines.Bytes(), &answer); wrong != nil {
			wrong = fmt.Errorf("decode its answer: %w", wrong)
			break
		}
		c.mu.Lock()
		if answer.ID == 0 {
			c.ready = true
		} else if task := c.tasks[answer.ID]; task != nil {
			delete(c.tasks, answer.ID)
			task <- answer.Ended // it has room for one
		}
		c.mu.Unlock()
	}
	if wrong = errors.Join(wrong, lines.Err()); wrong != nil {
		_ = c.cmd.Process.Kill() // Wait says how it ended
	}
	exit := c.cmd.Wait()
	c.mu.Lock()
	c.how = errors.Join(exit, wrong)
	c.mu.Unlock()
	close(c.gone)
}

func (c *child) write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode a line for the child process: %w", err)
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("tell the child process: %w", err)
	}
	return nil
}

// do has the process do a task. The error is a *review.DiedError if the process ended
// meanwhile, after it was ready.
func (c *child) do(ctx context.Context, task apartTask) (ended review.Ended, err error) {
	answer := make(chan review.Ended, 1)
	c.mu.Lock()
	c.last++
	task.ID = c.last
	c.tasks[task.ID] = answer
	werr := c.write(task)
	c.mu.Unlock()
	select {
	case ended = <-answer:
		return ended, nil
	case <-ctx.Done():
	case <-c.gone:
		return c.died(answer, werr)
	}
	c.mu.Lock()
	_ = c.write(apartTask{ID: task.ID, Stop: true}) // where it is gone there is nothing to stop
	c.mu.Unlock()
	late := time.NewTimer(apartStop)
	defer late.Stop()
	select {
	case <-answer:
	case <-c.gone:
	case <-late.C:
		_ = c.cmd.Process.Kill()
		<-c.gone
	}
	return ended, context.Cause(ctx)
}

// died says why there is no answer from a process that is gone.
func (c *child) died(answer <-chan review.Ended, werr error) (ended review.Ended, err error) {
	select {
	case ended = <-answer: // the last it said
		return ended, nil
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	how := c.how
	if how == nil {
		how = errors.New("it ended without an answer")
	}
	if !c.ready || werr != nil {
		return ended, fmt.Errorf("the child process could not begin: %w", errors.Join(werr, how))
	}
	return ended, &review.DiedError{How: how.Error(), Others: c.last > 1}
}

func (c *child) ended() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

// end has the process end, which has nothing to do any more.
func (c *child) end() {
	c.in.Close()
	late := time.AfterFunc(apartStop, func() { _ = c.cmd.Process.Kill() })
	go func() {
		<-c.gone
		late.Stop()
	}()
}

// RunApart is what a child process of a server does: the work of leases, within the
// memory that it is given. It reads what to do from in, which its parent keeps open for
// as long as it wants anything, and writes to out how that ended.
func RunApart(ctx context.Context, settings Settings, o Options, in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	var setup apartSetup
	text, err := lines.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(text, &setup)
	}
	if err != nil {
		return fmt.Errorf("read how much memory there is: %w", err)
	}
	if err := limitMemory(setup.Memory); err != nil {
		return fmt.Errorf("limit the memory: %w", err)
	}
	debug.SetMemoryLimit(setup.Memory / 10 * 8)
	o.Apart = nil
	if o.Version == "" {
		o.Version = Version()
	}
	a := &App{settings: settings, options: o, rest: rest{give: giveBack}, memory: MemoryLimit{setup.Memory, "the server"}}
	defer a.Close()
	tasks, built := make(chan apartTask, maxApartTasks), make(chan struct{})
	go func() {
		defer close(tasks)
		for {
			var task apartTask
			text, err := lines.ReadBytes('\n')
			if err != nil || json.Unmarshal(text, &task) != nil {
				break
			}
			tasks <- task
		}
		select {
		case <-built:
		default:
			os.Exit(1) // to get ready takes a while, and nobody waits for it any more
		}
	}()
	if err := a.buildService(ctx, true); err != nil {
		return err
	}
	if err := a.obeyRefusals(ctx); err != nil {
		return err
	}
	close(built)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go a.watchRefusals(ctx)
	return a.workApart(ctx, tasks, out)
}

// workApart does tasks until there are no more. A task that is still at work then is
// the parent's no longer: the process has to end.
func (a *App) workApart(ctx context.Context, tasks <-chan apartTask, out io.Writer) error {
	answers := make(chan apartAnswer, 1)
	answers <- apartAnswer{} // ready
	stops := map[int64]context.CancelFunc{}
	for {
		select {
		case task, more := <-tasks:
			switch {
			case !more && len(stops) > 0:
				os.Exit(1)
			case !more:
				return nil
			case task.Stop:
				if stop := stops[task.ID]; stop != nil {
					stop()
				}
			default:
				working, stop := context.WithCancel(ctx)
				stops[task.ID] = stop
				go func() { answers <- apartAnswer{task.ID, a.doApart(working, task)} }()
			}
		case answer := <-answers:
			if stop := stops[answer.ID]; stop != nil {
				stop()
				delete(stops, answer.ID)
			}
			line, err := json.Marshal(answer)
			if err != nil {
				return fmt.Errorf("encode an answer: %w", err)
			}
			if _, err := io.Copy(out, bytes.NewReader(append(line, '\n'))); err != nil {
				return fmt.Errorf("answer: %w", err)
			}
			if len(stops) == 0 && answer.ID > 0 {
				debug.FreeOSMemory()
			}
		}
	}
}

func (a *App) doApart(ctx context.Context, task apartTask) review.Ended {
	ctx = trail.With(ctx, &trail.Trail{Kind: string(task.Kind), Target: task.Lease.Key})
	ended := review.EndedBy(a.service.WorkHeld(ctx, task.Lease, task.Kind))
	if len(ended.Err) > maxApartLine/8 { // a byte takes up to six in JSON
		ended.Err = ended.Err[:maxApartLine/8]
	}
	return ended
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
