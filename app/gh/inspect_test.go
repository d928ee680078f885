package gh

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/ports"
)

func TestHookConfigInAllItsSpellings(t *testing.T) {
	for body, want := range map[string]HookConfig{
		`{"url":"https://a/b","content_type":"json","insecure_ssl":"0","secret":"********"}`: {URL: "https://a/b", ContentType: "json", HasSecret: true},
		`{"url":"https://a/b","content_type":"form","insecure_ssl":1}`:                       {URL: "https://a/b", ContentType: "form", Insecure: true},
		`{"url":"https://a/b","insecure_ssl":"1"}`:                                           {URL: "https://a/b", Insecure: true},
		`{}`: {},
	} {
		s := newStub(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(body))
		})
		got, err := s.client(t, nil).HookConfig(t.Context())
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
	s := newStub(t, func(w http.ResponseWriter, _ *http.Request) {
		send(w, http.StatusNotFound, map[string]any{"message": "Not Found"})
	})
	if got, err := s.client(t, nil).HookConfig(t.Context()); err != nil || got != (HookConfig{}) {
		t.Errorf("an App without a webhook: %+v, %v", got, err)
	}
}

// Required checks are found wherever they are configured. Some servers have no rulesets or
// name no App, and some rules are unknown.
func TestRequired(t *testing.T) {
	t.Parallel()
	const protected = `{"name":"main","protection":{"required_status_checks":{"contexts":["a"],"checks":[{"context":"a","app_id":42},{"context":"b","app_id":-1},{"context":"c","app_id":null}]}}}`
	for name, c := range map[string]struct {
		rules, branch string // no rules is 404
		want          Required
		kind          ports.HostKind
	}{
		"both": {`[{"type":"never_seen","parameters":[1]},{"type":"merge_queue","parameters":{}},{"type":"required_status_checks","parameters":{"required_status_checks":[{"context":"r","integration_id":42},{"context":"s"}]}}]`, protected,
			Required{MergeQueue: true, Checks: []RequiredCheck{
				{"r", 42, "ruleset"}, {"s", 0, "ruleset"},
				{"a", 42, "branch protection"}, {"b", 0, "branch protection"}, {"c", 0, "branch protection"},
			}}, ""},
		"no rulesets":       {"", protected, Required{Checks: []RequiredCheck{{"a", 42, "branch protection"}, {"b", 0, "branch protection"}, {"c", 0, "branch protection"}}}, ""},
		"only contexts":     {"[]", `{"name":"main","protection":{"required_status_checks":{"contexts":["a"]}}}`, Required{Checks: []RequiredCheck{{"a", 0, "branch protection"}}}, ""},
		"nothing":           {"[]", `{"name":"main"}`, Required{}, ""},
		"another kind":      {`[{"type":"required_status_checks","parameters":{"required_status_checks":"all"}}]`, protected, Required{}, ports.HostTransient},
		"no branch":         {"[]", `{}`, Required{}, ports.HostTransient},
		"rules as a object": {`{}`, protected, Required{}, ports.HostTransient},
	} {
		s := newStub(t, func(w http.ResponseWriter, r *http.Request) {
			body := c.branch
			if strings.Contains(r.URL.Path, "/rules/") {
				body = c.rules
			}
			if body == "" {
				send(w, http.StatusNotFound, map[string]any{"message": "Not Found"})
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(body))
		})
		got, err := s.client(t, nil).Required(t.Context(), pullTarget, "main")
		if c.kind != "" {
			wantHostError(t, err, c.kind)
			continue
		}
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// A repository is found by an old name, and its default branch may have any name.
func TestFind(t *testing.T) {
	w := newWorld(t, ghtest.Options{})
	w.repo.Settings.RenameDefaultBranch("release/1.0")
	w.repo.Settings.Rename("store")
	got, err := w.client.Find(t.Context(), "acme", "shop")
	w.must(err)
	want := Repository{Target: ports.Target{Kind: ports.TargetPull, Installation: w.hub.InstallationID("acme"), RepoID: w.repo.ID(), Owner: "acme", Name: "store"}, DefaultBranch: "release/1.0"}
	if got != want {
		t.Errorf("found %+v, want %+v", got, want)
	}
	w.repo.Settings.AddRules("release/1.0", ghtest.RequireChecks(ghtest.RequiredCheck{Name: "reviewgate", App: 1}))
	required, err := w.client.Required(t.Context(), got.Target, got.DefaultBranch)
	w.must(err)
	if len(required.Checks) != 1 {
		t.Errorf("required %+v", required)
	}
	w.hub.Suspend("acme")
	if got, err := w.client.Find(t.Context(), "acme", "store"); err != nil || !got.Suspended {
		t.Errorf("suspended: %+v, %v", got, err)
	}
	_, err = w.client.Find(t.Context(), "acme", "none")
	wantHostError(t, err, ports.HostNotFound)
}
