package webhook

import (
	"errors"
	"regexp"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
)

type pushEvent struct {
	envelope
	Ref     string `json:"ref"`
	After   string `json:"after"`
	Created bool   `json:"created"`
	Deleted bool   `json:"deleted"`
	Forced  bool   `json:"forced"`
	// Commits are the pushed commits, oldest first.
	Commits []struct {
		ID       string   `json:"id"`
		Added    []string `json:"added"`
		Removed  []string `json:"removed"`
		Modified []string `json:"modified"`
	} `json:"commits"`
}

// requireAction implements event. Pushes have no action.
func (*pushEvent) requireAction() error { return nil }

// read reports that config may have changed. It ignores tags. The use case decides
// whether config is read from the branch.
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

// branchName matches the name of a branch without refs/heads/.
var branchName = regexp.MustCompile(`^[^\x00-\x20\x7f]{1,1000}$`)

// maxCommits is how many commits GitHub lists at most: 2048, or 20 on older servers. A
// list with just as many may be incomplete.
const (
	maxCommits    = 2048
	maxCommitsOld = 20
)

// mayTouchConfig reports whether the push changes config, or the event may not list all
// of its commits.
func (e *pushEvent) mayTouchConfig() bool {
	n := len(e.Commits)
	if e.Created || e.Forced || n == 0 || n == maxCommitsOld || n >= maxCommits || e.Commits[n-1].ID != e.After {
		return true
	}
	for _, c := range e.Commits {
		for _, files := range [][]string{c.Added, c.Removed, c.Modified} {
			for _, f := range files {
				if f == normalize.AttributesFile || f == normalize.ExceptionsFile || config.IsPlace(f) || strings.HasPrefix(f, config.RepositoryDir+"/") {
					return true
				}
			}
		}
	}
	return false
}
