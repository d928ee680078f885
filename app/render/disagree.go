package render

import "github.com/reviewgate/reviewgate/pipeline"

// The functions of this file put contradictions into words. A contradiction is a finding
// about which several reviewers disagree. It shows what each reviewer would do, and
// people choose.

// side is one reviewer's part of a contradiction.
type side struct {
	Agent, Model, Message, Recommendation safe
	Action, Severity                      word
}

// sides lists what each reviewer says about the finding's place.
func (fs *findings) sides(f *pipeline.Finding) []safe {
	const maxSides = 6
	return first(f.Perspectives, maxSides, func(p pipeline.Perspective) safe {
		s := side{
			Agent: fs.p.text(p.Agent, maxName), Model: fs.p.text(p.Model, maxName),
			Message: sentence(fs.p.text(p.Message, maxReason)), Action: actionWord(p.Action), Severity: severityWord(p.Severity),
		}
		if p.Recommendation != p.Message {
			s.Recommendation = sentence(fs.p.text(p.Recommendation, maxReason))
		}
		return say("side", s)
	})
}

// actionWord returns what a reviewer would do, or "" for an unknown action.
func actionWord(a pipeline.Action) word {
	switch a {
	case pipeline.ActionAdd, pipeline.ActionRemove, pipeline.ActionKeep, pipeline.ActionChange:
		return word(a)
	}
	return ""
}

// What a disagreement means for the merge.
const (
	bearingBlocks word = "blocks"
	bearingPasses word = "passes"
)

func (fs *findings) bearing(f *pipeline.Finding) word {
	if fs.blocks && fs.isSerious(f) {
		return bearingBlocks
	}
	return bearingPasses
}

// disputed lists the disagreements that are not serious.
func (s sections) disputed(layout string) items {
	return each(s.fs.disputes, func(f **pipeline.Finding) safe { return say(layout, s.fs.dispute(*f)) })
}

func (fs *findings) dispute(f *pipeline.Finding) finding {
	out := fs.line(f)
	fs.addDetails(&out, f)
	return out
}
