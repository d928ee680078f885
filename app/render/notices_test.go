package render

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/commands"
	"github.com/reviewgate/reviewgate/pipeline"
)

// A comment shows several notices together. The help appears only once, and only the newest
// status appears.
func TestSeveralNotices(t *testing.T) {
	v := findingsView()
	for _, n := range []Notice{
		{Kind: NoticeStatus, Status: &Status{Left: 9, Limit: 20}},
		{Kind: NoticeUnknown, Text: "dimsiss"},
		{Kind: NoticePermission, By: "sam", Command: commands.Full, Wrong: TakesWrite},
		{Kind: NoticeHelp},
		{Kind: NoticeStatus, Status: &Status{Left: 7, Limit: 20}},
	} {
		v.Notices = append(v.Notices, n.String())
	}
	for name, text := range map[string]string{
		"comment": Comment(v).Body, "comment alone": NoticeComment(v.Notices).Body, "terminal": Text(v, TextOptions{}),
	} {
		for _, want := range []string{"There is no command", "dimsiss", "sam asked for", "7 of 20 commands", "/review dismiss"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: lacks %q:\n%s", name, want, text)
			}
		}
		if strings.Contains(text, "9 of 20 commands") || strings.Count(text, "/review override") != 1 {
			t.Errorf("%s: has an older status, or the help more than once:\n%s", name, text)
		}
	}
}

// A notice that has the comment written again changes nothing in it by itself.
func TestNoticeWithoutWords(t *testing.T) {
	v := findingsView()
	plain := Comment(v)
	v.Notices = []string{Notice{Kind: NoticeBacktest}.String()}
	if got := Comment(v); got.Digest != plain.Digest || got.Body != plain.Body {
		t.Errorf("it has words:\n%s", got.Body)
	}
	v.Notices = append(v.Notices, Notice{Kind: NoticeUnknown, Text: "dimsiss"}.String())
	if !strings.Contains(Comment(v).Body, "dimsiss") {
		t.Error("it hides another notice")
	}
}

// The largest number of notices leaves room for the review. No notice of ours is left out
// because others are long, and notices that are left out are counted.
func TestSeveralNoticesAreBounded(t *testing.T) {
	const many = 20
	v := findingsView()
	long := strings.Repeat("a long word ", 2000)
	for i := range 300 {
		v.Review.Manifest.Skipped = append(v.Review.Manifest.Skipped, pipeline.SkippedAgent{Agent: fmt.Sprint("agent-", i), Reason: long})
	}
	plain := len(Comment(v).Body)

	v.Notices = []string{Notice{Kind: NoticeExplain}.String()}
	for i := range many - 1 {
		n := Notice{Kind: NoticeNoFinding, Text: fmt.Sprintf("beef%04d", i), Names: slices.Repeat([]Named{{ID: "0f3a91c2", Title: long[:120]}}, MaxNamed)}
		v.Notices = append(v.Notices, n.String())
	}
	body := Comment(v).Body
	for i := range many - 1 {
		if !strings.Contains(body, fmt.Sprintf("`beef%04d`", i)) {
			t.Errorf("answer %d is left out", i)
		}
	}
	if more := len(body) - plain; len(body) > 65_536 || more > roomNotices+roomLeads {
		t.Errorf("the notices take %d of %d bytes", more, len(body))
	}

	v.Notices = nil
	for i := range many {
		v.Notices = append(v.Notices, Notice{Kind: NoticeText, Text: fmt.Sprint(i, " ", long)}.String())
	}
	body = Comment(v).Body
	if more := len(body) - plain; len(body) > 65_536 || more > roomLeads+2000 || !strings.Contains(body, "12 more") {
		t.Errorf("the notices take %d of %d bytes:\n%s", more, len(body), body[:min(len(body), 20_000)])
	}
}

// StillTrue drops the notices that another review makes untrue.
func TestStillTrue(t *testing.T) {
	var stored []string
	for _, kind := range noticeKinds() {
		stored = append(stored, Notice{Kind: kind}.String())
	}
	stay := StillTrue(stored)
	for i, kind := range noticeKinds() {
		untrue := kind == NoticeStatus || kind == NoticeNotCompleted || kind == NoticeNoReview || kind == NoticeUndecided
		if slices.Contains(stay, stored[i]) == untrue {
			t.Errorf("%s stays: %t", kind, !untrue)
		}
	}
	if len(stored) != len(noticeKinds()) || StillTrue(nil) != nil {
		t.Error("StillTrue changed its argument")
	}
}
