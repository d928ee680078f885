package config

import (
	"slices"

	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// joinList puts a layer's list in the settings after that of the layers below.
func joinList(merged, below, own *jsontree.Node, list string) {
	mine, theirs := own.Get(list), below.Get(list)
	if mine == nil || theirs == nil || len(theirs.Elems) == 0 {
		return
	}
	both := *mine
	both.Elems = slices.Concat(theirs.Elems, mine.Elems)
	for i := range merged.Members {
		if merged.Members[i].Key == list && merged.Members[i].Value == mine {
			merged.Members[i].Value = &both
		}
	}
}

// checkIgnored checks the entries of ignore. Secrets are not among what paths can be
// left out of: secrets.allow is for single values.
func (t *trial) checkIgnored(ignore *jsontree.Node) {
	for _, e := range elems(ignore) {
		t.checkGlobs(e.Get("paths"))
		for _, id := range elems(e.Get("agents")) {
			if a := t.stack.lists[FileAgents].get(id.Text); a != nil {
				if v, ok := a.value.(*Agent); ok && v.Kind == KindSecrets {
					t.of(id, "secrets can't be ignored by path", "leave it out; secrets.allow allows single values")
				}
			}
		}
	}
}
