package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// sameness is what findings of one rule share that are shown as one, with
// their places. Only what a rule says word for word in many places is: what an
// agent wrote for one place stays apart.
type groupKey struct {
	rule, agent         string
	severity            pipeline.Severity
	title, message, why string
	advice, fix         string
	notIgnored          string
	notDismissed, back  string
	accepted, final     string
	alone               word
	state               pipeline.FindingState
	reviewers           int
}

// group puts findings together that differ in their place only. A group
// stands where its first finding does. Disagreements stand apart, unless they
// are serious.
func (fs *findings) group() {
	at := map[groupKey]int{}
	for _, f := range fs.list {
		if len(f.Perspectives) > 0 && !isSerious(f) {
			fs.disputes = append(fs.disputes, f)
			continue
		}
		key := groupKey{
			rule: f.RuleID, agent: f.Agent, severity: severityOf(f), title: f.Title, message: f.Message, advice: f.Recommendation,
			why: f.WhyItMatters, fix: f.SuggestedFix, notIgnored: notIgnored(f), notDismissed: notDismissed(f), reviewers: len(f.Reviewers), alone: oneModelSeverity(f),
			accepted: acceptedBy(f), final: fmt.Sprint(f.Final),
		}
		if fs.history {
			key.state, key.back = f.State, backFrom(f)
		}
		apart := f.RuleID == "" || f.Path == "" || len(f.Perspectives) > 0
		if i, ok := at[key]; ok && !apart {
			fs.groups[i] = append(fs.groups[i], f)
			continue
		}
		if !apart {
			at[key] = len(fs.groups)
		}
		fs.groups = append(fs.groups, []*pipeline.Finding{f})
		if isSerious(f) {
			fs.serious = len(fs.groups)
		}
	}
}

// depth is how much is told of a group's places besides the first.
type placeLimits struct {
	room     int  // bytes
	evidence bool // where it is another than that of the first
}

// What the other places of a group may take, in bytes: all of those that block
// but in absurd cases, and of the others enough to see where they cluster.
const (
	roomPlaces      = 10_000
	roomMinorPlaces = 500
)

// also lists the places of a group besides the first, each with the id by
// which it is known.
func (fs *findings) otherPlaces(group []*pipeline.Finding, d placeLimits) []safe {
	others := group[1:]
	shown, left := each(others, func(f **pipeline.Finding) safe {
		at := struct {
			Place, ID safe
			Evidence  []safe
		}{Place: fs.place(*f), ID: fs.id(*f)}
		if d.evidence && !slices.Equal((*f).Evidence, group[0].Evidence) {
			at.Evidence = fs.evidence(*f, nil)
		}
		return say("also at", at)
	}).take(d.room)
	if left > 0 {
		shown = append(shown, moreOf(left))
	}
	return shown
}

// notIgnored is why a comment in the code that asks to ignore the finding is
// not obeyed, or "". The reason that the comment gives is told apart from what is said of it.
func notIgnored(f *pipeline.Finding) string {
	if waits, ok := f.Reason(pipeline.ReasonIgnoreWaits, pipeline.ReasonIgnoreChanged); ok {
		why := strings.TrimPrefix(string(waits.Kind), string(pipeline.ReasonNotIgnored))
		return strings.TrimSuffix(why, ": ") + `; its reason: "` + waits.Text + `"`
	}
	return reason(f, pipeline.ReasonNotIgnored)
}

// notDismissed is why a person's dismissal of the finding does not count, or "".
func notDismissed(f *pipeline.Finding) string { return reason(f, pipeline.ReasonNotDismissed) }

// reason is the text of the finding's first reason of this kind, or "".
func reason(f *pipeline.Finding, kind pipeline.ReasonKind) string {
	r, _ := f.Reason(kind)
	return r.Text
}

// id is the short form of a finding's fingerprint.
func (fs *findings) id(f *pipeline.Finding) safe {
	return fs.p.code(f.ID[:min(8, len(f.ID))], maxName)
}
