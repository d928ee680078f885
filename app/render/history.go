package render

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// The functions of this file say how long a finding has been there, and who
// set it aside.

// state says whether a finding is new, since when it is open, or which commit
// had fixed it before. It is empty for the first report of a pull request.
func (fs *findings) state(f *pipeline.Finding) safe {
	if !fs.history {
		return ""
	}
	if sha := backFrom(f); sha != "" {
		return say("back", fs.p.code(sha, maxName))
	}
	at := struct {
		State word
		Since safe
		Older bool // it was not new there either
	}{State: word(f.State)}
	if f.State == pipeline.StateOpen {
		if was := fs.before(f); was != nil {
			at.Since, at.Older = fs.p.code(shortSHA(fs.previous.HeadSHA), maxName), was.State != pipeline.StateNew
		}
	}
	return say("state", at)
}

// backFrom is the commit that fixed a finding which is there again, or "".
func backFrom(f *pipeline.Finding) string {
	for _, r := range f.Reasons {
		if sha, ok := strings.CutPrefix(r, pipeline.ReasonBack); ok {
			return sha
		}
	}
	return ""
}

// before is the finding of the previous report that f goes on from, or nil.
func (fs *findings) before(f *pipeline.Finding) *pipeline.Finding {
	if fs.known == nil && fs.previous != nil {
		fs.known = map[string]*pipeline.Finding{}
		for i := range fs.previous.Findings {
			was := &fs.previous.Findings[i]
			for _, id := range fingerprints(was) {
				fs.known[id] = was
			}
		}
	}
	for _, id := range fingerprints(f) {
		if was := fs.known[id]; was != nil {
			return was
		}
	}
	return nil
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
