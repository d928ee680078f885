package secrets

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// No secret stays in the other texts of a change, whether its format or another place in the change
// shows that it is a secret.
func TestSecretsInOtherTexts(t *testing.T) {
	for name, put := range map[string]func(f *pipeline.PRFacts, secret string){
		"author of a commit": func(f *pipeline.PRFacts, s string) { f.Commits = pipeline.List[pipeline.Commit]{{SHA: "1", Author: s}} },
		"label":              func(f *pipeline.PRFacts, s string) { f.Labels = pipeline.List[string]{"bug", s} },
		"branch":             func(f *pipeline.PRFacts, s string) { f.Head.Ref = "fix/" + s },
		"fork":               func(f *pipeline.PRFacts, s string) { f.Head.Repository = "mallory/" + s },
		"milestone":          func(f *pipeline.PRFacts, s string) { f.Milestone = "for " + s },
		"heading of a hunk":  func(f *pipeline.PRFacts, s string) { f.Files[0].Hunks[0].Section = "func a() { use(\"" + s + "\")" },
		"long message": func(f *pipeline.PRFacts, s string) {
			f.Commits = pipeline.List[pipeline.Commit]{{SHA: "1", Message: strings.Repeat("A line of the message.\n", 1<<13) + s}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, secret := range []string{github, aws, stripe, random} {
				f := facts("a.go", "+x := 1")
				if secret == random { // only its name shows that it is a secret
					f = facts("a.go", "+password = \""+random+"\"")
				}
				put(&f, secret)
				f.Redactions = detector(t).Redact(&f)
				b, err := json.Marshal(f)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(string(b), secret) {
					t.Errorf("the secret stays in %s", secret)
				}
			}
		})
	}
}
