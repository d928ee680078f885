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

	"github.com/reviewgate/reviewgate/app/gh"
	"github.com/reviewgate/reviewgate/app/internal/jobcontext"
	"github.com/reviewgate/reviewgate/app/ports"
)

const (
	// defaultApartMemory is the most memory that a child process may take, in bytes, unless
	// Options.ApartMemory is set. Every review has to manage with it.
	defaultApartMemory = 1 << 30
	// apartShare is how much of the server's own limit a child process may take, in
	// percent. The server needs the rest, because it continues to run.
	apartShare = 60
	// maxApartLine bounds a line that a child process writes, in bytes.
	maxApartLine = 64 << 10
	// maxApartTasks is how many tasks a child process accepts before it is ready.
	maxApartTasks = 64
	// apartIdle is how long the common child process waits for another review.
	apartIdle = 10 * time.Second
	// apartStop is how long a child process may take to stop a cancelled review.
	apartStop = 5 * time.Second
)

// apartSetup is the first line that a child process reads.
type apartSetup struct {
	Memory int64 // bytes
}

// apartTask is each later line that a child process reads: a review to begin or to stop.
type apartTask struct {
	ID    int64
	Lease ports.Lease
	Kind  ports.JobKind
	// Tokens give access to the lease's target.
	Tokens []gh.Token `json:",omitempty"`
	Stop   bool       `json:",omitempty"`
}

// apartAnswer is a line that a child process writes. The first one has the ID 0 and says
// that the process is ready. If the process ends before that, no review is to blame.
type apartAnswer struct {
	ID    int64
	Ended ports.Ended
}

// children are the server's child processes, in which suspects are reviewed.
type children struct {
	mu     sync.Mutex
	common *child      // runs several reviews; nil if it does not run
	idle   *time.Timer // ends common when it has had no review for apartIdle
}

// apart does the work of a lease in a child process. If alone is set, the work gets a
// process of its own, otherwise it shares the common one. apart implements
// review.Options.Apart.
func (a *App) apart(ctx context.Context, l ports.Lease, t ports.Target, kind ports.JobKind, alone bool) (ports.Ended, error) {
	c, err := a.children.join(a, alone)
	if err != nil {
		return ports.Ended{}, err
	}
	defer a.children.leave(c, alone)
	a.options.Log.Info().EmbedObject(t).Int("pid", c.cmd.Process.Pid).Bool("alone", alone).Msg("a suspect is reviewed in a child process")
	return c.do(ctx, apartTask{Lease: l, Kind: kind, Tokens: a.client.Tokens(ctx, t)})
}

// join returns the child process to work in, and starts it if necessary.
func (cs *children) join(a *App, alone bool) (*child, error) {
	if alone {
		return a.startChild()
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

// leave ends the child process if it is not needed any more. The common process first
// waits for another review.
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

// close ends the common child process, whose reviews must have ended.
func (cs *children) close() {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.common != nil {
		cs.common.end()
	}
}

// child is a child process. It ends when this process ends, because that closes the
// child's standard input.
type child struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	users int // reviews in the common process, guarded by children.mu
	gone  chan struct{}

	mu    sync.Mutex
	ready bool
	tasks map[int64]chan<- ports.Ended
	last  int64 // the ID of the newest task, and so the number of tasks until now
	how   error // how the process ended, once gone is closed
}

func (a *App) startChild() (*child, error) {
	// The process must outlive the context of a single review: others may run in it.
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
	c := &child{cmd: cmd, in: in, gone: make(chan struct{}), tasks: map[int64]chan<- ports.Ended{}}
	_ = c.write(apartSetup{a.apartMemory()}) // fails only if the process has ended, which Wait reports
	go c.read(out)
	return c, nil
}

// read passes on the process's answers until the process ends.
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
			task <- answer.Ended // does not block: the channel has a buffer of one
		}
		c.mu.Unlock()
	}
	if wrong = errors.Join(wrong, lines.Err()); wrong != nil {
		_ = c.cmd.Process.Kill() // Wait reports how the process ended
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

// do gives the process a task and waits for the answer. The error is a *review.DiedError
// if the process became ready and then ended.
func (c *child) do(ctx context.Context, task apartTask) (ended ports.Ended, err error) {
	answer := make(chan ports.Ended, 1)
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
	_ = c.write(apartTask{ID: task.ID, Stop: true}) // if the process is gone, nothing is left to stop
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

// died returns the last answer of a process that has ended, or the reason why there is
// none.
func (c *child) died(answer <-chan ports.Ended, werr error) (ended ports.Ended, err error) {
	select {
	case ended = <-answer:
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
	return ended, &ports.DiedError{How: how.Error(), Others: c.last > 1}
}

func (c *child) ended() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

// end ends the process, which must not have any work left.
func (c *child) end() {
	c.in.Close()
	late := time.AfterFunc(apartStop, func() { _ = c.cmd.Process.Kill() })
	go func() {
		<-c.gone
		late.Stop()
	}()
}

// RunApart is the main function of a server's child process. It works on leases within a
// memory limit. It reads its limit and then its tasks from in, and writes their results to
// out. When the parent closes in, the process ends.
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
	a := &App{settings: settings, options: o, memory: MemoryLimit{setup.Memory, "the server"}}
	defer a.Close()
	tasks, built := make(chan apartTask, maxApartTasks), make(chan struct{})
	go func() {
		defer close(tasks)
		for {
			var task apartTask
			text, err := lines.ReadBytes('\n')
			if err != nil {
				break // the parent has closed the pipe
			}
			if err := json.Unmarshal(text, &task); err != nil {
				o.Log.Error().Err(err).Msg("a child process can't read its task: the program may be of another version than the server")
				break
			}
			tasks <- task
		}
		select {
		case <-built:
		default:
			os.Exit(1) // the process is not ready yet, and nobody waits for it any more
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

// workApart does tasks until the parent sends no more. If a task is still running then,
// the process ends at once, because the parent no longer waits for it.
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

func (a *App) doApart(ctx context.Context, task apartTask) ports.Ended {
	ctx = jobcontext.With(ctx, &jobcontext.Job{Kind: string(task.Kind), Target: task.Lease.Key})
	a.client.Take(task.Tokens)
	ended := ports.EndedBy(a.service.WorkHeld(ctx, task.Lease, task.Kind))
	if len(ended.Err) > maxApartLine/8 { // JSON writes up to six bytes for one
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
