package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"code.dny.dev/ssrf"

	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// SessionSettings are the settings of sessions: pull requests about which coding agents report events.
type SessionSettings struct {
	// Fallback is the number of minutes without an event after which a running session gets one cycle.
	// 0 to 1440, default 15; 0 means never.
	Fallback int `json:"fallback"`
	// Deadline is the number of minutes in which reviewers must answer, 1 to 1440, default 10.
	Deadline int `json:"deadline"`
	// MaxWords is how many words a reviewer's summary may have, 20 to 1000, default 200.
	MaxWords int `json:"max_words"`
	// FocusAreas are what reviewers look at unless an event names others, at most 10. Default
	// architecture alignment, test coverage, security.
	FocusAreas []string `json:"focus_areas"`
	// People are mentioned and asked to review when a blocker pauses a session: logins, or teams as
	// "org/team-slug". At most 15; the default is an empty list.
	People []string `json:"people"`
}

// RemoteReviewer says how to ask a reviewer of kind webhook. Only the server's layer may have one.
type RemoteReviewer struct {
	Receiver
	// Trusted says that the reviewer's findings count in full. Otherwise they need proof, as a
	// model's findings do. Default false.
	Trusted bool `json:"trusted,omitempty"`
}

// Receiver says where requests are sent and how they are signed.
type Receiver struct {
	URL string `json:"url"` // https, or http to an address in AllowPrivate
	// SecretEnv names the environment variable that holds the secret for signing requests and answers.
	// Its value has at least 16 characters.
	SecretEnv string `json:"secret_env"`
	// AllowPrivate are addresses or networks, such as 10.0.0.0/8, that may be called although they
	// are private. The default is an empty list.
	AllowPrivate []string `json:"allow_private,omitempty"`
}

// webhookSection is the section of an agent of kind webhook. Later layers can't change it at all; see
// refuseRemote.
var webhookSection = section{
	name: "webhook", otherwise: "calls no remote reviewer",
	check: func(t *trial, e *entry) {
		kind, section := e.node.Get("kind"), e.node.Get("webhook")
		if given(kind) && kind.Text == KindWebhook {
			t.checkRemote(e, kind)
		}
		if section != nil && t.owns(section) {
			t.values.checkReceiver(section)
		}
	},
}

// checkRemote validates an agent of kind webhook.
func (t *trial) checkRemote(e *entry, kind *jsontree.Node) {
	if t.layer == LayerServer && e.node.Get("webhook") == nil {
		t.of(kind, "an agent of kind webhook needs an address and a secret", `add "webhook": {"url": "https://...", "secret_env": "..."}`)
	}
	if mode := e.node.Get("mode"); given(mode) && mode.Text == ModeEvaluate {
		at := mode
		if !t.owns(at) {
			at = kind // the layer changed the kind
		}
		t.of(at, "an agent of kind webhook can't be in evaluation: its reviewer would be asked twice", `leave "mode" out, or set it to enforce; to try the reviewer, leave "trusted" out`)
	}
}

// checkEvaluatedPolicies refuses policies in evaluation that dispatch agents of kind webhook.
func (t *trial) checkEvaluatedPolicies() {
	kinds := t.stack.kinds()
	for _, e := range t.own[FileComposition] {
		mode := e.node.Get("mode")
		if !given(mode) || mode.Text != ModeEvaluate {
			continue
		}
		for _, agent := range elems(e.node.Get("dispatch").Get("agents")) {
			if kinds[agent.Text] != KindWebhook {
				continue
			}
			at := agent
			if !t.owns(at) {
				at = mode // the layer put the policy in evaluation
			}
			t.of(at, fmt.Sprintf("a policy in evaluation can't dispatch %s, which is of kind webhook: its reviewer would be asked twice", shown(agent.Text)), "dispatch it from a policy that is enforced")
		}
	}
}

// refuseRemote refuses in other layers what only the server's layer may set for agents of kind webhook:
// the kind, everything in the section, and whether the reviewer is asked in sessions only.
func (t *trial) refuseRemote() {
	for _, n := range itemsOf(t.roots[FileAgents]) {
		if section := n.Get("webhook"); section != nil {
			t.of(section, `"webhook" names a host and a secret, so only the server's config may have it`, "remove it")
		}
		kind, was := n.Get("kind"), ""
		var below *entry
		if id := n.Get("id"); given(id) {
			below = t.below.lists[FileAgents].get(id.Text)
		}
		if below != nil {
			was = textOf(below.node.Get("kind"))
		}
		if session := n.Get("session"); was == KindWebhook && session != nil && session.Kind == jsontree.Bool && isTrue(session) != isTrue(below.node.Get("session")) {
			t.of(session, `"session" says when the reviewer of an agent of kind webhook is asked, and only the server's config may change that`, "remove it")
		}
		switch {
		case !given(kind):
		case kind.Text == was:
		case kind.Text == KindWebhook:
			problem, remedy := onlyTheServers(KindWebhook, "a host", t.layer)
			t.of(kind, problem, remedy)
		case was == KindWebhook:
			t.of(kind, fmt.Sprintf("the agent %s is of kind webhook, and only the server's config may change that", shown(n.Get("id").Text)), "leave it out, or choose another id")
		}
	}
}

// checkSession refuses agents that can't be reviewers of sessions.
func (t *trial) checkSession(e *entry) {
	session, kind := e.node.Get("session"), e.node.Get("kind")
	a, ok := e.value.(*Agent)
	if !isTrue(session) || !ok {
		return
	}
	blame := func(other *jsontree.Node) *jsontree.Node {
		if t.owns(session) || other == nil {
			return session
		}
		return other // the layer changed it
	}
	if !a.KindOf().Session {
		t.of(blame(kind), fmt.Sprintf("an agent of kind %s can't be a reviewer of sessions", a.Kind), `remove "session"; agents of kind llm and webhook can be reviewers`)
		return
	}
	if a.Kind == KindLLM && a.LLM != nil && a.LLM.Output == OutputReport {
		t.of(blame(e.node.Get("llm").Get("output")), fmt.Sprintf("%s reviews whole documents, so it can't be a reviewer of sessions", shown(a.ID)), `remove "session", or set "output" to findings`)
	}
}

// checkReceiver validates the receiver in n. The messages don't quote the address, since it may
// contain a key.
func (c *valueChecks) checkReceiver(n *jsontree.Node) {
	networks := elems(n.Get("allow_private"))
	var allowed []netip.Prefix
	valid := true
	for _, network := range networks {
		if !given(network) {
			valid = false // the schema reports this
			continue
		}
		p, problem, remedy := networkOf(network.Text)
		if problem != "" {
			c.of(network, problem, remedy)
			valid = false
		}
		allowed = append(allowed, p)
	}
	n = n.Get("url")
	if !given(n) {
		return
	}
	u, err := url.Parse(n.Text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || !isPort(u.Port()):
		c.of(n, "url is not an https URL", "write one such as https://reviewer.example.com/reviews")
	case u.User != nil:
		c.of(n, "url holds a user name or password", `remove the part before the @; the secret is read from the variable that "secret_env" names`)
	case u.Fragment != "" || u.RawFragment != "" || strings.HasSuffix(n.Text, "#"):
		c.of(n, "url has a fragment", "remove the # and everything after it")
	case u.Scheme == "http" && len(networks) == 0:
		c.of(n, "url is an http URL, which is only for private addresses", `write https, or list the address in "allow_private"`)
	case strings.Contains(u.Hostname(), "%"):
		c.of(n, "url names a network interface of one machine", "remove the % and everything after it in the host")
	case valid && !mayCall(u, allowed):
		c.of(n, "url has an address that is not in allow_private", `add the address to "allow_private"`)
	}
}

// special knows the addresses that are not public, as the client that calls receivers does.
var special = ssrf.New()

// mayCall reports whether the address in a URL may be called. Private addresses, and all addresses that
// are called over http, must be in allowed. A URL with a name may be called: its address is known only
// at the call.
func mayCall(u *url.URL, allowed []netip.Prefix) bool {
	ip, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return true
	}
	ip = ip.Unmap()
	if u.Scheme == "https" && special.SafeAddr(ip) == nil {
		return true
	}
	return slices.ContainsFunc(allowed, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// networkOf reads an entry of allow_private: an IP address, or a network.
func networkOf(text string) (p netip.Prefix, problem, remedy string) {
	if a, err := netip.ParseAddr(text); err == nil {
		p = netip.PrefixFrom(a.WithZone(""), a.BitLen())
		if a.Zone() != "" {
			return p, shown(text) + " names a network interface of one machine", "write " + p.Addr().String()
		}
	} else if p, err = netip.ParsePrefix(text); err != nil {
		return p, shown(text) + " is not an IP address or network", "write an address such as 10.1.2.3 or a network such as 10.0.0.0/8"
	}
	switch {
	case p.Addr().Is4In6():
		return p, shown(text) + " is an IPv4 address in IPv6 notation", "write the IPv4 address or network"
	case p != p.Masked():
		return p, shown(text) + " is neither an address nor a network", fmt.Sprintf("write the network %s, or the address %s", p.Masked(), p.Addr())
	}
	return p, "", ""
}
