package config

import (
	"fmt"
	"maps"
	"strings"

	"github.com/go-enry/go-enry/v2/data"

	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// checkLanguages refuses names that no language has: an entry with such a name would never match.
func (c *valueChecks) checkLanguages(n *jsontree.Node) {
	for _, e := range elems(n) {
		if !given(e) {
			continue // the schema reports this
		}
		known, ok := data.LanguageByAlias(e.Text)
		if strings.EqualFold(known, e.Text) {
			continue
		}
		remedy := fmt.Sprintf("did you mean %q?", known)
		if !ok {
			remedy = c.didYouMean(e.Text, maps.Keys(data.IDByLanguage), "use a name that GitHub shows, such as Go, TypeScript or Python")
		}
		c.of(e, fmt.Sprintf("there is no language %s", shown(e.Text)), remedy)
	}
}
