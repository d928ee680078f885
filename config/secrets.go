package config

import (
	"slices"
	"time"

	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// joinLists puts a layer's list in a section of the settings after that of the
// layers below, where any other list takes the place of theirs.
func joinLists(merged, below, own *jsontree.Node, section, list string) {
	mine, theirs := own.Get(section).Get(list), below.Get(section).Get(list)
	if mine == nil || theirs == nil || len(theirs.Elems) == 0 || merged.Get(section).Get(list) != mine {
		return // one of the two is all there is, or the lower one is final
	}
	both := *mine
	both.Elems = slices.Concat(theirs.Elems, mine.Elems)
	for i := range merged.Members {
		if merged.Members[i].Key != section {
			continue
		}
		of := *merged.Members[i].Value
		of.Members = slices.Clone(of.Members)
		for j := range of.Members {
			if of.Members[j].Key == list {
				of.Members[j].Value = &both
			}
		}
		merged.Members[i].Value = &of
	}
}

// checkSecrets checks the entries of secrets.allow. A layer whose agent for secrets
// is final decides what a secret is: later layers allow none.
func (t *trial) checkSecrets(allow *jsontree.Node) {
	for _, e := range elems(allow) {
		t.checkGlobs(e.Get("paths"))
		if day := e.Get("expires"); given(day) {
			if _, err := time.Parse(time.DateOnly, day.Text); err != nil && len(day.Text) == len(time.DateOnly) {
				t.of(day, "there is no day "+shown(day.Text), "write a date such as 2027-01-31")
			}
		}
	}
	if len(elems(allow)) == 0 {
		return
	}
	for _, e := range t.below.lists[FileAgents].entries {
		if a, ok := e.value.(*Agent); ok && a.Kind == KindSecrets && e.final != "" {
			t.of(allow, "the agent "+shown(a.ID)+" is "+finalIn(e.final)+", so no later layer allows secrets", "leave it out, or ask for the entry there")
		}
	}
}
