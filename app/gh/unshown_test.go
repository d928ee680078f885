package gh

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

const routeFiles = "GET /repos/{owner}/{repo}/pulls/{n}/files"

// hideDiffs removes the lines of these Go files from the list, just as GitHub does for files
// with the attribute -diff.
func hideDiffs(x *ghtest.Exchange) {
	r := x.Proceed()
	var files []map[string]any
	if json.Unmarshal(r.Body, &files) != nil {
		return
	}
	for _, f := range files {
		if strings.HasPrefix(fmt.Sprint(f["filename"]), "hidden") {
			delete(f, "patch")
			f["additions"], f["deletions"], f["changes"] = 0, 0, 0
		}
	}
	r.Body, _ = json.Marshal(files)
	r.Header.Del("Content-Length")
}

// hideSums removes those lines from the pull request's sums too.
func hideSums(x *ghtest.Exchange) {
	r := x.Proceed()
	var pull map[string]any
	if json.Unmarshal(r.Body, &pull) != nil {
		return
	}
	pull["additions"], pull["deletions"] = 0, 0
	r.Body, _ = json.Marshal(pull)
	r.Header.Del("Content-Length")
}

// TestFilesWithoutLines distinguishes files with hidden lines from files without lines.
func TestFilesWithoutLines(t *testing.T) {
	long := func(end string) string { return strings.Repeat("// The same line.\n", 50) + end }
	script := "#!/bin/sh\necho\n"
	start := ghtest.Files{
		"run.sh": script, "old/long.go": long(""), "old/b.go": "package b\n", "data.go": "package a\n// \x00\n",
		"hidden.go": "package a\n", "elsewhere.go": long("// mine\n"), "late.sh": script, "copy.go": "package c\n",
	}
	change := ghtest.Files{
		"run.sh":           ghtest.Executable(script),
		"new/b.go":         ghtest.MovedFrom("old/b.go"),
		"old/long.go":      ghtest.Gone,
		"new/long.go":      long("// \x00\n"),
		"data.go":          "package a\n// \x00 more\n",
		"hidden.go":        "package a\n\nvar secret = 1\n",
		"hidden_new.go":    "package a\n",
		"empty.go":         "",
		"utf16.py":         "\xff\xfei\x00\n\x00",
		"late.sh":          ghtest.Executable(script),
		"logo.png":         "\x89PNG\x00",
		"shown.go":         "package a\n",
		"hidden_moved2.go": ghtest.MovedFrom("elsewhere.go"),
	}
	want := []string{"data.go", "hidden.go", "hidden_new.go", "logo.png", "new/long.go", "utf16.py"}
	w := newWorld(t, ghtest.Options{})
	w.repo.Commit("main", start, "start")
	p := w.repo.OpenPR(ghtest.PR{Head: "change", Files: change})
	// The base has moved on and no longer contains the files that the change started from.
	w.repo.Commit("main", ghtest.Files{"late.sh": script + "exit\n", "old/b.go": ghtest.Gone}, "later")
	w.hub.On(routeFiles, hideDiffs)
	w.hub.On("GET /repos/{owner}/{repo}/pulls/{n}", hideSums)
	for range 2 {
		src := w.client.Source(w.target(p))
		files, err := src.Files(t.Context())
		w.must(err)
		var got []string
		for _, f := range files.Files {
			if f.Binary {
				t.Errorf("%s is classified as binary", f.Path)
			}
			if f.Empty != (f.Path == "empty.go") {
				t.Errorf("%s: empty is %v", f.Path, f.Empty)
			}
			if f.Patch != "" && f.Path != "shown.go" && (f.Status != pipeline.FileRemoved) {
				got = append(got, f.Path)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("files that were read in full (-want +got):\n%s", diff)
		}
		if src.Calls() > 10 {
			t.Errorf("%d calls", src.Calls())
		}
	}
	if u := w.hub.Calls.Unexpected(); len(u) > 0 {
		t.Errorf("unexpected calls %+v", u)
	}
}

// A change of mode costs two more calls, and repeating the review costs none.
func TestModeChangeCostsTwoCalls(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	w.repo.Commit("main", ghtest.Files{"run.sh": "echo\n"}, "script")
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"run.sh": ghtest.Executable("echo\n")}})
	for _, want := range []int{6, 3} {
		if f, src := w.facts(w.target(p)); src.Calls() != want || len(f.Incomplete) != 0 {
			t.Errorf("%d calls, want %d; incomplete %+v", src.Calls(), want, f.Incomplete)
		}
	}
}

func TestFilesWithoutLinesInAMergeGroup(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	w.repo.Commit("main", ghtest.Files{"run.sh": "echo\n", "data.go": "package a\n// \x00\n"}, "start")
	p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"run.sh": ghtest.Executable("echo\n"), "data.go": "package a\n// \x00 more\n"}})
	g := w.repo.MergeGroup(p)
	target := w.target(p)
	target.Kind, target.HeadSHA, target.BaseSHA, target.HeadRef = ports.TargetGroup, g.HeadSHA, g.BaseSHA, g.HeadRef
	files, err := w.client.Source(target).Files(t.Context())
	w.must(err)
	got := map[string]bool{}
	for _, f := range files.Files {
		got[f.Path] = f.Patch != ""
	}
	if want := map[string]bool{"run.sh": false, "data.go": true}; !maps.Equal(got, want) {
		t.Errorf("read %v, want %v", got, want)
	}
}

// Git reads what the API does not have. When the merge base is unknown, the facts say that
// the file was not read. Other errors fail the read.
func TestOldFilesAreGone(t *testing.T) {
	t.Parallel()
	for route, reads := range map[string]bool{routeContents: true, "GET /repos/{owner}/{repo}/compare/{basehead}": false} {
		for status, seen := range map[int]bool{404: true, 403: false, 502: false} {
			w := newWorld(t, ghtest.Options{})
			w.repo.Commit("main", ghtest.Files{"data.go": "package a\n// \x00\n"}, "start")
			p := w.repo.OpenPR(ghtest.PR{Files: ghtest.Files{"data.go": "package a\n// \x00 more\n"}})
			w.hub.On(route, func(x *ghtest.Exchange) { x.Fail(status, "no") })
			files, err := w.client.Source(w.target(p)).Files(t.Context())
			if !seen {
				if err == nil {
					t.Errorf("%d from %s: %+v", status, route, files)
				}
				continue
			}
			if err != nil || files.Files[0].Binary == reads || (len(files.Incomplete) == 0) != reads {
				t.Errorf("%d from %s: %+v, %v", status, route, files, err)
			}
		}
	}
}

// An executable picture is recognised, because git shows its mode.
func TestExecutablePicture(t *testing.T) {
	picture := "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00\x01\x9f\xfe\x80\x93", 300)
	w := newWorld(t, ghtest.Options{})
	w.repo.Commit("main", ghtest.Files{"docs/README.md": "# Shop\n", "img/old.png": picture}, "start")
	p := w.repo.OpenPR(ghtest.PR{Head: "change", Files: ghtest.Files{"img/a.png": picture + "\x01", "img/run.png": ghtest.Executable(picture)}})
	files, err := w.client.Source(w.target(p)).Files(t.Context())
	w.must(err)
	if len(files.Incomplete) != 1 || files.Incomplete[0].Path != "img/run.png" || !files.Incomplete[0].Gating {
		t.Errorf("incomplete %+v, want img/run.png to gate", files.Incomplete)
	}
}
