package render

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// The comment shows what reviewgate did without a person. The check does not, because it
// is written before.
func TestCommentShowsActs(t *testing.T) {
	for name, tt := range map[string]struct {
		acts Acts
		want []string
	}{
		"nothing":  {Acts{}, nil},
		"approved": {Acts{Approved: true}, []string{"· approved on GitHub", "approves this head, without a person"}},
		"rejected": {Acts{Rejected: true}, []string{"· changes requested on GitHub", "requests changes of this head"}},
		"asked":    {Acts{People: []string{"carol", "acme/owners"}}, []string{"Asked to review: carol, acme/owners."}},
		"halted":   {Acts{Halted: true, People: []string{"carol"}}, []string{"until somebody comments `/review resume`, nothing is decided without a person. Asked to review: carol."}},
		"hostile":  {Acts{People: []string{"@carol</details>"}}, []string{"Asked to review: "}},
	} {
		t.Run(name, func(t *testing.T) {
			v := modelsView()
			plain := Comment(v)
			check := Check(v)
			v.Acts = tt.acts
			c := Comment(v)
			for _, w := range tt.want {
				if !strings.Contains(c.Body, w) {
					t.Errorf("the comment lacks %q:\n%s", w, c.Body)
				}
			}
			if (c.Digest == plain.Digest) != (tt.want == nil) {
				t.Error("the digest does not change with the acts")
			}
			if strings.Contains(c.Body, "@carol") || strings.Count(c.Body, "</details>") != strings.Count(plain.Body, "</details>") {
				t.Errorf("names are active:\n%s", c.Body)
			}
			if Check(v).Digest != check.Digest {
				t.Error("the check changes with the acts")
			}
		})
	}
}

func TestAutomaticReview(t *testing.T) {
	r := modelsView().Review.Report
	for approves, want := range map[bool]string{true: "Approved without a person: every model passes", false: "Changes requested without a person: every model fails"} {
		body := AutomaticReview("abc123", approves, &r)
		marker, text, _ := strings.Cut(body, "\n")
		if marker != ReviewMarker("abc123") || !strings.HasPrefix(body, AnyReview) || !strings.HasPrefix(text, want) || strings.Contains(text, "\n") || !strings.Contains(text, "(confidence 0.60)") {
			t.Errorf("%s", body)
		}
	}
	if strings.HasPrefix(Comment(modelsView()).Body, AnyReview) {
		t.Error("a comment counts as a review")
	}
	r.Models = &pipeline.ModelsReport{}
	if body := AutomaticReview("abc123", true, &r); !strings.Contains(body, "(confidence 0.00)") {
		t.Error(body)
	}
}

func TestDismissalsDiffer(t *testing.T) {
	seen := map[string]Withdrawn{}
	for _, why := range []Withdrawn{WithdrawnMoved, WithdrawnBase, WithdrawnChanged, WithdrawnByHand, WithdrawnGivenUp, WithdrawnDraft, WithdrawnOff, WithdrawnUnknown} {
		text := Dismissal(why, strings.Repeat("ab", 20))
		if other, ok := seen[text]; ok || text == "" || strings.Contains(text, "\n") {
			t.Errorf("%s and %s are both %q", why, other, text)
		}
		seen[text] = why
	}
}
