package render

import "github.com/reviewgate/reviewgate/pipeline"

// The functions of this file say how long a finding has existed, and who
// dismissed it.

// state says whether a finding is new, since when it is open, or which commit
// fixed it before it came back. It is empty in the first report of a pull
// request.
func (fs *findings) state(f *pipeline.Finding) safe {
	state := fs.stateOf(f)
	if !f.HasReason(pipeline.ReasonNotRaised) {
		return state
	}
	both, _ := list(" · ", state, say("not raised", nil))
	return both
}

func (fs *findings) stateOf(f *pipeline.Finding) safe {
	if !fs.history {
		return ""
	}
	if sha := backFrom(f); sha != "" {
		return say("back", fs.p.code(sha, maxName))
	}
	at := struct {
		State word
		Since safe
		Older bool // it was not new at Since
	}{State: word(f.State)}
	if f.State == pipeline.StateOpen {
		if wasNew, known := fs.inPrevious(f); known {
			at.Since, at.Older = fs.p.code(shortSHA(fs.previous.HeadSHA), maxName), !wasNew
		}
	}
	return say("state", at)
}

// backFrom returns the commit that fixed a finding before it came back, or "".
func backFrom(f *pipeline.Finding) string { return reason(f, pipeline.ReasonBack) }

// inPrevious reports whether the previous report has f, and whether f was new
// there. A merged finding was new if all findings in it were.
func (fs *findings) inPrevious(f *pipeline.Finding) (wasNew, known bool) {
	if fs.wasNew == nil && fs.previous != nil {
		fs.wasNew = map[string]bool{}
		for i := range fs.previous.Findings {
			was := &fs.previous.Findings[i]
			for _, id := range fingerprints(was) {
				fs.wasNew[id] = was.State == pipeline.StateNew
			}
		}
		for i := range fs.previous.Unconfirmed {
			for _, id := range fingerprints(&fs.previous.Unconfirmed[i]) {
				fs.wasNew[id] = false
			}
		}
	}
	wasNew = true
	for _, id := range fingerprints(f) {
		if was, ok := fs.wasNew[id]; ok {
			wasNew, known = wasNew && was, true
		}
	}
	return wasNew, known
}

// fingerprints returns all fingerprints of a finding, its own first.
func fingerprints(f *pipeline.Finding) []string {
	return append([]string{f.ID}, f.Fingerprints...)
}

// returned counts the findings that came back.
func returned(list []pipeline.Finding) int {
	n := 0
	for i := range list {
		if backFrom(&list[i]) != "" {
			n++
		}
	}
	return n
}

// dismissers maps the fingerprints of a pull request's dismissed findings to their dismissals.
func dismissers(m *pipeline.Memory) map[string]pipeline.Dismissal {
	by := map[string]pipeline.Dismissal{}
	for _, d := range m.Dismissed {
		by[d.Fingerprint] = d
	}
	return by
}

// dismissedBy returns the dismissal of a finding, or a zero one.
func dismissedBy(by map[string]pipeline.Dismissal, f *pipeline.Finding) pipeline.Dismissal {
	for _, id := range fingerprints(f) {
		if d, known := by[id]; known {
			return d
		}
	}
	return pipeline.Dismissal{}
}
