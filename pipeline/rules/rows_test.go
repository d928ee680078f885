package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/rules"
)

const (
	injection, knownBad, curl, unsecure, plainHTTP, target = "infra-script-injection-01", "dep-known-bad-01", "sec-tls-curl-01", "infra-unsecure-commands-01", "dep-plain-http-01", "infra-pr-target-checkout-01"
	workflow                                               = ".github/workflows/a.yml"
	title                                                  = "${{ github.event.issue.title }}"
)

// Lines that belong together by the language's own syntax are read as one.
func TestRows(t *testing.T) {
	t.Parallel()
	for name, cases := range map[string][]struct {
		path, text, rule string
		ok               bool
	}{
		"elements of one parent": {
			{"pom.xml", "<dependency>\n  <groupId>org.apache.logging.log4j</groupId>\n  <artifactId>log4j-core</artifactId>\n  <version>2.14.1</version>\n</dependency>", knownBad, false},
			{"pom.xml", "<dependency>\n  <version>\n    2.14.1\n  </version>\n  <groupId>a</groupId>\n  <artifactId>log4j-core</artifactId>\n</dependency>", knownBad, false},
			{"pom.xml", "<dependency>\n  <artifactId>log4j-core</artifactId>\n  <scope>test</scope>\n  <exclusions>\n    <exclusion><artifactId>b</artifactId></exclusion>\n  </exclusions>\n  <version><!-- a -->2.14.1</version>\n</dependency>", knownBad, false},
			{"pom.xml", "  <artifactId>log4j-core</artifactId>\n  <version\n  >2.14.1</version>\n</dependency>", knownBad, false},
			{"pom.xml", "  <artifactId><![CDATA[log4j-core]]></artifactId>\n  <version>2.14.1</version>", knownBad, false},
			{"pom.xml", "  <artifactId>log4j&#45;core</artifactId>\n  <version>2.14.1</version>", knownBad, false},
			{"pom.xml", "  <properties>\n    <log4j2.version>2.14.1</log4j2.version>", knownBad, false},
			{"pom.xml", "<dependency>\n  <artifactId>log4j-core</artifactId>\n  <version>2.17.1</version>\n</dependency>\n<dependency>\n  <artifactId>a</artifactId>\n  <version>2.14.1</version>\n</dependency>", knownBad, true},
			{"pom.xml", "<dependency><artifactId>log4j-core</artifactId></dependency><dependency><artifactId>a</artifactId><version>2.14.1</version></dependency>", knownBad, true},
			{"pom.xml", "<dependency>\n  <artifactId>a</artifactId>\n  <version>2.14.1</version>\n  <exclusions>\n    <exclusion>\n      <artifactId>log4j-core</artifactId>\n    </exclusion>\n  </exclusions>\n</dependency>", knownBad, true},
			{"pom.xml", "<dependency>\n  <artifactId>log4j-core</artifactId>\n  <!--\n  <version>2.14.1</version>\n  -->\n  <version>2.17.1</version>\n</dependency>", knownBad, true},
		},
		"lines of a script": {
			{workflow, "      - run: |\n          a\n          " + title, injection, false},
			{workflow, "      - run: |\n          echo \"\n          " + title + "\"", injection, false},
			{workflow, "      - run: |\n          a\n\n          name: " + title, injection, false},
			{workflow, "      - run: |-\n          name: " + title, injection, false},
			{workflow, "      - run: >+2 # a\n            name: " + title, injection, false},
			{workflow, "      - run: !!str |2-\n          name: " + title, injection, false},
			{workflow, "      - run:\n          |\n          name: " + title, injection, false},
			{workflow, "      - run:\n          " + title, injection, false},
			{workflow, "      - run: # a\n          " + title, injection, false},
			{workflow, "      - run: a\n          " + title, injection, false},
			{workflow, "      - run: echo ${{\n          github.event.issue.title }}", injection, false},
			{workflow, "      - run: |\n          echo ${{ 'a' &&\n          github.event.issue.title }}", injection, false},
			{workflow, "          echo ${{\n          github.event.issue.title }}", injection, false},
			{workflow, "        with:\n          script: |\n            " + title, injection, false},
			{workflow, "      - {name: a,\n         run: \"a\n         " + title + "\"}", injection, false},
			{workflow, "      - {name: a, run: a,\n         env: {A: \"" + title + "\"}}", injection, true},
			{workflow, "      - env:\n          A: |\n            " + title, injection, true},
			{workflow, "      - run: |\n          a\n        env:\n          TITLE: " + title, injection, true},
			{workflow, "      - run: |\n          a\n        env:\n          TITLE:\n            " + title, injection, true},
			{workflow, "    defaults:\n      run:\n        working-directory: " + title, injection, true},
			{workflow, "      - run: |\n          name: ${{ github.sha }}", injection, true},
			{workflow, "        if: ${{\n          github.event.issue.title }}", injection, true},
			{workflow, "            title: \"" + title + "\"\n            }'", injection, false},
			{workflow, "            {\n            \"title\": \"" + title + "\"\n            }", injection, false},
			{workflow, "            {\"a\": 1, \"title\": \"" + title + "\"}", injection, false},
			{workflow, "            [ -n x ] && echo\n            Title: " + title, injection, false},
			{workflow, "        labels: |\n            a\n        title: " + title, injection, true},
			{workflow, "        b ||\n        c\n      env:\n        TITLE: " + title, injection, true},
			{workflow, "        'a b': c\n        TITLE: " + title, injection, true},
		},
		"elements in very many other elements": {
			{"pom.xml", strings.Repeat("<a>\n", 3000) + "<dependency>\n  <artifactId>log4j-core</artifactId>\n  <version>2.14.1</version>\n</dependency>", knownBad, false},
			{"pom.xml", "<dependency>\n  <artifactId>log4j-core</artifactId>\n" + strings.Repeat("<a>\n", 400) + strings.Repeat("</a>\n", 400) + "  <version>2.14.1</version>\n</dependency>", knownBad, false},
		},
		"values on the next line": {
			{workflow, "    env:\n      ACTIONS_ALLOW_UNSECURE_COMMANDS:\n        true", unsecure, false},
			{workflow, "    env:\n      ACTIONS_ALLOW_UNSECURE_COMMANDS: # a\n\n        # b\n        !!bool true", unsecure, false},
			{workflow, "    env:\n      \"ACTIONS_ALLOW_UNSECURE_COMMANDS\": &a\n        'true'", unsecure, false},
			{workflow, "    env:\n      ACTIONS_ALLOW_UNSECURE_COMMANDS: >-\n        true", unsecure, false},
			{workflow, "    env:\n      ACTIONS_ALLOW_UNSECURE_COMMANDS:\n        |-\n        true", unsecure, false},
			{workflow, "    env:\n      ACTIONS_ALLOW_UNSECURE_COMMANDS:\n      A:\n        true", unsecure, true},
			{workflow, "    env:\n      ACTIONS_ALLOW_UNSECURE_COMMANDS:\n        false", unsecure, true},
			{".yarnrc.yml", "npmRegistryServer:\n  http://evil.example", plainHTTP, false},
			{".yarnrc.yml", "npmRegistryServer:\n  \"http://evil.example\"", plainHTTP, false},
			{".yarnrc.yml", "npmRegistryServer:\n  https://good.example", plainHTTP, true},
			{".yarnrc.yml", "npmRegistryServer:\n  http://localhost:4873", plainHTTP, true},
		},
		"folded values": {
			{"a.yml", "run: >-\n  curl https://a.example\n  -k", curl, false},
			{"a.yml", "run: curl https://a.example\n  -k", curl, false},
			{"a.yml", "run:\n  curl https://a.example\n  -k", curl, false},
			{"a.yml", "run: \"curl -\\\n    k https://a.example\"", curl, false},
			{"a.yml", "run: |\n  curl https://a.example\n  foo -k", curl, true},
			{"a.yml", "run: >\n  curl https://a.example\n\n  foo -k", curl, true},
			{"a.yml", "test: >-\n  curl -k\n  https://localhost || exit 1", curl, true},
			{"a.yml", "run: |\n  # curl -k https://a.example", curl, true},
		},
		"sequences": {
			{"a.yml", "command:\n- curl\n- -k\n- https://a.example", curl, false},
			{"a.yml", "  command:\n    # a\n    - \"curl\"\n\n    - -k # b\n    - https://a.example", curl, false},
			{"a.yml", "command:\n  - curl\n  -\n    -k\n  - https://a.example", curl, false},
			{"a.yml", "command:\n  - curl\n  - >-\n    -k\n  - https://a.example", curl, false},
			{"a.yml", "command:\n  - curl\n  - -A\n  - my agent\n  - -k\n  - https://a.example", curl, false},
			{"a.yml", "command:\n- curl\n- \"-\\\n  k\"\n- https://a.example", curl, false},
			{"a.yml", "x:\n- - curl\n  - -k\n  - https://a.example", curl, false},
			{"a.yml", "- curl\n- -k\n- https://a.example", curl, false},
			{"a.yml", "- make\n- curl https://a.example\n- foo -k", curl, true},
			{"a.yml", "- - curl\n- - -k", curl, true},
			{"a.yml", "test:\n  - CMD\n  - curl\n  - -k\n  - https://localhost/a", curl, true},
			{"a.yml", "script:\n  - make\n  - curl https://a.example\n  - foo -k", curl, true},
			{"a.yml", "script:\n  - curl https://a.example -o b\n  - foo\n  - bar -k", curl, true},
			{"a.yml", "script:\n  - curl -k https://localhost\n  - make", curl, true},
		},
		"values of pip": {
			{"pip.conf", "[global]\nextra-index-url =\n    https://a.example\n    http://evil.example", plainHTTP, false},
			{"pip.conf", "[global]\nextra-index-url = https://a.example\n    http://evil.example", plainHTTP, false},
			{"pip.conf", "[global]\nextra-index-url = https://a.example http://evil.example", plainHTTP, false},
			{"pip.conf", "[global]\nextra-index-url = https://a.example\n    https://b.example http://evil.example", plainHTTP, false},
			{"pip.conf", "[global]\ntrusted-host = localhost\n    evil.example", plainHTTP, false},
			{"pip.ini", "[global]\ntrusted-host =\n    localhost\n\n    evil.example", plainHTTP, false},
			{"pip.conf", "[global]\ntrusted-host =\n    localhost\n    127.0.0.1", plainHTTP, true},
			{"pip.conf", "[global]\ntrusted-host = localhost\n    # evil.example\nindex-url =\n    https://a.example", plainHTTP, true},
			{"pip.conf", "[global]\nextra-index-url =\n    https://a.example\n    http://localhost:3141/simple", plainHTTP, true},
		},
		"inputs of a checkout": {
			{workflow, "on: pull_request_target\n          ref:\n            refs/pull/${{ github.event.number }}/merge", target, false},
			{workflow, "on: pull_request_target\n          ref:\n            refs/heads/${{ github.base_ref }}", target, true},
		},
	} {
		for _, c := range cases {
			if got := shippedOn(t, c.path, c.text); got[c.rule] == c.ok {
				t.Errorf("%s: %s finds %q in %s: %t, want %t", name, c.rule, c.text, c.path, got[c.rule], !c.ok)
			}
		}
	}
}

// A row is new if one of its lines is new. It is found once, in that line.
func TestNewRows(t *testing.T) {
	t.Parallel()
	_, engine := shipped(t)
	for _, c := range []struct {
		path, language, agent, rule string
		lines                       []string
		want                        []int
	}{
		{workflow, "YAML", "infra-reviewer", injection, []string{" - run: |", "     a", "+    " + title}, []int{3}},
		{workflow, "YAML", "infra-reviewer", injection, []string{" - run: |", "     " + title, "+    a"}, nil},
		{workflow, "YAML", "infra-reviewer", injection, []string{"+- run: |", "     " + title}, []int{1}},
		{workflow, "YAML", "infra-reviewer", injection, []string{" - run: |", "     " + title, "+    name: " + title}, []int{3}},
		{workflow, "YAML", "infra-reviewer", injection, []string{"+- run: |", "+    name: " + title, "+    echo " + title, "+    " + title}, []int{3, 2, 4}},
		{workflow, "YAML", "infra-reviewer", injection, []string{" - env:", "-    A: |", "+  run: |", "       name: " + title}, []int{2}},
		{workflow, "YAML", "infra-reviewer", injection, []string{"           cat <<EOF > a.json", "           {", "+            \"title\": \"" + title + "\",", "             \"body\": \"a\""}, []int{3}},
		{workflow, "YAML", "infra-reviewer", injection, []string{"           From: me", "+          Title: " + title, "           EOF"}, []int{2}},
		{workflow, "YAML", "infra-reviewer", injection, []string{"           cat <<EOF", "           Title: " + title, "+          From: me", "           EOF"}, nil},
		{workflow, "YAML", "infra-reviewer", injection, []string{"           From: me", "+          TITLE: " + title, "           A: b"}, nil},
		{"a.yml", "YAML", "security-reviewer", verify, []string{" - name: NODE_TLS_REJECT_UNAUTHORIZED", "-  value: \"1\"", "+  value: \"0\""}, []int{2}},
		{"a.yml", "YAML", "security-reviewer", verify, []string{" - name: NODE_TLS_REJECT_UNAUTHORIZED", "   value: \"0\"", "+- name: a"}, nil},
		{workflow, "YAML", "infra-reviewer", unsecure, []string{" ACTIONS_ALLOW_UNSECURE_COMMANDS:", "-  false", "+  true"}, []int{2}},
		{workflow, "YAML", "infra-reviewer", unsecure, []string{" ACTIONS_ALLOW_UNSECURE_COMMANDS:", "   true", "+A: b"}, nil},
		{"a.yml", "YAML", "security-reviewer", curl, []string{" command:", " - curl", "+- -k", " - https://a.example"}, []int{3}},
		{"a.yml", "YAML", "security-reviewer", curl, []string{" command:", " - curl", " - -k", " - https://a.example", "+- -s"}, nil},
		{"pom.xml", "Maven POM", "dependency-reviewer", knownBad, []string{"   <artifactId>log4j-core</artifactId>", "-  <version>2.17.1</version>", "+  <version>2.14.1</version>"}, []int{2}},
		{"pom.xml", "Maven POM", "dependency-reviewer", knownBad, []string{"   <artifactId>log4j-core</artifactId>", "   <version>2.14.1</version>", "+  <scope>test</scope>"}, nil},
		{"pip.conf", "INI", "dependency-reviewer", plainHTTP, []string{" extra-index-url =", "   https://a.example", "+  http://a.example"}, []int{3}},
		{"pip.conf", "INI", "dependency-reviewer", plainHTTP, []string{"+extra-index-url =", "+", "   http://a.example"}, []int{1}},
		{"pip.conf", "INI", "dependency-reviewer", plainHTTP, []string{" extra-index-url =", "   http://a.example", "+  https://a.example"}, nil},
	} {
		f := with(file(c.path, c.lines...), func(f *pipeline.File) { f.Language = c.language })
		var got []int
		for _, r := range results(review(t, engine.Scan(&pipeline.PRFacts{Files: []pipeline.File{f}}, classification), c.agent)) {
			if r.Rule == c.rule {
				got = append(got, r.Line)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s finds %q at %d, want %d", c.rule, c.lines, got, c.want)
		}
	}
}

// Elements within very many others are read up to the end tag of the outermost.
func TestXMLWithinVeryManyElements(t *testing.T) {
	var starts, ends []string
	for i := range 1200 {
		starts = append(starts, fmt.Sprintf(" <a%d>", i))
		ends = append(ends, fmt.Sprintf(" </a%d>", 1199-i))
	}
	f := file("a.xml", slices.Concat(starts, []string{" <b>c</b>", "+<d>e</d>"}, ends, []string{"+<f>g</f>"})...)
	var got []string
	for _, s := range rules.Statements("XML", 0, &f.Hunks[0]) {
		got = append(got, s.Texts[0])
	}
	if want := []string{"<b>c</b><d>e</d>", "<f>g</f>"}; !slices.Equal(got[:min(len(got), 2)], want) {
		t.Errorf("rows %q, want %q first", got, want)
	}
}
