package main

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/config"
)

// A new entry uses the file's indentation and line ends and goes to the end of the list. All
// other bytes stay the same.
func TestWithAllowance(t *testing.T) {
	entry := config.SecretAllowance{Rule: "r", Paths: []string{"a<b"}, Value: "v", Reason: "it's & so"}
	lines := []string{`{`, `|"rule": "r",`, `|"paths": [`, `||"a<b"`, `|],`, `|"value": "v",`, `|"reason": "it's & so"`, `}`}
	at := func(indent, unit string) string {
		text := strings.Join(lines, "\n"+indent)
		return strings.ReplaceAll(text, "|", unit)
	}
	for _, c := range []struct{ name, text, want string }{
		{"no file", "", "{\n  \"secrets\": {\n    \"allow\": [\n      " + at("      ", "  ") + "\n    ]\n  }\n}\n"},
		{"an empty object", "{}", "{\n  \"secrets\": {\n    \"allow\": [\n      " + at("      ", "  ") + "\n    ]\n  }\n}\n"},
		{
			"no secrets, tabs, no line end", "{\n\t\"mode\":  \"advisory\"\n}",
			"{\n\t\"mode\":  \"advisory\",\n\t\"secrets\": {\n\t\t\"allow\": [\n\t\t\t" + at("\t\t\t", "\t") + "\n\t\t]\n\t}\n}\n",
		},
		{
			"no list, four spaces, CRLF", "{\r\n    \"secrets\": {},\r\n    \"mode\": \"off\"\r\n}\r\n",
			strings.ReplaceAll("{\n    \"secrets\": {\n        \"allow\": [\n            "+at("            ", "    ")+"\n        ]\n    },\n    \"mode\": \"off\"\n}\n", "\n", "\r\n"),
		},
		{
			"a list", "{\n  \"secrets\": {\n    \"allow\": [\n      {\"rule\": \"]}\"}\n    ]\n  }\n}\n",
			"{\n  \"secrets\": {\n    \"allow\": [\n      {\"rule\": \"]}\"},\n      " + at("      ", "  ") + "\n    ]\n  }\n}\n",
		},
		{"on one line", " {\"secrets\": {\"allow\": []}} ", " {\"secrets\": {\"allow\": [\n   " + at("   ", "  ") + "\n ]}} \n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := withAllowance([]byte(c.text), entry)
			if err != nil || string(got) != c.want {
				t.Fatalf("%v\n%s\nwant\n%s", err, got, c.want)
			}
		})
	}
	for _, text := range []string{"[]", `{"secrets": null}`, `{"secrets": {"allow": {}}}`, "{"} {
		if got, err := withAllowance([]byte(text), entry); err == nil {
			t.Errorf("%s became %s", text, got)
		}
	}
}
