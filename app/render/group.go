package render

import "github.com/reviewgate/reviewgate/pipeline"

// sameness is what findings of one rule share that are shown as one, with
// their places. Only what a rule says word for word in many places is: what an
// agent wrote for one place stays apart.
type sameness struct {
	rule, agent            string
	severity               pipeline.Severity
	title, message, advice string
	state                  pipeline.FindingState
	reviewers              int
}

// group puts findings together that differ in their place only. A group
// stands where its first finding does.
func (fs *findings) group() {
	at := map[sameness]int{}
	for _, f := range fs.list {
		key := sameness{
			rule: f.RuleID, agent: f.Agent, severity: severityOf(f), title: f.Title, message: f.Message, advice: f.Recommendation,
			reviewers: len(f.Reviewers),
		}
		if fs.history {
			key.state = f.State
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
		if severityOf(f).Rank() >= pipeline.SeverityMajor.Rank() {
			fs.serious = len(fs.groups)
		}
	}
}

// also lists the places of a group besides the first, each with the id by
// which it is known.
func (fs *findings) also(others []*pipeline.Finding) []safe {
	const maxPlaces = 5
	return first(others, maxPlaces, func(f *pipeline.Finding) safe {
		return say("also at", struct{ Place, ID safe }{fs.place(f), fs.id(f)})
	})
}

// id is the short form of a finding's fingerprint.
func (fs *findings) id(f *pipeline.Finding) safe {
	return fs.p.code(f.ID[:min(8, len(f.ID))], maxName)
}
