package config

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// checkTrust refuses what the layer may not set.
func (t *trial) checkTrust() {
	if t.layer != LayerServer && t.layer != LayerOrganisation {
		for _, file := range listFiles() {
			for _, n := range itemsOf(t.roots[file]) {
				t.refuseFinal(n.Get("final"))
			}
		}
		t.refuseFinal(t.roots[FileSettings].Get("final"))
		t.refuseFinal(t.roots[FileSettings].Get("final_authority"))
	}
	if t.layer == LayerServer || t.layer == LayerDefaults {
		return
	}
	t.refuseRemote()
	for _, name := range serverOnly {
		if n := t.roots[FileSettings].Get(name); n != nil {
			t.of(n, fmt.Sprintf(onlyTheServer, name), "remove it")
		}
	}
}

// serverOnly are the settings that only the server's layer may have.
var serverOnly = []string{"repositories", "organisations", "config_branches", "model_endpoints", "model_budget", "escalation_webhook"}

const onlyTheServer = "%q applies to all repositories, so only the server's config may have it"

// explainServerOnly gives the right reason for dropped settings that only the server's layer
// may have: may_weaken does not let an organisation have them.
func (t *trial) explainServerOnly() {
	for i := range t.stack.weakened {
		p := &t.stack.weakened[i]
		name, _, _ := strings.Cut(strings.TrimPrefix(p.Pointer, "/"), "/")
		if path.Base(p.File) == FileSettings && slices.Contains(serverOnly, name) {
			p.Problem, p.Remedy = "this does not count: "+fmt.Sprintf(onlyTheServer, name), "remove it"
		}
	}
}

func (t *trial) refuseFinal(n *jsontree.Node) {
	if n != nil {
		t.of(n, fmt.Sprintf("the %s's layer may not make anything final", t.layer), "remove it; only the server's and the organisation's config may have it")
	}
}

// refusedKind returns why a layer can't have a kind of agent that runs programs. It returns "" for
// other kinds.
func refusedKind(kind any, layer string) (problem, remedy string) {
	switch {
	case kind != "command":
		return "", ""
	case layer == LayerServer:
		return fmt.Sprintf("this version has no agents of kind %s", kind), "use " + kindNames(layer)
	}
	return onlyTheServers("command", "a program", layer)
}

// onlyTheServers returns the problem of an agent of a kind that only the server's layer may define,
// because such agents name a program or a host.
func onlyTheServers(kind, named, layer string) (problem, remedy string) {
	return fmt.Sprintf("agents of kind %s name %s, so only the server's config may define them", kind, named), "remove the agent, or use " + kindNames(layer)
}

// checkReference refuses addresses that are not safe to show as a link.
func (c *valueChecks) checkReference(n *jsontree.Node) {
	if !given(n) {
		return
	}
	u, err := url.Parse(n.Text)
	switch {
	case err != nil || u.Scheme != "https" || u.Hostname() == "":
		c.of(n, fmt.Sprintf("the reference %s is not an https URL", shown(n.Text)), "write one such as https://example.com/guide, or remove it")
	case u.User != nil:
		c.of(n, "the reference holds a user name or password", "remove the part before the @")
	}
}
