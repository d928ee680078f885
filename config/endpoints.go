package config

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// checkEndpoints validates the list of endpoints that n holds, if it is one.
func (t *trial) checkEndpoints(n *jsontree.Node) {
	lines := map[string]int{}
	for _, e := range elems(n) {
		if name := e.Get("name"); given(name) {
			if line, twice := lines[name.Text]; twice {
				t.of(name, fmt.Sprintf("the name %s is used twice, first on line %d", shown(name.Text), line), "give one of the two another name, or remove it")
			} else {
				lines[name.Text] = name.Place().Line
			}
		}
		t.checkBaseURL(e.Get("base_url"))
	}
}

// checkBaseURL admits addresses below which an API can be: a query or a fragment
// would be lost, and a password would be shown wherever the settings are.
func (t *trial) checkBaseURL(n *jsontree.Node) {
	if !given(n) {
		return
	}
	u, err := url.Parse(n.Text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		t.of(n, fmt.Sprintf("base_url %s is no http or https URL", shown(n.Text)), "write one such as http://127.0.0.1:11434/v1")
	case u.User != nil:
		t.of(n, "base_url holds a user name or password", `remove what stands before the @; the key is read from the variable that "key_env" names`)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.RawFragment != "":
		t.of(n, fmt.Sprintf("base_url %s has a query or a fragment", shown(n.Text)), "remove what stands from the ? or # on")
	}
}

// models are the endpoints that the server has. It reads the JSON, so that one
// with another fault still counts.
func (t *trial) models() target {
	to := target{noun: "model", names: map[string]bool{}, hint: "have it added to model_endpoints of the server's settings"}
	var list *jsontree.Node
	if t.below.settings != nil {
		list = t.below.settings.Get("model_endpoints")
	}
	if t.layer == LayerServer {
		to.file = FileSettings // of which nothing is known where it can't be read
		if own := t.roots[FileSettings].Get("model_endpoints"); own != nil {
			list = own
		}
	}
	for _, e := range elems(list) {
		if name := e.Get("name"); given(name) {
			to.names[name.Text] = true
		}
	}
	return to
}

// checkModels validates the names of models, where the server has any: without
// one nobody is asked, whatever the name.
func (t *trial) checkModels() {
	models := t.models()
	if len(models.names) == 0 {
		return
	}
	own := t.roots[FileSettings].Get("models")
	for _, n := range append(slices.Clone(elems(own.Get("reviewers"))), own.Get("gap_detector")) {
		t.refer(n, models, namer{FileSettings, "models"})
	}
	for _, e := range t.entries(FileAgents) {
		if enabled(e.node) {
			t.referAll(e.node.Get("llm").Get("models"), models, namer{FileAgents, e.id})
		}
	}
	for _, e := range t.entries(FileComposition) {
		if enabled(e.node) {
			t.referAll(e.node.Get("dispatch").Get("models"), models, namer{FileComposition, e.id})
		}
	}
}

// checkModelsOfFinal refuses models that a policy of the layer names for agents
// that a lower layer holds: they would be asked in place of the agent's own.
func (t *trial) checkModelsOfFinal() {
	for _, e := range t.fresh[FileComposition] {
		dispatch := e.node.Get("dispatch")
		models := dispatch.Get("models")
		if len(elems(models)) == 0 || !enabled(e.node) {
			continue
		}
		for _, agent := range elems(dispatch.Get("agents")) {
			below := t.below.lists[FileAgents].get(agent.Text)
			if below == nil || !t.owns(models) && !t.owns(agent) {
				continue
			}
			a, _ := below.value.(*Agent)
			if l := t.guards.lock(below); l == nil || a == nil || a.Kind != KindLLM {
				continue
			} else if t.owns(models) {
				t.of(models, fmt.Sprintf("dispatch.models can't be set for %s: %s", shown(agent.Text), l.why), "leave it out, or dispatch the agent from another policy")
			} else {
				t.of(agent, fmt.Sprintf("a policy with models of its own can't dispatch %s: %s", shown(agent.Text), l.why), "dispatch the agent from another policy")
			}
		}
	}
}

// checkReview validates what an agent asks of language models.
func (t *trial) checkReview(e *entry) {
	t.checkOwnSection(e, "llm", KindLLM, "asks no language model")
	if e.id == pipeline.GapDetector {
		t.of(e.node.At("id"), fmt.Sprintf("the id %s stands in reports for the search for what the config misses", shown(e.id)), "choose another id")
	}
	t.checkPromptOf(e)
}
