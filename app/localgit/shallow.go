package localgit

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
)

// shallow returns a sentence for the user if the clone lacks a part of the history, with the
// remedy, and "" otherwise. It only chooses the text of an error, so a failure counts as no.
func (g *git) shallow(ctx context.Context) string {
	if out, err := g.line(ctx, "rev-parse", "--is-shallow-repository"); err != nil || out != "true" {
		return ""
	}
	const is = "this clone is shallow, so it lacks a part of the history"
	if os.Getenv("GITHUB_ACTIONS") == "true" {
		return is + ": add fetch-depth: 0 to the inputs of actions/checkout"
	}
	if command := g.deepen(ctx); command != "" {
		return is + ": run " + command
	}
	return is + ": clone the repository again without --depth"
}

// deepen returns the command that fetches the whole history, or "" if there is no remote. A clone
// with a depth usually fetches one branch only, so the command names all branches if it has to.
func (g *git) deepen(ctx context.Context) string {
	out, err := g.output(ctx, "remote")
	if err != nil {
		return ""
	}
	// Other names would have to be quoted, and nobody uses them.
	remotes := slices.DeleteFunc(strings.Fields(string(out)), func(name string) bool { return !plainName.MatchString(name) })
	if len(remotes) == 0 {
		return ""
	}
	remote := remotes[max(0, slices.Index(remotes, "origin"))]
	branches := "+refs/heads/*:refs/remotes/" + remote + "/*"
	command := "git fetch --unshallow " + remote
	// Without a value, git prints nothing and fails.
	if fetched, _ := g.output(ctx, "config", "--get-all", "remote."+remote+".fetch"); !slices.Contains(strings.Fields(string(fetched)), branches) {
		command += " '" + branches + "'"
	}
	return command
}

// IsPartial reports whether an error is about contents that a clone with a filter lacks.
func IsPartial(err error) bool {
	return stderrHas(err, "promisor remote") || stderrHas(err, "lazy fetching disabled")
}

// ErrPartial says what to do about an error for which IsPartial is true.
var ErrPartial = errors.New("this clone is partial (git clone --filter), so it lacks files that the review needs: run git fetch --refetch --no-filter")

// shallowOr returns the sentence on a shallow clone, or else the other remedy.
func (g *git) shallowOr(ctx context.Context, remedy string) string {
	return cmp.Or(g.shallow(ctx), remedy)
}
