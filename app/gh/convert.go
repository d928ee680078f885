package gh

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"

	"github.com/google/go-github/v60/github"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

func pullRequest(p *github.PullRequest) raw.PullRequest {
	head, base := p.GetHead(), p.GetBase()
	out := raw.PullRequest{
		Repository: repository(base.GetRepo()),
		Number:     p.GetNumber(),
		Title:      p.GetTitle(),
		Body:       p.GetBody(),
		Draft:      p.GetDraft(),
		Author: pipeline.Author{
			Login:       p.GetUser().GetLogin(),
			Type:        p.GetUser().GetType(),
			Association: p.GetAuthorAssociation(),
		},
		Base: pipeline.Base{Ref: base.GetRef(), SHA: base.GetSHA()},
		Head: pipeline.Head{
			Ref:        head.GetRef(),
			SHA:        head.GetSHA(),
			Repository: head.GetRepo().GetFullName(), // empty if the fork was deleted
			Fork:       head.GetRepo().GetID() != base.GetRepo().GetID(),
		},
		Milestone: p.GetMilestone().GetTitle(),
		Totals: pipeline.Totals{
			Files:     p.GetChangedFiles(),
			Additions: p.GetAdditions(),
			Deletions: p.GetDeletions(),
		},
		Commits: p.GetCommits(),
	}
	for _, l := range p.Labels {
		out.Labels = append(out.Labels, l.GetName())
	}
	return out
}

func repository(r *github.Repository) pipeline.Repository {
	return pipeline.Repository{
		Owner:         r.GetOwner().GetLogin(),
		Name:          r.GetName(),
		DefaultBranch: r.GetDefaultBranch(),
		Private:       r.GetPrivate(),
	}
}

func conversation(p *github.PullRequest) ports.Conversation {
	return ports.Conversation{
		Comments: p.GetComments(),
		OnLines:  p.GetReviewComments(),
		Locked:   p.GetLocked(),
		Archived: p.GetBase().GetRepo().GetArchived(),
	}
}

func changedFiles(files []*github.CommitFile) []raw.ChangedFile {
	out := make([]raw.ChangedFile, 0, len(files))
	for _, f := range files {
		out = append(out, raw.ChangedFile{
			Path:         f.GetFilename(),
			PreviousPath: f.GetPreviousFilename(),
			Status:       pipeline.FileStatus(f.GetStatus()),
			Additions:    f.GetAdditions(),
			Deletions:    f.GetDeletions(),
			Patch:        f.GetPatch(),
			Empty:        f.GetSHA() == emptyBlob,
		})
	}
	return out
}

func commits(list []*github.RepositoryCommit) []pipeline.Commit {
	out := make([]pipeline.Commit, 0, len(list))
	for _, c := range list {
		author := c.GetAuthor().GetLogin()
		if author == "" { // no account has the commit's e-mail address
			author = c.GetCommit().GetAuthor().GetName()
		}
		out = append(out, pipeline.Commit{
			SHA:      c.GetSHA(),
			Message:  c.GetCommit().GetMessage(),
			Author:   author,
			Verified: c.GetCommit().GetVerification().GetVerified(),
		})
	}
	return out
}

var errHeadMoved = errors.New("the head moved while the list was read")

// headOfPages finds the head at which a list of files was read. The list itself
// doesn't name the head, but each file's contents URL does. Pages of different heads
// are an error.
func headOfPages(all []fileList) (string, error) {
	head := ""
	for _, page := range all {
		h := headOfPage(page)
		if h == "" || h == head {
			continue
		}
		if head != "" {
			return "", errHeadMoved
		}
		head = h
	}
	return head, nil
}

var shaPattern = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// headOfPage returns the SHA that all files of a page agree on, or "". Removed files
// don't count: they exist only at the base.
func headOfPage(files []*github.CommitFile) string {
	head := ""
	for _, f := range files {
		if f.GetStatus() == string(pipeline.FileRemoved) {
			continue
		}
		u, err := url.Parse(f.GetContentsURL())
		if err != nil {
			return ""
		}
		ref := u.Query().Get("ref")
		if !shaPattern.MatchString(ref) || head != "" && ref != head {
			return ""
		}
		head = ref
	}
	return head
}

// ours makes sure that an answer is about the target's repository: after a rename
// another repository may have the old name.
func ours(t ports.Target, p *pullAnswer) error {
	return sameRepository("read the pull request", t, p.GetBase().GetRepo().GetID())
}

func sameRepository(op string, t ports.Target, id int64) error {
	if id == t.RepoID {
		return nil
	}
	return &ports.HostError{
		Op: op, Kind: ports.HostNotFound,
		Err: fmt.Errorf("%s/%s is another repository now", t.Owner, t.Name),
	}
}
