package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-enry/go-enry/v2/data"

	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// languageNames are the names that files' languages have.
var languageNames = sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(data.IDByLanguage)) })

// checkLanguages refuses names that no file's language has: what asks for them
// would never find anything.
func (c *valueChecks) checkLanguages(n *jsontree.Node) {
	for _, e := range elems(n) {
		if !given(e) {
			continue // the schema has said so
		}
		known, ok := data.LanguageByAlias(e.Text)
		if strings.EqualFold(known, e.Text) {
			continue
		}
		if !ok {
			known = ""
			if len(c.list) <= maxProblems {
				known = nearest(e.Text, languageNames())
			}
		}
		remedy := "use a name that GitHub shows, such as Go, TypeScript or Python"
		if known != "" {
			remedy = fmt.Sprintf("did you mean %q?", known)
		}
		c.of(e, fmt.Sprintf("there is no language %s", shown(e.Text)), remedy)
	}
}
