package config

import "github.com/reviewgate/reviewgate/pipeline/jsontree"

// checkIgnored checks the entries of ignore. The agent for secrets can't ignore paths:
// secrets.allow is for single values.
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
