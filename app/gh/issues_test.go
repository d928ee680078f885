package gh

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
)

// Of the issues and pull requests that GitHub lists, only the App's issues count. No more
// pages are read than can contain them.
func TestIssuesAreOursAndRecent(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	item := func(i int) string {
		app, pull := testApp, ""
		if i%3 == 1 {
			app++
		}
		if i%3 == 2 {
			pull = `,"pull_request":{}`
		}
		return fmt.Sprintf(`{"number":%d,"state":"open","body":"b","created_at":%q,"performed_via_github_app":{"id":%d}%s}`,
			5000-i, noon.Add(-time.Duration(i)*time.Minute).Format(time.RFC3339), app, pull)
	}
	for _, tt := range []struct {
		since      time.Time
		pages, own int
	}{
		{time.Time{}, maxIssuePages, 334}, // a third of 1,000
		{noon.Add(-150*time.Minute + clockSkew), 2, 51},
		{noon.Add(clockSkew), 1, 1},
	} {
		hub := longList(maxIssuePages+5, true, item, `[%s]`)
		all, err := hub.client(t, nil).Issues(t.Context(), pullTarget, tt.since)
		if err != nil || len(all) != tt.own || hub.asked() != tt.pages {
			t.Errorf("since %s: %d issues in %d pages, %v; want %d in %d", tt.since, len(all), hub.asked(), err, tt.own, tt.pages)
		}
		if len(all) > 0 && (all[0] != ports.Issue{Number: 5000, Body: "b", Open: true}) {
			t.Errorf("the first is %+v", all[0])
		}
	}
}

func TestIssueOfAnotherIsNotFound(t *testing.T) {
	for _, more := range []string{``, `,"performed_via_github_app":{"id":7}`, `,"performed_via_github_app":null`, `,"performed_via_github_app":{"id":42},"pull_request":{}`} {
		hub := &fake{answer: always(200, `{"number":5,"state":"open","created_at":"2026-11-20T12:00:00Z"`+more+`}`)}
		_, err := hub.client(t, nil).Issue(t.Context(), pullTarget, 5)
		if !isNotFound(err) || !strings.Contains(err.Error(), "not the App's") {
			t.Errorf("%q: %v", more, err)
		}
	}
}
