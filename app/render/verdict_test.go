package render

import (
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fourrules"
)

func TestVerdict(t *testing.T) {
	results := []fourrules.Result{
		{Reviewer: "codex", Payload: fourrules.Payload{Verdict: fourrules.Concerns, Summary: "MD5 hashes\nno password.", Issues: pipeline.List[fourrules.Issue]{
			{Severity: pipeline.SeverityMajor, Description: "MD5 is used to hash passwords, of which there are many in the table of users.", File: "auth.py"},
			{Severity: pipeline.SeverityInfo, Description: "Name it \x1b[31mred\u202e."},
		}}},
		{Reviewer: "gemini", Payload: fourrules.Payload{Verdict: fourrules.Concerns, Summary: "There is no salt."}},
	}
	for name, n := range map[string]int{"text/verdict-nobody.txt": 0, "text/verdict-concern.txt": 1, "text/verdict-clarify.txt": 2} {
		d := fourrules.Decide(results[:n], nil)
		golden(t, name, Verdict(&d, TextOptions{Width: 70}))
	}
}
