package render

import "github.com/reviewgate/reviewgate/pipeline"

// The functions of this file say how long a finding has been there, and who
// set it aside.

// state says whether a finding is new, since when it is open, or which commit
// had fixed it before. It is empty for the first report of a pull request.
func (fs *findings) state(f *pipeline.Finding) safe {
	said := fs.stateOf(f)
	if !f.HasReason(pipeline.ReasonNotRaised) {
		return said
	}
	both, _ := list(" · ", said, say("not raised", nil))
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
		Older bool // it was not new there
	}{State: word(f.State)}
	if f.State == pipeline.StateOpen {
		if wasNew, known := fs.inPrevious(f); known {
			at.Since, at.Older = fs.p.code(shortSHA(fs.previous.HeadSHA), maxName), !wasNew
		}
	}
	return say("state", at)
}

// backFrom is the commit that fixed a finding which is there again, or "".
func backFrom(f *pipeline.Finding) string { return reason(f, pipeline.ReasonBack) }

// before reports whether the previous report knew f, and whether f was new
// there: in all that it was made of.
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

// fingerprints are all that a finding is known by, its own first.
func fingerprints(f *pipeline.Finding) []string {
	return append([]string{f.ID}, f.Fingerprints...)
}

// returned counts the findings that are back.
func returned(list []pipeline.Finding) int {
	n := 0
	for i := range list {
		if backFrom(&list[i]) != "" {
			n++
		}
	}
	return n
}

// dismissers are the people who dismissed findings of a pull request, by
// fingerprint.
func dismissers(m *pipeline.Memory) map[string]string {
	by := map[string]string{}
	for _, d := range m.Dismissed {
		by[d.Fingerprint] = d.By
	}
	return by
}

// dismissedBy is who dismissed a finding, or "".
func dismissedBy(by map[string]string, f *pipeline.Finding) string {
	for _, id := range fingerprints(f) {
		if who := by[id]; who != "" {
			return who
		}
	}
	return ""
}
