package gh

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/google/go-github/v60/github"
)

// reader reads a successful answer's body.
type reader func(io.Reader) error

// answer is implemented by types that can check whether an answer is complete.
// Well-formed JSON may come from a proxy, or consist of {} alone. It would do harm
// to read that as a closed pull request or as an empty list.
type answer interface{ whole() error }

// asJSON reads the whole body, so that the HTTP cache sees its end, and
// recognises a truncated one.
func asJSON(into any) reader {
	return func(r io.Reader) error {
		text, err := io.ReadAll(r)
		if err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		if bytes.Equal(bytes.TrimSpace(text), []byte("null")) {
			return errNotWhole
		}
		if err := json.Unmarshal(text, into); err != nil {
			return fmt.Errorf("read the answer's JSON: %w", err)
		}
		if a, ok := into.(answer); ok {
			return a.whole()
		}
		return nil
	}
}

func ignored(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

var errNotWhole = errors.New("the answer lacks what it must have")

func wholeIf(ok bool) error {
	if !ok {
		return errNotWhole
	}
	return nil
}

// wholeList checks every entry of a list.
func wholeList[T any](list []T, ok func(T) bool) error {
	for _, x := range list {
		if !ok(x) {
			return errNotWhole
		}
	}
	return nil
}

// pullAnswer is a pull request.
type pullAnswer struct{ github.PullRequest }

func (p *pullAnswer) whole() error {
	return wholeIf(p.GetNumber() > 0 && shaPattern.MatchString(p.GetHead().GetSHA()) && shaPattern.MatchString(p.GetBase().GetSHA()) &&
		(p.GetState() == "open" || p.GetState() == "closed"))
}

// pullList is a page of pull requests.
type pullList []*github.PullRequest

func (l *pullList) whole() error {
	return wholeList(*l, func(p *github.PullRequest) bool { return p.GetNumber() > 0 && p.GetHead().GetSHA() != "" })
}

// fileList is a page of changed files.
type fileList []*github.CommitFile

func (l *fileList) whole() error {
	return wholeList(*l, func(f *github.CommitFile) bool { return f.GetFilename() != "" && f.GetStatus() != "" })
}

// commitList is a page of commits.
type commitList []*github.RepositoryCommit

func (l *commitList) whole() error {
	return wholeList(*l, func(c *github.RepositoryCommit) bool { return c.GetSHA() != "" })
}

// comparison is the first page of a comparison. It contains all of the files.
type comparison struct{ github.CommitsComparison }

func (d *comparison) whole() error {
	files := fileList(d.Files)
	return errors.Join(wholeIf(d.TotalCommits != nil && d.Files != nil && d.GetMergeBaseCommit().GetSHA() != ""), files.whole())
}

// commitsOfComparison is a later page of a comparison.
type commitsOfComparison struct {
	Commits commitList `json:"commits"`
}

func (d *commitsOfComparison) whole() error {
	return errors.Join(wholeIf(d.Commits != nil), d.Commits.whole())
}

// repositoryAnswer is a repository.
type repositoryAnswer struct{ github.Repository }

func (r *repositoryAnswer) whole() error {
	return wholeIf(r.GetID() > 0 && r.GetOwner().GetLogin() != "" && r.GetName() != "")
}

// checkAnswer is a check run.
type checkAnswer struct{ github.CheckRun }

func (r *checkAnswer) whole() error { return wholeIf(r.GetID() > 0) }

// annotationList is a page of a check run's annotations.
type annotationList []*github.CheckRunAnnotation

func (l *annotationList) whole() error {
	return wholeList(*l, func(a *github.CheckRunAnnotation) bool {
		return a != nil && a.GetPath() != "" && a.GetAnnotationLevel() != ""
	})
}

// alertAnswer is a code scanning alert. go-github's type lacks the link to the rule's
// documentation.
type alertAnswer struct {
	github.Alert
	Rule struct {
		github.Rule
		HelpURI string `json:"help_uri"`
	} `json:"rule"`
}

// alertList is a page of code scanning alerts.
type alertList []alertAnswer

func (l *alertList) whole() error {
	return wholeList(*l, func(a alertAnswer) bool { return a.GetNumber() > 0 && a.MostRecentInstance != nil })
}

// checkList is a page of check runs.
type checkList struct {
	Total *int          `json:"total_count"`
	Runs  []checkAnswer `json:"check_runs"`
}

func (l *checkList) whole() error {
	return errors.Join(wholeIf(l.Total != nil && l.Runs != nil), wholeList(l.Runs, func(r checkAnswer) bool { return r.GetID() > 0 }))
}
