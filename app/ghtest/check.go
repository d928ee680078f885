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

// Checks are the check runs and check suites of a repository, with those of other Apps. The
// Server's lock guards their fields.
type Checks struct {
	repo   *Repo
	runs   []*checkRun
	suites map[suiteKey]int64 // ids
}

// checkRun is a check run in the state.
type checkRun struct {
	CheckRun
	repo  *Repo
	suite int64
	by    string // slug of another App; empty for the App under test
}

func (c *checkRun) view() CheckRun {
	v := c.CheckRun
	v.Annotations, v.Actions = slices.Clone(c.Annotations), slices.Clone(c.Actions)
	return v
}

// others reports whether the run is another App's.
func (c *checkRun) others() bool { return c.by != "" }

// add adds a check run of the App with this slug. An empty slug means the App under test. The
// lock must be held.
func (cs *Checks) add(c CheckRun, by string) *checkRun {
	run := &checkRun{CheckRun: c, repo: cs.repo, suite: cs.suite(by, c.HeadSHA), by: by}
	run.ID = cs.repo.s.state.nextID()
	cs.runs = append(cs.runs, run)
	return run
}

// On lists the App's check runs on a commit, oldest first.
func (cs *Checks) On(sha string) []CheckRun {
	cs.repo.s.mu.Lock()
	defer cs.repo.s.mu.Unlock()
	var views []CheckRun
	for _, c := range cs.runs {
		if c.HeadSHA == sha && !c.others() {
			views = append(views, c.view())
		}
	}
	return views
}

// CheckRuns lists the App's check runs on the pull request's head, oldest
// first.
func (p *PullRequest) CheckRuns() []CheckRun { return p.repo.Checks.On(p.HeadSHA()) }

// Rerequest presses "Re-run" on a check run, as the user, and sends check_run
// rerequested.
func (cs *Checks) Rerequest(login string, id int64) {
	cs.press(login, id, "rerequested", nil)
}

// RequestAction presses one of the buttons of a check run, as the user, and
// sends check_run requested_action.
func (cs *Checks) RequestAction(login string, id int64, identifier string) {
	cs.press(login, id, "requested_action", object{"requested_action": object{"identifier": identifier}})
}

func (cs *Checks) press(login string, id int64, action string, extra object) {
	cs.repo.s.happens(func() []event {
		c := cs.run(id)
		if c == nil || c.others() {
			return impossible("%s of check run %d: it does not exist or is another App's", action, id)
		}
		return []event{c.event(action, cs.repo.s.state.account(login, "User"), extra)}
	})
}

// run returns the check run with this id, or nil. The lock must be held.
func (cs *Checks) run(id int64) *checkRun {
	return found(cs.runs, func(c *checkRun) bool { return c.ID == id })
}

// newest lists a commit's check runs like GitHub, newest first. latest keeps only the
// newest run of each name in each suite.
func (cs *Checks) newest(sha string, latest bool) []*checkRun {
	type key struct {
		suite int64
		name  string
	}
	seen := map[key]bool{}
	var runs []*checkRun
	for _, c := range slices.Backward(cs.runs) {
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
