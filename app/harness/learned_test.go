package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"

	"github.com/reviewgate/reviewgate/policies/learning"
)

// learned compares the logs of pull requests with what happened on GitHub: each event is there once,
// and an open pull request ends with a review of its head. It returns what it read.
func (w *world) learned(pulls []*pull) string {
	binary, err := build()
	if err != nil {
		w.t.Error(err)
		return ""
	}
	out, err := exec.CommandContext(w.t.Context(), binary, "analytics", "--format", "jsonl", "--since", "3650d", "--database", w.url).Output()
	if err != nil {
		w.t.Errorf("analytics: %v", err)
		return ""
	}
	logs, entries := map[string][]learning.Entry{}, 0
	for line := range bytes.Lines(out) {
		var e learning.Entry
		if err := json.Unmarshal(line, &e); err != nil {
			w.t.Errorf("analytics: %v in %s", err, line)
			return ""
		}
		key := fmt.Sprintf("%s#%d", e.Repository, e.Number)
		logs[key] = append(logs[key], e)
		entries++
	}
	wrong := 0
	for _, p := range pulls {
		log := logs[fmt.Sprintf("%s#%d", p.repo.FullName(), p.Number)]
		if fault := p.logFault(log); fault != "" {
			wrong++
			w.t.Errorf("the log of #%d: %s", p.Number, fault)
		}
	}
	return fmt.Sprintf("%d of %d pull requests, %d entries, %d wrong", len(logs), len(pulls), entries, wrong)
}

// logFault describes the first fault in the log of the pull request. It returns "" if the log is right.
func (p *pull) logFault(log []learning.Entry) string {
	seen := map[string]bool{}
	for _, e := range log {
		event := e.Event
		if e.Kind != learning.KindReview { // the command replaces their ids with numbers
			event = fmt.Sprint(e.Kind, " at ", e.At)
		}
		if seen[event] && e.Kind != learning.KindJudged && e.Kind != learning.KindDecided { // people may comment at the same time
			return "it has " + event + " twice"
		}
		seen[event] = true
	}
	h := learning.Replay(log)
	switch {
	case p.open && len(h.Reviews) == 0:
		return "it has no review"
	case p.open && h.Reviews[len(h.Reviews)-1].Review.HeadSHA != p.HeadSHA():
		return fmt.Sprintf("its last review is not of the head %.7s", p.HeadSHA())
	case len(log) > 0 && p.open != (h.End == ""):
		return fmt.Sprintf("it says that the pull request is %q, and open is %t", h.End, p.open)
	}
	for i := range h.Findings {
		f := &h.Findings[i]
		if p.open && f.Rule == "sec-tls-verify-01" && (f.Outcome == learning.OutcomeOpen) != p.insecure {
			return fmt.Sprintf("%s is %s, and the head has it: %t", f.Rule, f.Outcome, p.insecure)
		}
	}
	return ""
}
