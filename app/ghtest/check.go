package ghtest

import (
	"cmp"
	"slices"
	"time"
)

// CheckRun is a check run as it is now.
type CheckRun struct {
	ID          int64
	Name        string
	HeadSHA     string
	ExternalID  string
	DetailsURL  string
	Status      string // queued, in_progress or completed
	Conclusion  string // empty until completed
	Title       string
	Summary     string
	Text        string
	Annotations []Annotation
	Actions     []Action
	StartedAt   time.Time
	CompletedAt time.Time // zero until completed
	// Updates counts how often it was written after its creation.
	Updates int
}

// Completed reports whether the run has a conclusion.
func (c CheckRun) Completed() bool { return c.Status == "completed" }

// Annotation is a remark on lines of a file. A column of 0 was not given.
type Annotation struct {
	Path        string `json:"path"`
	StartLine   int    `json:"start_line"`
	EndLine     int    `json:"end_line"`
	StartColumn int    `json:"start_column"`
	EndColumn   int    `json:"end_column"`
	Level       string `json:"annotation_level"` // notice, warning or failure
	Message     string `json:"message"`
	Title       string `json:"title"`
	RawDetails  string `json:"raw_details"`
}

// Action is a button under a check run.
type Action struct {
	Label       string `json:"label"`
	Description string `json:"description"`
	Identifier  string `json:"identifier"`
}

// checkRun is a check run in the state.
type checkRun struct {
	CheckRun
	repo    *Repo
	suite   int64
	foreign bool   // whether it is another App's
	by      string // slug of that App
}

func (c *checkRun) view() CheckRun {
	v := c.CheckRun
	v.Annotations, v.Actions = slices.Clone(c.Annotations), slices.Clone(c.Actions)
	return v
}

// addCheck adds a check run. The lock must be held.
func (r *Repo) addCheck(c CheckRun, foreign bool) *checkRun {
	by := ""
	if foreign {
		by = anotherApp
	}
	return r.addCheckBy(c, by)
}

// addCheckBy adds a check run of the App with this slug. An empty slug means the App under
// test. The lock must be held.
func (r *Repo) addCheckBy(c CheckRun, by string) *checkRun {
	suite := c.HeadSHA
	if by != "" {
		suite = by + " " + suite
	}
	run := &checkRun{CheckRun: c, repo: r, suite: r.suite(suite), foreign: by != "", by: by}
	run.ID = r.s.state.nextID()
	r.checks = append(r.checks, run)
	return run
}

// ForeignCheck adds a completed check run of another App.
func (r *Repo) ForeignCheck(headSHA, name, conclusion string) CheckRun {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	now := r.s.now()
	c := r.addCheck(CheckRun{Name: name, HeadSHA: headSHA, Status: "completed", Conclusion: conclusion, StartedAt: now, CompletedAt: now}, true)
	r.s.notify()
	return c.view()
}

// CheckRuns lists the App's check runs on a commit, oldest first.
func (r *Repo) CheckRuns(sha string) []CheckRun {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	var views []CheckRun
	for _, c := range r.checks {
		if c.HeadSHA == sha && !c.foreign {
			views = append(views, c.view())
		}
	}
	return views
}

// CheckRuns lists the App's check runs on the pull request's head, oldest
// first.
func (p *PullRequest) CheckRuns() []CheckRun { return p.repo.CheckRuns(p.HeadSHA()) }

// Rerequest presses "Re-run" on a check run, as the user, and sends check_run
// rerequested.
func (r *Repo) Rerequest(login string, id int64) {
	r.checkEvent(login, id, "rerequested", nil)
}

// RequestAction presses one of the buttons of a check run, as the user, and
// sends check_run requested_action.
func (r *Repo) RequestAction(login string, id int64, identifier string) {
	r.checkEvent(login, id, "requested_action", object{"requested_action": object{"identifier": identifier}})
}

func (r *Repo) checkEvent(login string, id int64, action string, extra object) {
	r.s.happens(func() []event {
		c := r.check(id)
		if c == nil || c.foreign {
			return impossible("%s of check run %d: the App has none of that id", action, id)
		}
		return []event{c.event(action, r.s.state.account(login, "User"), extra)}
	})
}

// check returns the check run with this id, or nil. The lock must be held.
func (r *Repo) check(id int64) *checkRun {
	return found(r.checks, func(c *checkRun) bool { return c.ID == id })
}

// newestChecks lists a commit's check runs like GitHub, newest first. latest keeps only the
// newest run of each name in each suite.
func (r *Repo) newestChecks(sha string, latest bool) []*checkRun {
	type key struct {
		suite int64
		name  string
	}
	seen := map[key]bool{}
	var runs []*checkRun
	for _, c := range slices.Backward(r.checks) {
		k := key{c.suite, c.Name}
		if c.HeadSHA != sha || latest && seen[k] {
			continue
		}
		seen[k] = true
		runs = append(runs, c)
	}
	slices.SortFunc(runs, func(a, b *checkRun) int { return cmp.Compare(b.ID, a.ID) })
	return runs
}
