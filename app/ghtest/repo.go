package ghtest

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Repo is a repository, with a bare git repository behind it.
type Repo struct {
	// Checks are the check runs and check suites on its commits.
	Checks *Checks
	// Issues are its issues, without pull requests.
	Issues *Issues
	// Settings change the repository as its owner does.
	Settings *Settings

	s   *Server
	git *git

	id            int64
	owner         *account
	name          string
	parent        *Repo // of a fork
	defaultBranch string
	private       bool
	archived      bool
	installed     bool
	deleted       bool
	createdAt     time.Time
	pushedAt      time.Time

	branches       map[string]string // SHA by name
	roles          map[string]string // by login, folded
	lastNumber     int
	pulls          []*PullRequest
	comments       []*comment
	reviewComments []*reviewComment
	scanning       codeScanning
	labels         map[string]int64 // id by name
}

// Repo returns the repository with a full name ("acme/shop"). A new one is public and empty,
// belongs to an organisation, and has the App installed.
func (s *Server) Repo(fullName string) *Repo {
	owner, name, ok := strings.Cut(fullName, "/")
	if !ok || owner == "" || name == "" {
		s.opts.Fail("repository %q: write OWNER/NAME", fullName)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.state.repos[fold(fullName)]; r != nil {
		return r
	}
	s.installation(owner)
	id := s.state.nextID()
	g := newGit(s.ctx, filepath.Join(s.dir, strconv.FormatInt(id, 10)+".git"))
	r := s.addRepo(&Repo{id: id, git: g, owner: s.state.account(owner, "Organization"), name: name, installed: true})
	return r
}

// addRepo completes a repository and lists it. The lock must be held.
func (s *Server) addRepo(r *Repo) *Repo {
	r.s, r.defaultBranch, r.createdAt, r.pushedAt = s, "main", s.now(), s.now()
	r.branches, r.roles, r.labels = map[string]string{}, map[string]string{}, map[string]int64{}
	r.Checks, r.Issues, r.Settings = &Checks{repo: r, suites: map[suiteKey]int64{}}, &Issues{repo: r}, &Settings{repo: r}
	s.state.place(r)
	s.notify()
	return r
}

func (r *Repo) fullName() string { return r.owner.login + "/" + r.name }

// FullName returns OWNER/NAME.
func (r *Repo) FullName() string {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.fullName()
}

// ownerLogin returns the owner's login.
func (r *Repo) ownerLogin() string {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.owner.login
}

// ID returns the repository's id, which outlives renames.
func (r *Repo) ID() int64 { return r.id }

// Grant gives a user a role: admin, maintain, write, triage, read or none.
func (r *Repo) Grant(login, role string) {
	if !slices.Contains(roles, role) {
		r.s.opts.Fail("grant %q to %s: roles are %s", role, login, strings.Join(roles, ", "))
	}
	r.change(func() {
		r.s.state.account(login, "User")
		r.roles[fold(login)] = role
	})
}

// roles are GitHub's roles, lowest first.
var roles = []string{"none", "read", "triage", "write", "maintain", "admin"}

// role returns an account's role. The lock must be held.
func (r *Repo) role(a *account) string {
	if a == r.owner {
		return "admin"
	}
	if role, ok := r.roles[fold(a.login)]; ok {
		return role
	}
	if r.private {
		return "none"
	}
	return "read"
}

// change runs f with the lock held and wakes the waiting goroutines.
func (r *Repo) change(f func()) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	f()
	r.s.notify()
}

// Branch returns the SHA at the tip of a branch, or "".
func (r *Repo) Branch(name string) string {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.branches[name]
}

// isEmpty reports whether nothing was pushed to the repository yet.
func (r *Repo) isEmpty() bool {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return len(r.branches) == 0
}

// Commit commits a change to a branch, pushes it and returns its SHA. A new branch starts at
// the default branch's tip. Open pull requests from the branch are synchronized.
func (r *Repo) Commit(branch string, files Files, message string) string {
	return r.CommitAs("octocat", branch, files, message)
}

// CommitAs is Commit with a person as committer and pusher.
func (r *Repo) CommitAs(login, branch string, files Files, message string) string {
	r.s.mu.Lock()
	parent := cmp.Or(r.branches[branch], r.branches[r.defaultBranch])
	r.s.mu.Unlock()
	sha := r.commitOn(parent, login, files, message)
	r.moveBranch(login, branch, sha, false)
	return sha
}

// commitOn makes a commit without moving a branch.
func (r *Repo) commitOn(parent, login string, files Files, message string) string {
	r.s.mu.Lock()
	who := signature{Name: login, Email: login + "@users.noreply.github.com", When: r.s.state.nextCommit()}
	r.s.state.account(login, "User")
	r.s.mu.Unlock()
	sha, err := r.git.commitFiles(parent, files, message, who)
	if err != nil {
		r.s.opts.Fail("commit to %s: %v", r.FullName(), err)
	}
	return sha
}

// moveBranch points a branch at a commit, as a push does, and sends what
// GitHub sends: push, and synchronize for every open pull request from it.
func (r *Repo) moveBranch(login, branch, sha string, forced bool) {
	r.warm(branch, sha)
	pushed := r.pushed(branch, sha, forced)
	r.s.happens(func() []event {
		before := r.branches[branch]
		r.branches[branch] = sha
		r.pushedAt = r.s.now()
		sender := r.s.state.account(login, "User")
		events := []event{r.pushEvent(branch, before, sha, pushed, forced, sender), r.Checks.suiteRequested(branch, before, sha, sender)}
		for _, p := range r.s.state.pullsFrom(r, branch) {
			events = append(events, p.synchronize(sha, sender))
		}
		return events
	})
}

// warm makes git look at the changes of a push before the lock is taken for it.
func (r *Repo) warm(branch, sha string) {
	var bases []string
	r.s.mu.Lock()
	for _, p := range r.s.state.pullsFrom(r, branch) {
		bases = append(bases, p.repo.branches[p.baseRef])
	}
	r.s.mu.Unlock()
	for _, base := range bases {
		r.git.warm(base, sha)
	}
}

// pullsFrom lists the open pull requests whose head is the branch. The lock
// must be held.
func (st *state) pullsFrom(head *Repo, branch string) []*PullRequest {
	var from []*PullRequest
	for _, name := range slices.Sorted(maps.Keys(st.repos)) {
		for _, p := range st.repos[name].pulls {
			if p.headRepo == head && p.headRef == branch && p.open() {
				from = append(from, p)
			}
		}
	}
	return from
}

// ImportGit imports two commits of a repository on this machine without copying their
// objects, for a pull request with real history. They become the default branch and a new
// branch "import", whose name it returns. The other repository must stay in its place.
func (r *Repo) ImportGit(dir, baseRev, headRev string) (branch string) {
	shas, err := r.git.objects.borrow(dir, baseRev, headRev)
	if err != nil {
		r.s.opts.Fail("import %s: %v", dir, err)
	}
	const imported = "import"
	r.s.mu.Lock()
	branches := []string{r.defaultBranch, imported}
	r.s.mu.Unlock()
	for i, name := range branches {
		r.moveBranch("octocat", name, shas[i], true)
	}
	return imported
}

// fork returns the repository's fork on another account, which it creates if necessary.
func (r *Repo) fork(login string) *Repo {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	owner := r.s.state.account(login, "User")
	for _, f := range r.s.state.repos {
		if f.parent == r && f.owner == owner {
			return f
		}
	}
	f := r.s.addRepo(&Repo{id: r.s.state.nextID(), git: r.git, owner: owner, name: r.name, parent: r})
	f.defaultBranch = r.defaultBranch
	f.branches[f.defaultBranch] = r.branches[r.defaultBranch]
	return f
}

// Forget removes a commit, as GitHub does some time after nothing points to it any more. That
// happens after a forced push or the end of its fork. The commit can no longer be found by
// its SHA, and no check can be created on it.
func (r *Repo) Forget(sha string) {
	r.git.history.forget(sha)
	r.change(func() {})
}
