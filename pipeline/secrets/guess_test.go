package secrets

import (
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
)

// A value that looks random counts as a secret at a place of secrets.
func TestGuessesByPlace(t *testing.T) {
	d := detector(t)
	const value = "Zr8Kq4xTn6Wp1LvB7mYc3Jd9"
	for text, want := range map[string]string{
		"DATABASE_URL=postgres://app:" + value + "@db.prod.internal:5432/app":         ruleURLPassword,
		"url: rediss://:" + value + "@eu1-fine-bat-1.upstash.io:6379":                 ruleURLPassword,
		`dsn = "mongodb+srv://app:` + value + `@cluster0.abcde.mongodb.net/?w=1"`:     ruleURLPassword,
		"git clone https://bot:" + value[:14] + "!@git.corp.net/a/b":                  ruleURLPassword,
		`headers = {"X": "Bearer ` + value + `"}`:                                     ruleBearer,
		"curl -H 'x: bearer " + value + "'":                                           ruleBearer,
		"https://bot:" + github + "@github.com/a/b":                                   "github-pat", // counts everywhere
		"https://x/?a=1 Bearer " + github:                                             "github-pat",
		"postgres://postgres:postgres@localhost:5432/app":                             "",
		"postgres://user:password1234567890@localhost/db":                             "",
		"https://username:secretpassword123@host.net":                                 "",
		"mysql://root:${MYSQL_ROOT_PASSWORD_2024}@db/app":                             "",
		"amqp://guest:xxxxxxxxxxxx1x2@mq.net":                                         "",
		"https://user:" + value + "@example.com/":                                     "",
		"Authorization: Bearer YOUR_ACCESS_TOKEN_GOES_HERE_2":                         "",
		"Bearer authentication-is-required-for-each-call-to-this":                     "",
		"the bearer of this-very-long-identifier-with-2-digits":                       "",
		"https://host.net:8443/a/very/long/path/with/Zr8Kq4xTn6Wp1LvB7mYc3Jd9@2x.png": "",
	} {
		f := facts("deploy/run.txt", "+"+text)
		found := d.Redact(&f)
		left := f.Files[0].Hunks[0].Lines[0].Text
		if want == "" && len(found) > 0 || want != "" && (len(found) != 1 || found[0].RuleID != want || strings.Contains(left, value) || strings.Contains(left, github)) {
			t.Errorf("%s: found %+v, left %q, want %q", text, found, left, want)
		}
	}
	for _, rule := range []string{ruleURLPassword, ruleBearer} {
		if _, reported := finding(pipeline.Redaction{RuleID: rule, Title: title(rule)}, &pipeline.File{Path: "a_test.go", Test: true}); reported || isSure(rule) {
			t.Errorf("%s counts where made-up values are common", rule)
		}
	}
}

func TestApartFrom(t *testing.T) {
	found := []match{{from: 20, to: 30}, {from: 0, to: 100}, {from: 110, to: 120}}
	for _, tt := range []struct {
		from, to int
		want     bool
	}{{50, 60, false}, {100, 110, true}, {105, 111, false}, {119, 130, false}, {120, 130, true}} {
		if got := slices.Contains(apartFrom(found, []match{{from: tt.from, to: tt.to}}), match{from: tt.from, to: tt.to}); got != tt.want {
			t.Errorf("from %d to %d: %t, want %t", tt.from, tt.to, got, tt.want)
		}
	}
}

// The id of a version of an API is no secret, but a key in the form of a UUID is, and so is any
// other value that is called a version.
func TestIDsOfVersions(t *testing.T) {
	d := detector(t)
	for text, want := range map[string]int{
		"// API version: d0494f1c-8d81-4c76-ae1d-0c65bb8ef6de":                0,
		`const apiVersion = "5d077b6f-61b2-4b3a-8333-7a64ee547448";`:          0,
		`"api_version": "5D077B6F-61B2-4B3A-8333-7A64EE547448",`:              0,
		`const apiKey = "d0494f1c-8d81-4c76-ae1d-0c65bb8ef6de"`:               1,
		`/* version */ const apiKey = "d0494f1c-8d81-4c76-ae1d-0c65bb8ef6de"`: 1,
		"// API version: zJ4kQ9vT2mXw7RbN5cYd1LfHs8PgAe3U":                    1,
		`api_key_version = "d0494f1c-8d81-4c76-ae1d-0c65bb8ef6de"`:            1,
		`secretVersion: "d0494f1c-8d81-4c76-ae1d-0c65bb8ef6de"`:               1,
	} {
		f := facts("a.ts", "+"+text)
		if got := len(d.Redact(&f)); got != want {
			t.Errorf("%s: %d secrets, want %d", text, got, want)
		}
	}
}
