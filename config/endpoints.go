package config

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// checkEndpoints validates the list of endpoints in n, if it is one. No two endpoints may be
// the same model: its findings would count as confirmed by two models.
func (c *valueChecks) checkEndpoints(n *jsontree.Node) {
	lines := map[string]int{}
	models := map[[3]string]string{}
	for _, e := range elems(n) {
		if name := e.Get("name"); given(name) {
			switch line, twice := lines[name.Text]; {
			case name.Text == pipeline.GapSignals:
				c.of(name, fmt.Sprintf("reports use the name %s for the search for gaps without a model", shown(name.Text)), "choose another name")
			case twice:
				c.of(name, fmt.Sprintf("the name %s is used twice, first on line %d", shown(name.Text), line), "give one of the two another name, or remove it")
			default:
				lines[name.Text] = name.Place().Line
			}
		}
		c.checkBaseURL(e.Get("base_url"))
		model := [3]string{textOf(e.Get("api")), strings.TrimRight(textOf(e.Get("base_url")), "/"), textOf(e.Get("model"))}
		if first, twice := models[model]; twice {
			c.of(e.Get("model"), fmt.Sprintf("%s is already the model of %s, and one model counts as one voice", shown(model[2]), shown(first)), "remove this endpoint; to ask a model several times, name it several times in models.reviewers")
		} else if model[2] != "" {
			models[model] = textOf(e.Get("name"))
		}
	}
}

// textOf returns the text of a node, or "" if it has none.
func textOf(n *jsontree.Node) string {
	if !given(n) {
		return ""
	}
	return n.Text
}

// checkBaseURL refuses addresses that can't be the base of an API's addresses: a query or a
// fragment would be lost, and a password would be shown with the settings. The messages
// don't quote the address, since it may contain a key.
func (c *valueChecks) checkBaseURL(n *jsontree.Node) {
	if !given(n) {
		return
	}
	u, err := url.Parse(n.Text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || !isPort(u.Port()):
		c.of(n, "base_url is not an http or https URL", "write one such as http://127.0.0.1:11434/v1")
	case u.User != nil:
		c.of(n, "base_url holds a user name or password", `remove the part before the @; the key is read from the variable that "key_env" names`)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.RawFragment != "":
		c.of(n, "base_url has a query or a fragment", "remove the ? or # and everything after it")
	}
}

// isPort reports whether the port of a URL is valid or left out.
func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return s == "" || err == nil && n > 0
}

// models returns the server's endpoints. It reads the JSON, so that an endpoint with another
// mistake counts too.
func (r *references) models() target {
	to := target{noun: "model", names: map[string]bool{}, hint: "have it added to model_endpoints of the server's settings"}
	var list *jsontree.Node
	if r.below.settings != nil {
		list = r.below.settings.Get("model_endpoints")
	}
	if r.layer == LayerServer {
		to.file = FileSettings // of which nothing is known where it can't be read
		if own := r.roots[FileSettings].Get("model_endpoints"); own != nil {
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

// checkModels validates how many models are named and, if the server has any, their names.
// Without any, the names do not matter: no model is asked.
func (r *references) checkModels() {
	own := r.roots[FileSettings].Get("models")
	r.checkTwo(own.Get("reviewers"))
	for _, e := range r.merged.entries(FileAgents) {
		if enabled(e.node) {
			r.checkTwo(e.node.Get("llm").Get("models"))
		}
	}
	models := r.models()
	if len(models.names) == 0 {
		return
	}
	r.checkName(own.Get("gap_detector"), models, referrer{FileSettings, "models"})
	r.checkName(own.Get("verify"), models, referrer{FileSettings, "models"})
	r.checkNames(own.Get("reviewers"), models, referrer{FileSettings, "models"})
	for _, e := range r.merged.entries(FileAgents) {
		if enabled(e.node) {
			r.checkNames(e.node.Get("llm").Get("models"), models, referrer{FileAgents, e.id})
		}
	}
	for _, e := range r.merged.entries(FileComposition) {
		if enabled(e.node) {
			r.checkNames(e.node.Get("dispatch").Get("models"), models, referrer{FileComposition, e.id})
			r.checkOnce(e.node.Get("dispatch").Get("models"))
		}
	}
}

// checkTwo checks that a list of models names at most two different ones.
func (r *references) checkTwo(list *jsontree.Node) {
	seen := map[string]bool{}
	for _, n := range elems(list) {
		if given(n) && !seen[n.Text] && len(seen) == 2 && r.owns(n) {
			r.of(n, fmt.Sprintf("%s is a third model", shown(n.Text)), "name at most two models, each as often as it is to be asked")
			return
		}
		seen[n.Text] = true
	}
}

// checkOnce checks that a list of models names none twice. The lists of policies are joined
// to a set, so they can't set how often a model is asked.
func (r *references) checkOnce(list *jsontree.Node) {
	seen := map[string]bool{}
	for _, n := range elems(list) {
		if given(n) && seen[n.Text] && r.owns(n) {
			r.of(n, fmt.Sprintf("the model %s is named twice", shown(n.Text)), "name it once; models.reviewers and an agent's llm.models say how often a model is asked")
		}
		seen[n.Text] = true
	}
}

// checkReviewers refuses models that the layer names for its agents and policies if a lower
// layer made models.reviewers final: they would be asked instead of the reviewers.
func (f *finals) checkReviewers(own map[string][]*entry) {
	final := elems(f.below.settings.Get("final"))
	i := slices.IndexFunc(final, func(n *jsontree.Node) bool { return n.Text == "models" || n.Text == "models.reviewers" })
	if i < 0 {
		return
	}
	for _, place := range [][2]string{{FileComposition, "dispatch"}, {FileAgents, "llm"}} {
		file, section := place[0], place[1]
		for _, e := range own[file] {
			models := e.node.Get(section).Get("models")
			if len(elems(models)) == 0 || !f.owns(models) || !enabled(e.node) {
				continue
			}
			if below := f.below.lists[file].get(e.id); below != nil {
				if same := below.node.Get(section).Get("models"); same != nil && sameJSON(same, models) {
					continue
				}
			}
			f.of(models, fmt.Sprintf("%s.models can't be set: %s is %s", section, final[i].Text, finalIn(layerOf(final[i]))), "leave it out")
		}
	}
}

// checkModels refuses models that a policy of the layer names for locked agents: they would
// be asked instead of the agent's own.
func (f *finals) checkModels(policies []*entry) {
	for _, e := range policies {
		dispatch := e.node.Get("dispatch")
		models := dispatch.Get("models")
		if len(elems(models)) == 0 || !enabled(e.node) {
			continue
		}
		for _, agent := range elems(dispatch.Get("agents")) {
			below := f.below.lists[FileAgents].get(agent.Text)
			if below == nil || !f.owns(models) && !f.owns(agent) {
				continue
			}
			a, _ := below.value.(*Agent)
			if l := f.guards.lock(below); l == nil || a == nil || a.Kind != KindLLM {
				continue
			} else if f.owns(models) {
				f.of(models, fmt.Sprintf("dispatch.models can't be set for %s: %s", shown(agent.Text), l.why), "leave it out, or dispatch the agent from another policy")
			} else {
				f.of(agent, fmt.Sprintf("a policy with models of its own can't dispatch %s: %s", shown(agent.Text), l.why), "dispatch the agent from another policy")
			}
		}
	}
}
