package webhook

import (
	"testing"

	"github.com/reviewgate/reviewgate/app/ports"
)

// Whatever payload is signed, the handler does not crash, answers no 5xx, and asks for
// nothing that can't be routed.
func FuzzPayload(f *testing.F) {
	f.Add("pull_request", opened)
	f.Add("pull_request", `{"action":"edited","changes":{"title":null}}`)
	f.Add("issue_comment", `{"action":"created",`+envelopeJSON+`,"issue":{"number":12,"user":{"login":"a"},"pull_request":{}},"comment":{"id":5,"body":"/review","user":{"login":"b","type":"User"}},"sender":{"login":"b","type":"User"}}`)
	f.Add("pull_request_review", `{"action":"submitted",`+envelopeJSON+`,"pull_request":{"number":12,"state":"open","user":{"login":"a"}},"review":{"id":5,"body":"/review","user":{"login":"b","type":"User"}},"sender":{"login":"b","type":"User"}}`)
	f.Add("pull_request_review_comment", `{"action":"created",`+envelopeJSON+`,"pull_request":{"number":12,"state":"open","user":{"login":"a"}},"comment":{"id":5,"body":"/review","user":{"login":"b","type":"User"}},"sender":{"login":"b","type":"User"}}`)
	f.Add("check_run", `{"action":"rerequested",`+envelopeJSON+`,"check_run":{"head_sha":"`+sha1Head+`","app":{"id":42},"pull_requests":[{"number":1}]}}`)
	f.Add("merge_group", `{"action":"checks_requested",`+envelopeJSON+`,"merge_group":{"head_sha":"`+sha1Head+`","base_sha":"`+sha1Base+`","head_ref":"refs/heads/gh-readonly-queue/main/pr-1-`+sha1Base+`"}}`)
	f.Add("repository_dispatch", `{"action":"milestone",`+envelopeJSON+`,"client_payload":{"id":"m-1","pr":1,"agent":"a","summary":"s"}}`)
	f.Add("ping", `{"zen":"x"}`)
	f.Add("star", `{"action":"\ud800"}`)
	f.Fuzz(func(t *testing.T, event, body string) {
		if !eventName.MatchString(event) {
			return
		}
		var b inbox
		w := serve(newHandler(t, &b, nil), delivery(event, body))
		if w.Code >= 500 {
			t.Fatalf("status %d", w.Code)
		}
		for _, d := range b.got {
			checkRoutable(t, d)
		}
	})
}

func checkRoutable(t *testing.T, d ports.Delivery) {
	t.Helper()
	for _, ask := range d.Asks {
		var x ports.Target
		needsHead := true
		switch ask := ask.(type) {
		case ports.ReviewAsk:
			x = ask.Target
		case ports.Close:
			x = ask.Target
		case ports.Command:
			x, needsHead = ask.Target, false
		default:
			continue
		}
		ok := x.Installation > 0 && x.RepoID > 0 && ownerLogin.MatchString(x.Owner) && repositoryName(x.Name) == nil
		ok = ok && (x.Kind == ports.TargetGroup || x.Number > 0)
		ok = ok && (x.HeadSHA == "" && !needsHead || commitSHA.MatchString(x.HeadSHA))
		if !ok {
			t.Errorf("asks for %+v", x)
		}
	}
	if recordable(d.Action, maxAction) != d.Action {
		t.Errorf("records the action %q", d.Action)
	}
}
