package decisions

import (
	"testing"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// An override never covers a commit whose pull request is unknown.
func TestWhatMakesUpAGroup(t *testing.T) {
	file := func(path string, added int) pipeline.File { return pipeline.File{Path: path, Additions: added} }
	pull := func(named bool, commits ...string) member {
		m := member{TargetState: ports.TargetState{Target: ports.Target{HeadSHA: commits[len(commits)-1]}}, named: named, commits: commits}
		if named {
			m.lines = map[string]changedLines{"a": {added: 1}, "b": {added: 2}}
		}
		return m
	}
	its := []pipeline.File{file("a", 1), file("b", 2)}
	for _, tt := range []struct {
		name    string
		members []member
		commits []string
		files   []pipeline.File
		more    string // what the facts lack
		want    bool
	}{
		{"merged", []member{pull(true, "a1", "a2")}, []string{"a1", "a2", "m"}, its, "", true},
		{"merged, and another file was too", []member{pull(true, "a1", "a2")}, []string{"a1", "a2", "m", "x", "n"}, its, "", false},
		{"two", []member{pull(true, "a1"), pull(false, "b1")}, []string{"b1", "m", "a1", "n"}, its, "", true},
		{"two, and an unknown one", []member{pull(true, "a1"), pull(false, "b1")}, []string{"b1", "m", "x", "n", "a1", "o"}, its, "", false},
		{"one without the ref's head", []member{pull(true, "a1"), pull(false, "b1")}, []string{"b1", "m", "x"}, its, "", false},
		{"built on another that is not queued", []member{pull(true, "b1", "a1"), pull(false, "b1")}, []string{"b1", "a1", "m"}, its, "", true},
		{"built on one, and an unknown commit", []member{pull(true, "b1", "a1"), pull(false, "b1")}, []string{"b1", "a1", "m", "x"}, its, "", false},
		{"a head that was not reviewed", []member{{TargetState: ports.TargetState{Target: ports.Target{HeadSHA: "a1"}}, named: true}}, []string{"a1", "m"}, its, "", false},
		{"squashed", []member{pull(true, "a1", "a2")}, []string{"s"}, []pipeline.File{file("a", 2)}, "", true},
		{"squashed, without the ref's", []member{pull(false, "a1", "a2")}, []string{"s"}, its, "", false},
		{"rebased", []member{pull(true, "a1", "m1", "a2")}, []string{"r1", "r2"}, its, "", true},
		{"more commits than its own", []member{pull(true, "a1")}, []string{"r1", "r2"}, its, "", false},
		{"another file", []member{pull(true, "a1", "a2")}, []string{"r1", "r2"}, []pipeline.File{file("a", 1), file("c", 0)}, "", false},
		{"other lines", []member{pull(true, "a1", "a2")}, []string{"r1", "r2"}, []pipeline.File{file("a", 3)}, "", false},
		{"commits that are not listed", []member{pull(true, "a1")}, []string{"a1", "m"}, its, "commits", false},
		{"nobody known", nil, []string{"s"}, its, "", false},
	} {
		f := pipeline.PRFacts{Files: tt.files}
		for _, sha := range tt.commits {
			f.Commits = append(f.Commits, pipeline.Commit{SHA: sha})
		}
		if tt.more != "" {
			f.Incomplete = append(f.Incomplete, pipeline.Incompleteness{What: tt.more})
		}
		if got := makeUp(tt.members, &f); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}
