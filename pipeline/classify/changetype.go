package classify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// TypedByTitle reports whether a title names the type of its change, so that nothing else decides.
func TypedByTitle(title string) bool {
	t, _ := titleType(title)
	return t != ""
}

// TypedByLabel reports whether a label names the type of a change.
func TypedByLabel(label string) bool { return typeOfWord(labelWord(label)) != "" }

// changeType names the type of a change and the evidence for it, which is the first of title,
// labels, branch and files that names one.
func changeType(facts *pipeline.PRFacts, s survey) (name, source string) {
	if t, prefix := titleType(facts.Title); t != "" {
		return t, fmt.Sprintf("the title's prefix %q", prefix)
	}
	for _, l := range facts.Labels {
		if t := typeOfWord(labelWord(l)); t != "" {
			return t, fmt.Sprintf("the label %q", l)
		}
	}
	if prefix, _, ok := strings.Cut(facts.Head.Ref, "/"); ok {
		if t := typeOfWord(prefix); t != "" {
			return t, fmt.Sprintf("the branch's prefix %q", prefix+"/")
		}
	}
	return typeOfFiles(facts, s)
}

func typeOfFiles(facts *pipeline.PRFacts, s survey) (name, source string) {
	switch n := len(facts.Files); {
	case n == 0:
		return "change", "there are no files"
	case s.docs == n:
		return "docs", "every file is documentation"
	case s.tests == n:
		return "test", "every file is a test"
	case s.workflows == n:
		return "ci", "every file is a workflow"
	case s.dependencies == n:
		return "deps", "every file is a manifest or lock file"
	case s.newSource >= 0:
		return "feature", "new source: " + facts.Files[s.newSource].Path
	}
	return "change", "nothing says more"
}

// titleType reads a Conventional Commits prefix: "fix:", "feat(cart)!:". It
// returns the type and the prefix as written.
func titleType(title string) (name, prefix string) {
	prefix, _, ok := strings.Cut(title, ":")
	if !ok {
		return "", ""
	}
	word := strings.TrimSuffix(prefix, "!")
	word, scope, scoped := strings.Cut(word, "(")
	if scoped {
		if scope, ok = strings.CutSuffix(scope, ")"); !ok {
			return "", ""
		}
		if t := typeOfWord(scope); t == "deps" && typeOfWord(word) != "" {
			return t, prefix + ":" // such as chore(deps), build(deps-dev), fix(deps)
		}
	}
	return typeOfWord(word), prefix + ":"
}

// labelWord returns the last part of labels such as "type: bug" and "kind/bug".
func labelWord(label string) string {
	if i := strings.LastIndexAny(label, ":/"); i >= 0 {
		switch strings.ToLower(strings.TrimSpace(label[:i])) {
		case "type", "kind", "category":
			return label[i+1:]
		}
	}
	return label
}

// typeWords are the words at the start of titles, labels and branches, by the type that they name.
// docs/guide.md lists them.
var typeWords = map[string][]string{
	"feature":  {"feat", "feature", "features", "enhancement"},
	"fix":      {"fix", "bug", "bugfix", "hotfix"},
	"docs":     {"docs", "doc", "documentation"},
	"test":     {"test", "tests", "testing"},
	"ci":       {"ci", "workflow"},
	"deps":     {"deps", "deps-dev", "dependencies", "dependabot", "renovate"},
	"refactor": {"refactor", "refactoring", "cleanup"},
	"perf":     {"perf", "performance"},
	"chore":    {"chore", "maintenance"},
	"build":    {"build"},
	"style":    {"style"},
	"revert":   {"revert"},
	"release":  {"release"},
}

// typeOfWord returns the type that a word names, or "".
func typeOfWord(word string) string {
	word = strings.ToLower(strings.TrimSpace(word))
	for name, words := range typeWords {
		if slices.Contains(words, word) {
			return name
		}
	}
	return ""
}
