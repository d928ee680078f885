package render

import (
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

func TestPermalinks(t *testing.T) {
	facts := &pipeline.PRFacts{
		Base: pipeline.Base{SHA: baseSHA},
		Head: pipeline.Head{SHA: headSHA, Repository: "stranger/fork", Fork: true},
	}
	k := newLinker(Links{WebURL: "https://github.example/", Repository: "acme/shop"}, facts)
	head := "https://github.example/stranger/fork/blob/" + headSHA
	for _, c := range []struct {
		path       string
		start, end int
		want       string
	}{
		{"a/b.go", 0, 0, head + "/a/b.go"},
		{"a/b.go", 3, 3, head + "/a/b.go#L3"},
		{"a/b.go", 3, 5, head + "/a/b.go#L3-L5"},
		{"README.md", 3, 5, head + "/README.md?plain=1#L3-L5"},
		{"a b/#c?(d)/ü%.go", 1, 1, head + "/a%20b/%23c%3F%28d%29/%C3%BC%25.go#L1"},
		{"@types/~x\n.ts", 1, 1, head + "/%40types/%7Ex%0A.ts#L1"},
		{"../../settings", 1, 1, ""},
		{"a//b", 1, 1, ""},
		{"/a", 1, 1, ""},
		{"", 1, 1, ""},
	} {
		if got := k.file(c.path, c.start, c.end); got != c.want {
			t.Errorf("%q: got %q, want %q", c.path, got, c.want)
		}
	}
	if got, want := k.removed("a.go"), "https://github.example/acme/shop/blob/"+baseSHA+"/a.go"; got != want {
		t.Errorf("a removed file links to %q, want the base: %q", got, want)
	}

	for _, fork := range []string{"", "mallory/[redacted:github-pat]"} {
		facts.Head.Repository = fork
		k = newLinker(Links{WebURL: "https://github.example", Repository: "acme/shop"}, facts)
		if got, want := k.file("a.go", 1, 1), "https://github.example/acme/shop/blob/"+headSHA+"/a.go#L1"; got != want {
			t.Errorf("fork %q, deleted or with a secret name: got %q, want %q", fork, got, want)
		}
	}

	if got := newLinker(Links{}, facts).file("a.go", 1, 1); got != "" {
		t.Errorf("a local range links to %q", got)
	}
	facts.Head.SHA = "not-a-sha"
	if got := newLinker(Links{WebURL: "https://github.example", Repository: "a/b"}, facts).file("a.go", 1, 1); got != "" {
		t.Errorf("an invalid SHA links to %q", got)
	}
}
