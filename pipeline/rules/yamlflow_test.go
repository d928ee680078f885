package rules_test

import (
	"strings"
	"testing"
)

const verify, tools = "sec-tls-verify-01", "sec-tls-tools-01"

// The values in flow collections are read like those in block collections.
func TestFlows(t *testing.T) {
	t.Parallel()
	for name, cases := range map[string][]struct {
		path, text, rule string
		ok               bool
	}{
		"scripts": {
			{workflow, "      - { run: \"echo\n          " + title + "\" }", injection, false},
			{workflow, "      - { run: 'echo\n          " + title + "' }", injection, false},
			{workflow, "      - { run: echo\n          " + title + " }", injection, false},
			{workflow, "      - { name: x, run: echo\n          " + title + " }", injection, false},
			{workflow, "      - &a { name: x, run: \"echo\n          Title: " + title + "\" }", injection, false},
			{workflow, "      - !!map {\n          run:\n            \"echo\n            Title: " + title + "\" }", injection, false},
			{workflow, "      - {\n        name: x, # }\n        \"run\":\n          'Title: " + title + "'\n        }", injection, false},
			{workflow, "      - { name: '}', run: \"echo \\\" }\n          Title: " + title + "\" }", injection, false},
			{workflow, "      - { name: \"${{ a }}\", run: \"echo\n          Title: " + title + "\" }", injection, false},
			{workflow, "      - { name: ${{ '}}' }}, run: echo ${{\n          github.event.issue.title }} }", injection, false},
			{workflow, "      - { with: { a: [b, {c: d}], script: \"a\n          Title: " + title + "\" } }", injection, false},
			{workflow, "    steps: [ { uses: a },\n      { run: \"echo\n          Title: " + title + "\" } ]", injection, false},
			{workflow, "    steps:\n      [ { run: \"echo\n          Title: " + title + "\" } ]", injection, false},
			{workflow, "    steps:\n      - { uses: a }\n      - { uses: b,\n          if: c }\n      - { run: \"echo\n          Title: " + title + "\" }", injection, false},
			{workflow, "      -\n        { run: \"echo\n          Title: " + title + "\" }", injection, false},
			{workflow, "      - { ? run\n          : \"echo\n          Title: " + title + "\" }", injection, false},
			{workflow, "      - { run: \"echo\n          Title: " + title + "\"", injection, false},
			{workflow, "      - { name: a, env: {\n          TITLE: " + title + " }, run: b }", injection, true},
			{workflow, "      - { name: a, # run: b\n          title: " + title + " }", injection, true},
			{workflow, "      - { run: \"echo\n          ${{ github.sha }}\" }", injection, true},
			{workflow, "      - { run: \"a\" }\n      - env:\n          Title: " + title, injection, true},
		},
		"scripts in quotes": {
			{workflow, "      - run: \"echo \\\"a\n  Title: " + title + "\"", injection, false},
			{workflow, "      - run: 'echo ''a''\n  Title: " + title + "'", injection, false},
			{workflow, "      - run: 'echo\n  # Title: a\n  Title: " + title + "'", injection, false},
			{workflow, "      - run:\n          \"echo \\\"a\n  Title: " + title + "\"", injection, false},
			{workflow, "      - run:\n          'echo\n  Title: " + title + "'", injection, false},
			{workflow, "      - run:\n          !!str 'echo\n  Title: " + title + "'", injection, false},
			{workflow, "      - run: !!str \"a \\\" \n  Title: " + title + "\"", injection, false},
			{workflow, "      - run: \"echo" + strings.Repeat("\n", 70) + "  Title: " + title + "\"", injection, false},
			{workflow, "      - run: \"echo \\\"a\n  Title: " + title, injection, false},
			{workflow, "      - run: \"echo\n          # Title: " + title + "\"", injection, false},
			{workflow, "      - run: \"echo \\\"a\n  b\"\n        env:\n          Title: " + title, injection, true},
			{workflow, "      - run: 'echo ''a'' '\n        env:\n          Title: " + title, injection, true},
			{workflow, "      - name: \"a\n        env:\n          Title: " + title, injection, true},
		},
		"keys with escapes": {
			{workflow, "      - \"r\\x75n\": >-\n          Title: " + title, injection, false},
			{workflow, "      - \"r\\u0075n\": |\n          Title: " + title, injection, false},
			{workflow, "      - \"r\\U00000075n\": 'Title: " + title + "'", injection, false},
			{workflow, "      - { \"r\\x75n\": 'Title: " + title + "' }", injection, false},
			{workflow, "      - name: a\n        \"\\x72un\":\n          'Title: " + title + "'", injection, false},
			{workflow, "      - ? |-\n          run\n        : \"echo\n          Title: " + title + "\"", injection, false},
			{workflow, "      - ? >-\n          run\n        : |\n          Title: " + title, injection, false},
			{workflow, "      - ? \"r\\\n          un\"\n        : |\n          a\n          Title: " + title, injection, false},
			{workflow, "        env:\n          \"T\\x49TLE\": " + title, injection, true},
			{workflow, "        env: { \"T\\x49TLE\": \"" + title + "\" }", injection, true},
		},
		"deep scripts": {
			{workflow, "    x: " + strings.Repeat("[", 25) + "{ run: \"echo\n          Title: " + title + "\" }" + strings.Repeat("]", 25), injection, false},
			{workflow, "    x: " + strings.Repeat("[\n", 25) + "{ run: \"echo\n          Title: " + title + "\" }" + strings.Repeat("]", 25), injection, false},
			{workflow, "    x: " + strings.Repeat("[", 15) + "{ env: {\n          Title: " + title + " } }" + strings.Repeat("]", 15), injection, true},
		},
		"other line ends": {
			{workflow, "      - run: |\r          Title: " + title, injection, false},
			{workflow, "      - run: |\u0085          Title: " + title, injection, false},
			{workflow, "      - run: |\u2028          Title: " + title, injection, false},
			{workflow, "      - run: |\u2029          a\n          Title: " + title, injection, false},
			{workflow, "      - run: |\r          a\n          Title: " + title, injection, false},
			{workflow, "on: x\rjobs:\r  a:\r    steps:\r      - run: >-\r          Title: " + title + "\r", injection, false},
			{workflow, "        env:\r\n          Title: " + title + "\r\n", injection, true},
			{workflow, "        env:\n          TITLE: " + title + "\u0085", injection, true},
		},
		"names and values": {
			{"k8s/a.yaml", "        env:\n        - name: NODE_TLS_REJECT_UNAUTHORIZED\n          value: \"0\"", verify, false},
			{"k8s/a.yaml", "        env:\n          - value: '0' # a\n\n            name: \"NODE_TLS_REJECT_UNAUTHORIZED\"", verify, false},
			{"k8s/a.yaml", "          - name: NODE_TLS_REJECT_UNAUTHORIZED\n            value:\n              !!str \"0\"", verify, false},
			{"k8s/a.yaml", "          - { name: NODE_TLS_REJECT_UNAUTHORIZED,\n            value: \"0\" }", verify, false},
			{"k8s/a.yaml", "        env: [{ name: A, value: b }, { name: NODE_TLS_REJECT_UNAUTHORIZED, value: \"0\" }]", verify, false},
			{"k8s/a.yaml", "          - Name: GIT_SSL_NO_VERIFY\n            Value: \"true\"", tools, false},
			{"docker-compose.yml", "      - name: GIT_SSL_NO_VERIFY\n        value: 1", tools, false},
			{"k8s/a.yaml", "          - name: PYTHONHTTPSVERIFY\n            value: \"0\"", tools, false},
			{"k8s/a.yaml", "          - name: NODE_TLS_REJECT_UNAUTHORIZED\n            value: \"1\"", verify, true},
			{"k8s/a.yaml", "          - name: NODE_TLS_REJECT_UNAUTHORIZED\n          - name: A\n            value: \"0\"", verify, true},
			{"k8s/a.yaml", "          - name: NODE_TLS_REJECT_UNAUTHORIZED\n            a:\n              value: \"0\"", verify, true},
			{"k8s/a.yaml", "        env: [{ name: NODE_TLS_REJECT_UNAUTHORIZED }, { name: A,\n value: \"0\" }]", verify, true},
		},
		"other values": {
			{workflow, "    env: { A: b,\n      ACTIONS_ALLOW_UNSECURE_COMMANDS:\n        true }", unsecure, false},
			{workflow, "    env: { A: b,\n      ACTIONS_ALLOW_UNSECURE_COMMANDS:\n        false, B:\n true }", unsecure, true},
			{"a.yml", "- { run: \"curl https://a.example\n    -k\" }", curl, false},
		},
	} {
		for _, c := range cases {
			if got := shippedOn(t, c.path, c.text); got[c.rule] == c.ok {
				t.Errorf("%s: %s finds %q in %s: %t, want %t", name, c.rule, c.text, c.path, got[c.rule], !c.ok)
			}
		}
	}
}
