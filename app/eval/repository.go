package eval

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/localgit"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// importCases creates a repository in a directory, with two branches for each case:
// NAME/base and NAME/head. The pipeline then reads cases like every local change.
func importCases(ctx context.Context, dir string, cases []Case) error {
	// Not a bare repository: a user's settings may make git refuse those.
	if err := git(ctx, nil, "init", "--quiet", dir); err != nil {
		return err
	}
	var in bytes.Buffer
	for i := range cases {
		c := &cases[i]
		commit(&in, c.Name+"/base", "Start", c.Base)
		fmt.Fprintf(&in, "reset refs/heads/%s/head\nfrom refs/heads/%[1]s/base\n\n", c.Name)
		commit(&in, c.Name+"/head", c.Title+"\n\n"+c.Body, c.Head)
	}
	return git(ctx, &in, "--git-dir="+filepath.Join(dir, ".git"), "fast-import", "--quiet")
}

// importDate is the date of all commits, in Unix seconds. The value does not matter.
const importDate = 1_750_000_000

// commit writes a commit on top of a branch, in the format of git fast-import. The commit
// contains only the given files.
func commit(in *bytes.Buffer, branch, message string, files map[string]string) {
	fmt.Fprintf(in, "commit refs/heads/%s\ncommitter Kim Doe <kim@example.com> %d +0000\ndata %d\n%s\ndeleteall\n", branch, importDate, len(message), message)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(in, "M 100644 inline %s\ndata %d\n%s\n", path, len(files[path]), files[path])
	}
	in.WriteString("\n")
}

func git(ctx context.Context, in *bytes.Buffer, args ...string) error {
	_, err := gitOutput(ctx, in, args...)
	return err
}

// gitOutput returns what git prints.
func gitOutput(ctx context.Context, in *bytes.Buffer, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	if in != nil {
		cmd.Stdin = in
	}
	// The user's settings and a surrounding repository must not matter.
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("make a repository of the cases: %w: %s", err, bytes.TrimSpace(problems.Bytes()))
	}
	return out.Bytes(), nil
}

// source reads one case as a local range, with the case's title and description.
type source struct {
	*localgit.Source
	c *Case
}

var _ normalize.Source = source{}

func open(ctx context.Context, dir string, c *Case, layers []config.Layer) (source, error) {
	src, err := localgit.Open(ctx, localgit.Options{Dir: dir, Base: c.Name + "/base", Head: c.Name + "/head", Layers: layers})
	return source{src, c}, err
}

// PullRequest returns the case's pull request. It does not contain the case's name, which
// reveals the defect.
func (s source) PullRequest(ctx context.Context) (raw.PullRequest, error) {
	p, err := s.Source.PullRequest(ctx)
	p.Title, p.Body = s.c.Title, s.c.Body
	p.Repository.Owner, p.Repository.Name = "eval", "cases"
	p.Head.Repository = p.Repository.FullName()
	p.Repository.DefaultBranch, p.Base.Ref, p.Head.Ref = "main", "main", "change"
	return p, err
}
