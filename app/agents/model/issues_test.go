package model

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

func saying(body string) *pipeline.PRFacts {
	return &pipeline.PRFacts{Number: 12, Repository: pipeline.Repository{Owner: "acme", Name: "shop"}, Body: body}
}

// Only the issues that GitHub would close in this repository count.
func TestLinkedNumbers(t *testing.T) {
	for body, want := range map[string][]int{
		"Fixes #3":                          {3},
		"fixes: #3, closed #4, RESOLVES #5": {3, 4, 5},
		"Fixes acme/shop#3":                 {3},
		"Fixes ACME/Shop#3":                 {3},
		"Fixes acme/other#3":                nil,
		"Fixes mallory/shop#3":              nil,
		"Fixes x/acme/shop#3":               nil,
		"Fixes ../shop#3":                   nil,
		"See #3":                            nil,
		"Fixes nothing of #3":               nil,
		"hotfixes #3, unclosed #4":          nil,
		"Fixes #12":                         nil, // itself
		"Fixes #3. Fixes #3":                {3},
		"Fixes #0, fixes #-1, fixes #03":    nil,
		"Fixes #99999999999999999999":       nil,
		"Fixes #3x":                         nil,
		"<!-- Fixes #3 -->\nFixes #4":       {4},
		"<!-- Fixes #3 --> Fixes #4 <!--":   {4},
		"Fixes <!-- which? --> #3":          {3},
		"Fixes #6, fixes #2, fixes #9, fixes #1, fixes #5, fixes #7": {6, 2, 9, 1, 5},
		"Fixes https://github.com/acme/shop/issues/3":                {3},
		"Fixes https://github.com/acme/other/issues/3":               nil,
		"Fixes https://evil.example/x/acme/shop/issues/3":            nil,
	} {
		if got := linkedNumbers(saying(body)); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", body, got, want)
		}
	}
}

// tracker has a repository's issues, by number. Other numbers give the error of their kind,
// or "not found".
type tracker struct {
	issues map[int]string
	fails  map[int]ports.HostKind
	asked  []int
}

func (n *tracker) LinkedIssue(_ context.Context, number int) (ports.LinkedIssue, error) {
	n.asked = append(n.asked, number)
	if text, ok := n.issues[number]; ok {
		return ports.LinkedIssue{Number: number, Title: text, Body: text}, nil
	}
	kind := ports.HostNotFound
	if k, ok := n.fails[number]; ok {
		kind = k
	}
	return ports.LinkedIssue{}, &ports.HostError{Op: "read a linked issue", Kind: kind, Err: fmt.Errorf("no issue %d", number)}
}

// A missing issue is left out. An issue that can't be read now is an error, and not an issue
// without text.
func TestLinkedIssues(t *testing.T) {
	src := &tracker{issues: map[int]string{3: "three", 4: "four"}, fails: map[int]ports.HostKind{5: ports.HostForbidden, 6: ports.HostTransient}}
	issues, err := LinkedIssues(t.Context(), src, saying("Fixes #4, fixes #9, fixes #5, fixes #3, fixes acme/other#8"))
	if err != nil || len(issues) != 2 || issues[0].Title != "four" || issues[1].Title != "three" {
		t.Errorf("%+v, %v", issues, err)
	}
	if !slices.Equal(src.asked, []int{4, 9, 5, 3}) {
		t.Errorf("asked for %v", src.asked)
	}
	if _, err := LinkedIssues(t.Context(), src, saying("Fixes #3, fixes #6")); err == nil || !strings.Contains(err.Error(), "read issue 6, which the change is to close") {
		t.Errorf("error %v", err)
	}
}
