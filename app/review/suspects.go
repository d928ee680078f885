package review

import (
	"fmt"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/app/admission"
)

const (
	// suspectsTogether is how many suspects share a child process. Most are innocent:
	// they only happened to be under review when the server was killed.
	suspectsTogether = 4
	// A suspect that waits for a turn asks again after turnStep for each suspectsTogether
	// suspects in the queue, at most maxTurnStep. A turn normally takes about a second.
	turnStep    = time.Second / 2
	maxTurnStep = 5 * time.Second
	// turnGone is how long a suspect counts as waiting after it last asked.
	turnGone = 30 * time.Second
)

// suspects decides which suspects may run: several in one child process, or one in a
// process of its own. A target must run alone once a shared process has ended while it ran,
// until it has been tried alone. The zero value is ready to use.
type suspects struct {
	mu       sync.Mutex
	together int                 // number of turns that share a process
	alone    bool                // a suspect that runs alone has a turn
	memory   *admission.Ticket   // for all turns together; nil until admitted
	single   map[string]struct{} // by key
	waiting  map[string]asked    // by key
}

// asked is when a suspect last asked for a turn.
type asked struct {
	at    time.Time
	alone bool
}

// turn is the right of one target's job to run.
type turn struct {
	of          *suspects
	key         string
	held, alone bool
}

// turnWait is the error of a suspect that must wait for the turns of others.
type turnWait struct{ after time.Duration }

func (e *turnWait) Error() string {
	return fmt.Sprintf("other reviews that may have taken the server down are at work; it is tried again in %v", e.after)
}

func (s *suspects) turn(key string) *turn { return &turn{of: s, key: key} }

// take takes the turn unless it is already held. The error is a *turnWait.
func (t *turn) take(alone bool) error {
	s := t.of
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, single := s.single[t.key]; single {
		alone = true
	}
	if t.held {
		if t.alone || !alone {
			return nil
		}
		s.give(t)
	}
	now := time.Now()
	delete(s.waiting, t.key)
	singles := 0
	for key, w := range s.waiting {
		switch {
		case now.Sub(w.at) > turnGone:
			delete(s.waiting, key)
		case w.alone:
			singles++
		}
	}
	// A suspect that must run alone waits until the shared turns have ended, so no more of
	// those may begin.
	if s.alone || alone && s.together > 0 || !alone && (singles > 0 || s.together == suspectsTogether) {
		if s.waiting == nil {
			s.waiting = map[string]asked{}
		}
		s.waiting[t.key] = asked{now, alone}
		return &turnWait{min(maxTurnStep, turnStep*time.Duration(1+len(s.waiting)/suspectsTogether))}
	}
	t.held, t.alone = true, alone
	if alone {
		s.alone = true
	} else {
		s.together++
	}
	return nil
}

// admit takes as much memory as all large changes may use together, once for all turns. The
// error is a *admission.MemoryWait.
func (t *turn) admit(m *admission.Ticket) error {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	if t.of.memory != nil {
		m.End(true) // it no longer waits
		return nil
	}
	if err := m.Weigh(m.All()); err != nil {
		return err
	}
	t.of.memory = m
	return nil
}

// nextAlone makes the target run alone next time.
func (t *turn) nextAlone() {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	if t.of.single == nil {
		t.of.single = map[string]struct{}{}
	}
	t.of.single[t.key] = struct{}{}
}

// end gives the turn back, if it is held.
func (t *turn) end() {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	if t.held {
		t.of.give(t)
	}
}

func (s *suspects) give(t *turn) {
	t.held = false
	if t.alone {
		s.alone = false
		delete(s.single, t.key)
	} else {
		s.together--
	}
	if s.memory != nil && !s.alone && s.together == 0 {
		s.memory.End(true)
		s.memory = nil
	}
}
