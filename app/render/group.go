package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// groupKey holds what the findings of a group share. Only findings of one rule with
// the same words make a group: an agent's own words are about one place. A finding with a
// comment on its lines stands alone.
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

// group puts findings together that differ only in their place. A group has the
// position of its first finding. Disagreements that are not serious go to
// disputes.
func (fs *findings) group() {
	at := map[groupKey]int{}
	last := -1 // the group of the last finding, if it has one
	for _, f := range fs.list {
		if fs.further[f] { // its first place is just before it
			if last >= 0 {
				fs.groups[last] = append(fs.groups[last], f)
			}
			continue
		}
		last = -1
		if len(f.Perspectives) > 0 && !fs.isSerious(f) {
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
		single := f.RuleID == "" || f.Path == "" || len(f.Perspectives) > 0 || fs.isInline(f)
		if i, ok := at[key]; ok && !single {
			fs.groups[i], last = append(fs.groups[i], f), i
			continue
		}
		if !single {
			at[key] = len(fs.groups)
		}
		last = len(fs.groups)
		fs.groups = append(fs.groups, []*pipeline.Finding{f})
		if fs.isSerious(f) {
			fs.serious = len(fs.groups)
		}
	}
}

// placeLimits bounds what a group shows about its places after the first.
type placeLimits struct {
	room     int  // bytes
	evidence bool // show evidence that differs from that of the first place
}

// The room for the other places of a group, in bytes. Blocking findings show all
// their places except in extreme cases; the others show enough to see where they
// cluster.
const (
	roomPlaces      = 10_000
	roomMinorPlaces = 500
)

// otherPlaces lists the places of a group after the first, each with the id of its
// finding.
func (fs *findings) otherPlaces(group []*pipeline.Finding, limits placeLimits) []safe {
	others := group[1:]
	shown, left := each(others, func(f **pipeline.Finding) safe {
		at := struct {
			Place, ID safe
			Evidence  []safe
		}{Place: fs.place(*f), ID: fs.placeID(*f)}
		if limits.evidence && !slices.Equal((*f).Evidence, group[0].Evidence) {
			at.Evidence = fs.evidence(*f, nil)
		}
		return say("also at", at)
	}).take(limits.room)
	if left > 0 {
		shown = append(shown, moreOf(left))
	}
	return shown
}

// notIgnored returns why a comment in the code that asks to ignore the finding has no
// effect, or "". It quotes the reason that the comment gives.
func notIgnored(f *pipeline.Finding) string {
	if waits, ok := f.Reason(pipeline.ReasonIgnoreWaits, pipeline.ReasonIgnoreChanged); ok {
		why := strings.TrimPrefix(string(waits.Kind), string(pipeline.ReasonNotIgnored))
		return strings.TrimSuffix(why, ": ") + `; its reason: "` + waits.Text + `"`
	}
	return reason(f, pipeline.ReasonNotIgnored)
}

// notDismissed returns why a person's dismissal of the finding does not count, or "".
func notDismissed(f *pipeline.Finding) string { return reason(f, pipeline.ReasonNotDismissed) }

// reason returns the text of the finding's first reason of this kind, or "".
func reason(f *pipeline.Finding, kind pipeline.ReasonKind) string {
	r, _ := f.Reason(kind)
	return r.Text
}

// placeID is the id of a finding in a list of places. A further place of a finding has none, because
// a person decides about all its places at once.
func (fs *findings) placeID(f *pipeline.Finding) safe {
	if fs.further[f] {
		return ""
	}
	return fs.id(f)
}

// id shortens a finding's fingerprint.
func (fs *findings) id(f *pipeline.Finding) safe {
	return fs.p.code(f.ID[:min(8, len(f.ID))], maxName)
}
