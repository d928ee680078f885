package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// timeline tells what happened, from the server's log.
type timeline struct {
	copy io.Writer // the log as it is, nil for none

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at every review
	moments  []moment
	agents   map[string]agents // by the run's id
	reviewed []string          // abbreviated heads whose reviews are on GitHub
	run      string            // the id of the newest of these reviews
}

// moment is one thing that happened.
type moment struct {
	At   time.Time
	Text string
	Step bool // a person did it
}

func newTimeline(log io.Writer) *timeline {
	return &timeline{copy: log, changed: make(chan struct{}), agents: map[string]agents{}}
}

// agents are those that looked at the change in a run, and the index of the moment that names them.
type agents struct {
	names  []string
	moment int
}

// begin notes that a person takes a step.
func (t *timeline) begin(does string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.moments = append(t.moments, moment{At: time.Now(), Text: does, Step: true})
}

// all returns what happened so far, oldest first.
func (t *timeline) all() []moment {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.moments)
}

// newestRun returns the id of the newest review on GitHub.
func (t *timeline) newestRun() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.run
}

// waitReviewed waits until a review of the head is on GitHub.
func (t *timeline) waitReviewed(ctx context.Context, head string) error {
	for {
		t.mu.Lock()
		done, changed := slices.ContainsFunc(t.reviewed, func(short string) bool { return strings.HasPrefix(head, short) }), t.changed
		t.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// line is what the timeline reads of a line of the log.
type line struct {
	Message, Outcome, Event, Action, Stage, Agent, Run, Head, Decision, Command, Why string

	Findings int
	Took     float64 `json:"took_ms"`
	Job      string
}

// Write takes in one line of the server's log.
func (t *timeline) Write(text []byte) (int, error) {
	var l line
	if err := json.Unmarshal(text, &l); err == nil { // the log has only JSON
		t.read(l)
	}
	if t.copy == nil {
		return len(text), nil
	}
	return t.copy.Write(text)
}

func (t *timeline) read(l line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case l.Message == "delivery" && l.Outcome == "accepted" && l.Event != "push":
		t.say("Webhook %s: verified, stored and answered in %s.", strings.TrimSpace(l.Event+" "+l.Action), took(l.Took))
	case l.Message == "command obeyed":
		t.say("Command %s: the person's permission allows it.", l.Command)
	case l.Message == "command refused":
		t.say("Command refused: %s.", l.Why)
	case l.Message == "stage" && l.Stage == "normalize":
		t.say("Facts: the change was read from GitHub in %s, and secrets in it were replaced.", took(l.Took))
	case l.Message == "stage" && l.Stage == "dispatch":
		t.agents[l.Run] = agents{moment: len(t.moments)}
		t.say("Agents: their answers about this head count again.")
	case l.Message == "agent": // after the stage
		run := t.agents[l.Run]
		run.names = append(run.names, l.Agent)
		t.agents[l.Run] = run
		t.moments[run.moment].Text = "Agents: " + strings.Join(run.names, ", ") + " looked at the change."
	case l.Message == "reviewed":
		t.say("Decision: %s, with %s. Check and comment are written.", strings.ReplaceAll(l.Decision, "_", " "), count(l.Findings, "finding"))
		t.reviewed, t.run = append(t.reviewed, l.Head), l.Run
		close(t.changed)
		t.changed = make(chan struct{})
	}
}

// say adds a moment. The lock must be held.
func (t *timeline) say(format string, args ...any) {
	t.moments = append(t.moments, moment{At: time.Now(), Text: fmt.Sprintf(format, args...)})
}

// took writes a duration of some milliseconds.
func took(ms float64) string { return fmt.Sprintf("%.1f ms", ms) }

// count writes a number with its noun, in the plural if there is not exactly one.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
