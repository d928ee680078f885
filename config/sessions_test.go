package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// remoteAgent is an entry of kind webhook. More fields are added before its last brace.
func remoteAgent(id, more string) string {
	return `{"id": "` + id + `", "name": "R", "kind": "webhook", "description": "d", "webhook": {"url": "https://reviewer.example.com/reviews", "secret_env": "REVIEWER_SECRET"}` + more + `}`
}

// withRemote is a server's layer with the agent remote of kind webhook. More fields are added to it.
func withRemote(more string) Layer {
	return named(layer(FileAgents, `[`+remoteAgent("remote", more)+`]`), LayerServer)
}

// pointed returns the problems of layers, formatted without the line and the column.
func pointed(t *testing.T, layers ...Layer) (list []string) {
	t.Helper()
	_, problems := Load(layers...)
	for _, p := range formatted(problems) {
		list = append(list, p[strings.Index(p, ": ")+2:])
	}
	return list
}

func TestSessionSettings(t *testing.T) {
	c := mustLoad(t)
	want := SessionSettings{Fallback: 15, Deadline: 10, MaxWords: 200, FocusAreas: []string{"architecture alignment", "test coverage", "security"}, People: []string{}}
	if diff := cmp.Diff(want, c.Settings.Sessions); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	c = mustLoad(t, layer(FileSettings, `{"sessions": {"fallback": 0, "people": ["ada", "acme/core"]}}`))
	want.Fallback, want.People = 0, []string{"ada", "acme/core"}
	if diff := cmp.Diff(want, c.Settings.Sessions); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

func TestProblemsOfSessionSettings(t *testing.T) {
	list := func(of string, n int) string {
		return `[` + strings.TrimSuffix(strings.Repeat(`"`+of+`", `, n), ", ") + `]`
	}
	for _, tt := range []struct{ text, want string }{
		{`"fallback": 1440, "deadline": 1, "max_words": 20, "focus_areas": ` + list("x", 10) + `, "people": ` + list("a", 15), ""},
		{`"focus_areas": ["` + strings.Repeat("é", 100) + `"]`, ""},
		{`"focus_areas": []`, ""},
		{`"fallback": -1`, `/sessions/fallback: fallback is -1, which is out of range; use a number from 0 to 1440`},
		{`"fallback": 1441`, `/sessions/fallback: fallback is 1441, which is out of range; use a number from 0 to 1440`},
		{`"deadline": 0`, `/sessions/deadline: deadline is 0, which is out of range; use a number from 1 to 1440`},
		{`"max_words": 19`, `/sessions/max_words: max_words is 19, which is out of range; use a number from 20 to 1000`},
		{`"max_words": "200"`, `/sessions/max_words: max_words is a string, but must be a whole number; write a number such as 10, without quotes and fraction`},
		{`"focus_areas": ` + list("x", 11), `/sessions/focus_areas: focus_areas has 11 entries, more than the limit of 10; remove some`},
		{`"focus_areas": [""]`, `/sessions/focus_areas/0: "" is not a focus area; use 1 to 100 printable characters; the first is not a blank`},
		{`"focus_areas": ["a\nb"]`, `/sessions/focus_areas/0: "a\nb" is not a focus area; use 1 to 100 printable characters; the first is not a blank`},
		{`"focus_areas": ["` + strings.Repeat("é", 101) + `"]`, `/sessions/focus_areas/0: "` + strings.Repeat("é", 60) + `..." is not a focus area; use 1 to 100 printable characters; the first is not a blank`},
		{`"people": ` + list("a", 16), `/sessions/people: people has 16 entries, more than the limit of 15; remove some`},
		{`"people": ["@ada"]`, `/sessions/people/0: "@ada" is not a login or team; use a login, or a team as organisation/team-slug`},
		{`"timeout": 1`, `/sessions/timeout: "timeout" is not a field of a sessions section; use deadline, fallback, focus_areas, max_words or people`},
	} {
		if got := strings.Join(pointed(t, layer(FileSettings, `{"sessions": {`+tt.text+`}}`)), "\n"); got != tt.want {
			t.Errorf("%s:\n%s\nwant:\n%s", tt.text, got, tt.want)
		}
	}
	final := named(layer(FileSettings, `{"final": ["sessions.people"]}`), LayerServer)
	if diff := cmp.Diff([]string{`/sessions/people: sessions.people is final in the server's layer; leave it out`},
		pointed(t, final, layer(FileSettings, `{"sessions": {"people": ["ada"], "fallback": 5}}`))); diff != "" {
		t.Errorf("a final setting (-want +got):\n%s", diff)
	}
	organisation := Layer{Name: LayerOrganisation, Organisation: "acme", Files: layer(FileSettings, `{"sessions": {"fallback": 0, "deadline": 60, "max_words": 20, "focus_areas": [], "people": ["ada"]}}`).Files}
	if c := mustLoad(t, organisation); len(c.Weakened()) > 0 || c.Settings.Sessions.Deadline != 60 {
		t.Errorf("an organisation can't change the settings of sessions: %v", c.Weakened())
	}
}

// A receiver is refused if it can't be called, or if its address holds a secret. The messages don't quote
// the address.
func TestProblemsOfReceivers(t *testing.T) {
	const noURL = `/url: url is not an https URL; write one such as https://reviewer.example.com/reviews`
	const outside = `/url: url has an address that is not in allow_private; add the address to "allow_private"`
	private := func(list string) string {
		return `{"url": "http://10.1.2.3:8080/r", "secret_env": "S", "allow_private": [` + list + `]}`
	}
	url := func(s string) string { return `{"url": "` + s + `", "secret_env": "S"}` }
	for _, tt := range []struct {
		text string
		want []string
	}{
		{url("https://reviewer.example.com:8443/r?v=1"), nil},
		{`{"url": "https://[2606:4700::1111]/", "secret_env": "_A1"}`, nil},
		{`{"url": "https://[::1]/", "secret_env": "S", "allow_private": ["::1"]}`, nil},
		{`{"url": "http://203.0.113.7/", "secret_env": "S", "allow_private": ["203.0.113.7"]}`, nil},
		{`{"url": "http://reviewer/", "secret_env": "S", "allow_private": ["10.0.0.0/8"]}`, nil},
		{`{"url": "http://203.0.113.7/", "secret_env": "S", "allow_private": ["10.0.0.0/8"]}`, []string{outside}},
		{`{"url": "https://100.64.0.1/", "secret_env": "S"}`, []string{outside}},
		{`{"url": "https://[2001:db8::1]/", "secret_env": "S"}`, []string{outside}},
		{url("https://10.1.2.3/"), []string{outside}},
		{url("https://[::ffff:10.1.2.3]/"), []string{outside}},
		{url("https://[fe80::1]/"), []string{outside}},
		{`{"url": "https://[fe80::1%25eth0]/", "secret_env": "S", "allow_private": ["fe80::/10"]}`, []string{`/url: url names a network interface of one machine; remove the % and everything after it in the host`}},
		{url("https://127.0.0.1/"), []string{outside}},
		{url("https://169.254.169.254/latest"), []string{outside}},
		{url("https://0.0.0.0/"), []string{outside}},
		{private(`"10.1.2.3", "10.0.0.0/8", "fd00::/8", "::1", "0.0.0.0/0"`), nil},
		{url(""), []string{`/url: url is empty; write something, or remove the entry`}},
		{url("reviewer-secret.example.com"), []string{noURL}},
		{url("https:secret"), []string{noURL}},
		{url("ftp://secret"), []string{noURL}},
		{url("https:///secret"), []string{noURL}},
		{url("https://:443/secret"), []string{noURL}},
		{url("https://secret:0/"), []string{noURL}},
		{url("https://a b/"), []string{noURL}},
		{url("https://me:secret@example.com/"), []string{`/url: url holds a user name or password; remove the part before the @; the secret is read from the variable that "secret_env" names`}},
		{url("https://example.com/#secret"), []string{`/url: url has a fragment; remove the # and everything after it`}},
		{url("https://example.com/#"), []string{`/url: url has a fragment; remove the # and everything after it`}},
		{url("http://example.com/secret"), []string{`/url: url is an http URL, which is only for private addresses; write https, or list the address in "allow_private"`}},
		{private(``), []string{`/url: url is an http URL, which is only for private addresses; write https, or list the address in "allow_private"`}},
		{url("https://example.com/" + strings.Repeat("a", 500)), []string{`/url: url has 520 characters, more than the limit of 500; shorten it`}},
		{`{"url": "https://example.com"}`, []string{`: "secret_env" is missing; add "secret_env"`}},
		{`{"secret_env": "S"}`, []string{`: "url" is missing; add "url"`}},
		{`{"url": "https://example.com", "secret_env": "hunter2-secret"}`, []string{`/secret_env: secret_env is not a name of a variable; use capital letters, digits and _: the name of the environment variable that holds the secret for signing requests and answers, never the secret itself. Its value has at least 16 characters`}},
		{`{"url": "https://example.com", "secret_env": "S", "secret": "hunter2"}`, []string{`/secret: "secret" is not a field of SECTION`}},
		{private(`"10.0.0.1/8"`), []string{`/allow_private/0: "10.0.0.1/8" is neither an address nor a network; write the network 10.0.0.0/8, or the address 10.0.0.1`}},
		{private(`"::ffff:10.0.0.1", "::ffff:10.0.0.0/104"`), []string{
			`/allow_private/0: "::ffff:10.0.0.1" is an IPv4 address in IPv6 notation; write the IPv4 address or network`,
			`/allow_private/1: "::ffff:10.0.0.0/104" is an IPv4 address in IPv6 notation; write the IPv4 address or network`,
		}},
		{private(`"fe80::1%eth0"`), []string{`/allow_private/0: "fe80::1%eth0" names a network interface of one machine; write fe80::1`}},
		{private(`"localhost", "10.0.0.0/33"`), []string{
			`/allow_private/0: "localhost" is not an IP address or network; write an address such as 10.1.2.3 or a network such as 10.0.0.0/8`,
			`/allow_private/1: "10.0.0.0/33" is not an IP address or network; write an address such as 10.1.2.3 or a network such as 10.0.0.0/8`,
		}},
		{private(strings.TrimSuffix(strings.Repeat(`"10.1.2.3", `, 21), ", ")), []string{`/allow_private: allow_private has 21 entries, more than the limit of 20; remove some`}},
	} {
		agent := strings.Replace(remoteAgent("r", ""), `{"url": "https://reviewer.example.com/reviews", "secret_env": "REVIEWER_SECRET"}`, tt.text, 1)
		for _, in := range []struct{ pointer, section, file, text string }{
			{"/0/webhook", "a webhook section; use allow_private, secret_env, trusted or url", FileAgents, `[` + agent + `]`},
			{"/escalation_webhook", "an escalation_webhook section; use allow_private, secret_env or url", FileSettings, `{"escalation_webhook": ` + tt.text + `}`},
		} {
			var want []string
			for _, w := range tt.want {
				want = append(want, in.pointer+strings.Replace(w, "SECTION", in.section, 1))
			}
			got := pointed(t, named(layer(in.file, in.text), LayerServer))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: problems (-want +got):\n%s", in.text, diff)
			}
			if strings.Contains(strings.ReplaceAll(strings.Join(got, ""), "secret_env", ""), "hunter2") {
				t.Errorf("a message quotes a secret: %q", got)
			}
		}
	}
}

// Only the server's layer defines remote reviewers and how they are asked.
func TestRemoteReviewersAreTheServers(t *testing.T) {
	c := mustLoad(t, withRemote(`, "session": true, "final": true`))
	a := agentOf(c, "remote")
	if want := (&RemoteReviewer{Receiver: Receiver{URL: "https://reviewer.example.com/reviews", SecretEnv: "REVIEWER_SECRET"}}); !cmp.Equal(want, a.Webhook) || !a.Session {
		t.Errorf("the agent is %+v", a)
	}
	const section = `/0/webhook: "webhook" names a host and a secret, so only the server's config may have it; remove it`
	const session = `/0/session: "session" says when the reviewer of an agent of kind webhook is asked, and only the server's config may change that; remove it`
	for _, tt := range []struct {
		name  string
		below Layer
		text  string
		want  []string
	}{
		{"switched off", withRemote(""), `{"id": "remote", "enabled": false}`, nil},
		{"another name", withRemote(""), `{"id": "remote", "name": "n", "kind": "webhook", "session": false}`, nil},
		{"switched off, but final", withRemote(`, "final": true`), `{"id": "remote", "enabled": false}`, []string{`/0/enabled: enabled can't be set to this: the agent "remote" is final in the server's layer; leave it out`}},
		{"no longer a reviewer of sessions", withRemote(`, "session": true`), `{"id": "remote", "session": false}`, []string{session}},
		{"a reviewer in sessions only", withRemote(""), `{"id": "remote", "session": true}`, []string{session}},
		{"the value that it already has", withRemote(`, "session": true`), `{"id": "remote", "session": true}`, nil},
		{"another address", withRemote(""), `{"id": "remote", "webhook": {"url": "https://evil.example.com", "secret_env": "REVIEWER_SECRET"}}`, []string{section}},
		{"another secret", withRemote(""), `{"id": "remote", "webhook": {"secret_env": "GITHUB_APP_WEBHOOK_SECRET"}}`, []string{`/0/webhook: "url" is missing; add "url"`, section}},
		{"the same section", withRemote(""), `{"id": "remote", "webhook": {"url": "https://reviewer.example.com/reviews", "secret_env": "REVIEWER_SECRET"}}`, []string{section}},
		{"trust", withRemote(`, "final": true`), `{"id": "remote", "webhook": {"url": "https://reviewer.example.com/reviews", "secret_env": "REVIEWER_SECRET", "trusted": true}}`, []string{section, `/0/webhook/trusted: webhook.trusted can't be set to this: the agent "remote" is final in the server's layer; leave it out`}},
		{"another kind", withRemote(""), `{"id": "remote", "kind": "rules"}`, []string{
			`/0/kind: an agent of kind rules calls no remote reviewer; remove "webhook", or set "kind" to webhook`,
			`/0/kind: the agent "remote" is of kind webhook, and only the server's config may change that; leave it out, or choose another id`,
		}},
		{"a shipped agent", withRemote(""), `{"id": "spec-reviewer", "kind": "webhook"}`, []string{
			`/0/kind: agents of kind webhook name a host, so only the server's config may define them; remove the agent, or use rules, secrets, report, code-scanning or llm`,
			`/0/kind: an agent of kind webhook asks no language model; remove "llm", or set "kind" to llm`,
		}},
		{"an agent of its own", withRemote(""), remoteAgent("mine", ""), []string{
			`/0/kind: agents of kind webhook name a host, so only the server's config may define them; remove the agent, or use rules, secrets, report, code-scanning or llm`,
			section,
		}},
	} {
		for _, name := range []string{LayerOrganisation, LayerRepository} {
			if diff := cmp.Diff(tt.want, pointed(t, tt.below, named(layer(FileAgents, `[`+tt.text+`]`), name))); diff != "" {
				t.Errorf("%s in the %s's layer: problems (-want +got):\n%s", tt.name, name, diff)
			}
		}
	}
	for _, name := range []string{LayerOrganisation, LayerRepository} {
		if diff := cmp.Diff([]string{`/escalation_webhook: "escalation_webhook" applies to all repositories, so only the server's config may have it; remove it`},
			pointed(t, named(layer(FileSettings, `{"escalation_webhook": {"url": "https://example.com", "secret_env": "S"}}`), name))); diff != "" {
			t.Errorf("problems of the %s's layer (-want +got):\n%s", name, diff)
		}
	}
}

// An organisation that may not weaken loses only its escalation_webhook.
func TestOrganisationsEscalationIsDropped(t *testing.T) {
	l := Layer{Name: LayerOrganisation, Organisation: "acme", Files: layer(FileSettings, `{"escalation_webhook": {"url": "https://example.com", "secret_env": "S"}, "sessions": {"deadline": 30}}`).Files}
	c := mustLoad(t, l)
	if c.Settings.EscalationWebhook != nil || c.Settings.Sessions.Deadline != 30 {
		t.Errorf("settings: %+v, %+v", c.Settings.EscalationWebhook, c.Settings.Sessions)
	}
	if diff := cmp.Diff([]string{`review-settings.json:1:24: /escalation_webhook: this does not count: "escalation_webhook" applies to all repositories, so only the server's config may have it; remove it`}, formatted(c.Weakened())); diff != "" {
		t.Errorf("weakened (-want +got):\n%s", diff)
	}
}

// Some agents can't be remote reviewers or reviewers of sessions, and some policies can't dispatch them.
func TestProblemsOfRemoteReviewersAndSessions(t *testing.T) {
	always := `{"id": "p", "description": "d", "priority": 1, "trigger": {"type": "always"}, "mode": "evaluate", "dispatch": {"agents": ["pr-hygiene", "remote"]}}`
	for _, tt := range []struct {
		name string
		file string
		text string
		want []string
	}{
		{"no section", FileAgents, `[{"id": "r", "name": "R", "kind": "webhook", "description": "d"}]`, []string{`/0/kind: an agent of kind webhook needs an address and a secret; add "webhook": {"url": "https://...", "secret_env": "..."}`}},
		{"the section of rules", FileAgents, `[` + strings.Replace(remoteAgent("r", ""), `"webhook", "desc`, `"rules", "desc`, 1) + `]`, []string{`/0/webhook: an agent of kind rules calls no remote reviewer; remove "webhook", or set "kind" to webhook`}},
		{"in evaluation", FileAgents, `[` + remoteAgent("r", `, "mode": "evaluate"`) + `]`, []string{`/0/mode: an agent of kind webhook can't be in evaluation: its reviewer would be asked twice; leave "mode" out, or set it to enforce; to try the reviewer, leave "trusted" out`}},
		{"rules of a remote reviewer", FileRules, `[` + strings.Replace(rule("a", ""), "build-reviewer", "remote", 1) + `]`, []string{`/0/agent: the agent "remote" is of kind webhook and runs no rules, so the rule "a" never runs; give the rule to an agent of kind rules or llm`}},
		{"a policy in evaluation", FileComposition, `[` + always + `]`, []string{`/0/dispatch/agents/1: a policy in evaluation can't dispatch "remote", which is of kind webhook: its reviewer would be asked twice; dispatch it from a policy that is enforced`}},
		{"a policy that is enforced", FileComposition, `[` + strings.Replace(always, "evaluate", "enforce", 1) + `]`, nil},
		{"a policy in place of the shipped ones", FileComposition, `{"extends": [], "items": [` + strings.Replace(strings.Replace(always, "evaluate", "enforce", 1), `"pr-hygiene", `, "", 1) + `]}`, []string{`/extends: no policy with the trigger "always" is enforced; keep or add one: {"type": "always"}`}},
		{"a session of rules", FileAgents, `[{"id": "build-reviewer", "session": true}]`, []string{`/0/session: an agent of kind rules can't be a reviewer of sessions; remove "session"; agents of kind llm and webhook can be reviewers`}},
		{"no session of rules", FileAgents, `[{"id": "build-reviewer", "session": false}]`, nil},
		{"a session of a model", FileAgents, `[{"id": "build-reviewer-llm", "session": true}]`, nil},
		{"a session of documents", FileAgents, `[{"id": "technical-pm", "session": true}]`, []string{`/0/session: "technical-pm" reviews whole documents, so it can't be a reviewer of sessions; remove "session", or set "output" to findings`}},
		{"a session that is not a boolean", FileAgents, `[{"id": "build-reviewer-llm", "session": "yes"}]`, []string{`/0/session: session is a string, but must be true or false; write true or false, without quotes`}},
	} {
		own := named(layer(tt.file, tt.text), LayerRepository)
		layers := []Layer{withRemote(""), own}
		if strings.Contains(tt.text, `"webhook`) {
			layers = []Layer{named(own, LayerServer)}
		}
		got := pointed(t, layers...)
		if tt.name == "a policy in place of the shipped ones" {
			// The others are about rules whose agents no policy dispatches now.
			got = slices.DeleteFunc(got, func(p string) bool { return strings.Contains(p, "no policy dispatches") })
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: problems (-want +got):\n%s", tt.name, diff)
		}
	}
	// The problem is reported in the layer whose change causes it.
	server := named(layer(FileAgents, `[`+llmAgent("a", `, "session": true, "llm": {"prompt": "build-reviewer"}`)+`]`, FileComposition, `[`+strings.Replace(always, "remote", "a", 1)+`]`), LayerServer)
	for _, tt := range []struct{ file, text, want string }{
		{FileAgents, `[{"id": "a", "llm": {"output": "report", "report_by": "technical-pm"}}]`, `/0/llm/output: "a" reviews whole documents, so it can't be a reviewer of sessions; remove "session", or set "output" to findings`},
		{FileAgents, `[{"id": "a", "kind": "rules"}]`, `/0/kind: an agent of kind rules asks no language model; remove "llm", or set "kind" to llm` + "\n" + `/0/kind: an agent of kind rules can't be a reviewer of sessions; remove "session"; agents of kind llm and webhook can be reviewers`},
	} {
		if got := strings.Join(pointed(t, server, layer(tt.file, tt.text)), "\n"); got != tt.want {
			t.Errorf("%s:\n%s\nwant:\n%s", tt.text, got, tt.want)
		}
	}
	enforced := named(layer(FileAgents, `[`+remoteAgent("remote", "")+`]`, FileComposition, `[`+strings.Replace(always, "evaluate", "enforce", 1)+`]`), LayerServer)
	if got := strings.Join(pointed(t, enforced, layer(FileComposition, `[{"id": "p", "mode": "evaluate"}]`)), "\n"); got != `/0/mode: a policy in evaluation can't dispatch "remote", which is of kind webhook: its reviewer would be asked twice; dispatch it from a policy that is enforced` {
		t.Error(got)
	}
	if got := strings.Join(pointed(t, enforced, layer(FileAgents, `[{"id": "remote", "mode": "evaluate"}]`)), "\n"); !strings.HasPrefix(got, "/0/mode: an agent of kind webhook can't be in evaluation") {
		t.Error(got)
	}
}

// Remote reviewers are never proposed for evaluation, because they can't be in it.
func TestRemoteReviewersAreNotProposed(t *testing.T) {
	c := mustLoad(t, withRemote(""))
	if c.Judgeable("", "remote") {
		t.Error("the agent can be proposed for evaluation")
	}
	if !c.Judgeable("", "build-reviewer-llm") {
		t.Error("an agent that asks a model can't be proposed for evaluation")
	}
}

// Diff names the fields of the section as people write them.
func TestDiffOfRemoteReviewers(t *testing.T) {
	before := mustLoad(t, withRemote(""))
	after := mustLoad(t, named(layer(
		FileAgents, `[`+strings.Replace(remoteAgent("remote", `, "session": true`), "REVIEWER_SECRET\"", `OTHER", "trusted": true, "allow_private": ["10.1.2.3"]`, 1)+`]`,
		FileSettings, `{"escalation_webhook": {"url": "https://example.com", "secret_env": "S"}, "sessions": {"deadline": 20}}`,
	), LayerServer))
	var got []string
	for _, d := range Diff(before, after) {
		got = append(got, d.ID+" "+strings.Join(d.Fields, " "))
	}
	if diff := cmp.Diff([]string{"remote webhook.secret_env webhook.allow_private webhook.trusted session", "escalation_webhook.secret_env ", "escalation_webhook.url ", "sessions.deadline "}, got); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

// Whatever receiver the server's layer names: if it is accepted, it can be called, and otherwise each
// problem is inside the file and has a remedy.
func FuzzReceiver(f *testing.F) {
	f.Add("https://reviewer.example.com/r?v=1", "S", "10.0.0.0/8")
	f.Add("http://[fe80::1%25eth0]:8080/#", "lower", "fe80::1%eth0")
	f.Add("https://me:pw@example.com", "_", "::ffff:10.0.0.0/104")
	f.Fuzz(func(t *testing.T, url, env, network string) {
		text := encoded(object{"escalation_webhook": object{"url": url, "secret_env": env, "allow_private": []string{network}}})
		c, problems := Load(named(layer(FileSettings, string(text)), LayerServer))
		for _, p := range problems {
			if p.Line != 1 || p.Column < 1 || p.Column > len(text) || p.Remedy == "" {
				t.Fatalf("the problem points outside the file, or has no remedy: %s", FormatProblem(p))
			}
		}
		r := c.Settings.EscalationWebhook
		if (r != nil) != (len(problems) == 0) {
			t.Fatalf("receiver %+v, problems %v", r, problems)
		}
		if r == nil {
			return
		}
		if n, problem, _ := networkOf(network); problem != "" || !n.IsValid() || n != n.Masked() || n.Addr().Is4In6() || n.Addr().Zone() != "" {
			t.Fatalf("the network of %q is %v", network, n)
		}
		if !strings.HasPrefix(strings.ToLower(r.URL), "http") || strings.Contains(r.URL, "#") {
			t.Fatalf("the address %q is accepted", r.URL)
		}
	})
}
