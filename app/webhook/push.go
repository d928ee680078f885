package webhook

import (
	"errors"
	"regexp"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/secrets"
)

type pushEvent struct {
	envelope
	Ref     string `json:"ref"`
	After   string `json:"after"`
	Created bool   `json:"created"`
	Deleted bool   `json:"deleted"`
	Forced  bool   `json:"forced"`
	// Commits are those that the push brought, oldest first.
	Commits []struct {
		ID       string   `json:"id"`
		Added    []string `json:"added"`
		Removed  []string `json:"removed"`
		Modified []string `json:"modified"`
	} `json:"commits"`
}

// named implements event. Pushes have no action.
func (*pushEvent) named() error { return nil }

// read takes the news that config may have changed. Whether the branch is
// one that carries config is for the use case to say, unless it is no branch.
func (e *pushEvent) read(d *ports.Delivery, _ int64) error {
	branch, ok := strings.CutPrefix(e.Ref, "refs/heads/")
	if !ok || e.Deleted || !e.mayTouchConfig() {
		return nil
	}
	t, err := e.target()
	err = errors.Join(err, matching("ref", refName, e.Ref), matching("repository.default_branch", branchName, e.Repository.DefaultBranch))
	if err != nil {
		return err
	}
	t.Kind = ports.TargetPull
	if branch == e.Repository.DefaultBranch {
		branch = ""
	}
	d.Asks = append(d.Asks, ports.ConfigNews{Repository: t, Branch: branch})
	return nil
}

// branchName is a branch without what git puts before it.
var branchName = regexp.MustCompile(`^[^\x00-\x20\x7f]{1,1000}$`)

// maxCommits is how many commits GitHub lists: 2048, on older servers 20. A
// list as long as one of these may have been cut.
const (
	maxCommits    = 2048
	maxCommitsOld = 20
)

// mayTouchConfig reports whether the push changes config, or can't be seen
// whole.
func (e *pushEvent) mayTouchConfig() bool {
	n := len(e.Commits)
	if e.Created || e.Forced || n == 0 || n == maxCommitsOld || n >= maxCommits || e.Commits[n-1].ID != e.After {
		return true
	}
	for _, c := range e.Commits {
		for _, files := range [][]string{c.Added, c.Removed, c.Modified} {
			for _, f := range files {
				if f == normalize.AttributesFile || f == secrets.ExceptionsFile || f == config.RepositoryDir || strings.HasPrefix(f, config.RepositoryDir+"/") {
					return true
				}
			}
		}
	}
	return false
}
