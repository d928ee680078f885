package ghtest

import (
	"encoding/json"
	"unicode/utf8"
)

// GitHub's limits on a repository dispatch.
const (
	maxDispatchType   = 100      // characters
	maxDispatchFields = 10       // of the client_payload
	maxDispatchBytes  = 64 << 10 // of the client_payload
)

// Dispatch sends a repository dispatch as somebody with write permission. GitHub's API for that is POST
// /repos/{owner}/{repo}/dispatches. The type becomes the action of the event.
func (r *Repo) Dispatch(login, eventType string, payload map[string]any) {
	text, err := json.Marshal(payload)
	n := utf8.RuneCountInString(eventType)
	if err != nil || n == 0 || n > maxDispatchType || len(payload) > maxDispatchFields || len(text) > maxDispatchBytes {
		r.s.opts.Fail("dispatch %s in %s: GitHub refuses the type or the payload (422)", eventType, r.FullName())
	}
	r.s.happens(func() []event {
		sender := r.s.state.account(login, "User")
		if role := r.role(sender); role != "write" && role != "maintain" && role != "admin" {
			r.s.opts.Fail("dispatch %s in %s: %s may only %s", eventType, r.fullName(), login, role)
		}
		return []event{r.event("repository_dispatch", eventType, sender, object{"branch": r.defaultBranch, "client_payload": payload})}
	})
}
