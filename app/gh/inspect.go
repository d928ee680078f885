package gh

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
)

// The calls in this file serve operators who inspect an installation. Reviews don't use
// them.

// App is the App's registration on GitHub.
type App struct {
	ID          int64             `json:"id"`
	Slug        string            `json:"slug"`
	Page        string            `json:"html_url"`
	Permissions map[string]string `json:"permissions"` // names and levels
	Events      []string          `json:"events"`
}

func (a *App) whole() error { return wholeIf(a.ID > 0 && a.Permissions != nil) }

// App asks GitHub which App our credentials belong to.
func (c *api) App(ctx context.Context) (App, error) {
	var a App
	_, err := c.do(ctx, ports.Target{}, request{
		op: "read the App", scope: asApp, method: http.MethodGet, path: "/app",
	}, asJSON(&a))
	return a, err
}

// HookConfig is where and how GitHub sends the App's webhooks.
type HookConfig struct {
	URL         string // empty if GitHub sends none
	ContentType string // "json" or "form"
	Insecure    bool   // GitHub does not verify certificates
	HasSecret   bool
}

// hookAnswer is a webhook's configuration. insecure_ssl is a string or a number.
type hookAnswer struct {
	URL         string          `json:"url"`
	ContentType string          `json:"content_type"`
	InsecureSSL json.RawMessage `json:"insecure_ssl"`
	Secret      string          `json:"secret"` // masked
}

// HookConfig reads the configuration of the App's webhook.
func (c *api) HookConfig(ctx context.Context) (HookConfig, error) {
	var a hookAnswer
	_, err := c.do(ctx, ports.Target{}, request{
		op: "read the webhook's configuration", scope: asApp, method: http.MethodGet, path: "/app/hook/config",
	}, asJSON(&a))
	if isNotFound(err) {
		return HookConfig{}, nil
	}
	if err != nil {
		return HookConfig{}, err
	}
	return HookConfig{
		URL: a.URL, ContentType: a.ContentType, HasSecret: a.Secret != "",
		Insecure: strings.Trim(string(a.InsecureSSL), `"`) == "1",
	}, nil
}

// LastDeliveries lists the newest attempts in the App's delivery log, up to 100,
// newest first.
func (c *api) LastDeliveries(ctx context.Context) ([]ports.HookAttempt, error) {
	log, _, err := page[attempts](ctx, c, ports.Target{}, request{
		op: "read the App's delivery log", scope: asApp, method: http.MethodGet, path: "/app/hook/deliveries",
	}, 1)
	if err != nil {
		return nil, err
	}
	if err := log.whole(); err != nil {
		return nil, hostError("read the App's delivery log", err)
	}
	out := make([]ports.HookAttempt, len(log))
	for i, d := range log {
		out[i] = attempt(d)
	}
	return out, nil
}

// Grant is what an account has granted to the App.
type Grant struct {
	Installation int64
	Account      string
	Page         string // of the installation, where permissions are accepted
	Suspended    bool
	Permissions  map[string]string
	Events       []string
}

// grantList is a page of installations.
type grantList []struct {
	installationAnswer
	Page   string   `json:"html_url"`
	Events []string `json:"events"`
}

// Grants lists the grants of all accounts on which the App is installed, up to
// 10,000.
func (c *api) Grants(ctx context.Context) ([]Grant, error) {
	var out []Grant
	err := walkAll(ctx, c, ports.Target{}, request{
		op: "list the installations", scope: asApp, method: http.MethodGet, path: "/app/installations",
	}, maxWalk, func(page grantList) bool {
		for _, i := range page {
			out = append(out, Grant{
				Installation: i.ID, Account: i.Account.GetLogin(), Page: i.Page,
				Suspended: i.SuspendedAt != nil, Permissions: i.Permissions, Events: i.Events,
			})
		}
		return true
	})
	return out, err
}

// Repository is a repository that the App is installed on.
type Repository struct {
	ports.Target         // without a number
	DefaultBranch string // its name
	Archived      bool
	Suspended     bool // the installation is suspended: only its id is known
}

// Find looks up a repository by its name. If the App is not installed on it, the
// error is HostNotFound.
func (c *api) Find(ctx context.Context, owner, name string) (Repository, error) {
	t := ports.Target{Kind: ports.TargetPull, Owner: owner, Name: name}
	i, err := c.installationOf(ctx, t, "/repos/{owner}/{repo}/installation", owner, name)
	if err != nil {
		return Repository{}, err
	}
	t.Installation = i.ID
	if i.SuspendedAt != nil {
		return Repository{Target: t, Suspended: true}, nil
	}
	repo := new(repositoryAnswer)
	if _, err := c.do(ctx, t, request{
		op: "read the repository", scope: asInstallation, method: http.MethodGet,
		path: "/repos/{owner}/{repo}", args: []any{owner, name},
	}, asJSON(repo)); err != nil {
		return Repository{}, err
	}
	t.RepoID, t.Owner, t.Name = repo.GetID(), repo.GetOwner().GetLogin(), repo.GetName()
	return Repository{Target: t, DefaultBranch: repo.GetDefaultBranch(), Archived: repo.GetArchived()}, nil
}

// Required is what a branch requires before a merge into it.
type Required struct {
	Checks     []RequiredCheck
	MergeQueue bool
}

// RequiredCheck is a required check. App is the id of the App that must write it, or
// 0 if anybody may.
type RequiredCheck struct {
	Name string
	App  int64
	By   string // "ruleset" or "branch protection"
}

// rule is a rule of a ruleset. go-github's type fails on unknown types of rule.
type rule struct {
	Type       string          `json:"type"`
	Parameters json.RawMessage `json:"parameters"`
}

type statusParameters struct {
	Checks []struct {
		Context string `json:"context"`
		App     *int64 `json:"integration_id"`
	} `json:"required_status_checks"`
}

// branchAnswer is a branch with the public part of its protection.
type branchAnswer struct {
	Name       string `json:"name"`
	Protection struct {
		Required struct {
			Contexts []string `json:"contexts"`
			Checks   []struct {
				Context string `json:"context"`
				App     *int64 `json:"app_id"`
			} `json:"checks"`
		} `json:"required_status_checks"`
	} `json:"protection"`
}

func (b *branchAnswer) whole() error { return wholeIf(b.Name != "") }

// Required reads what a branch requires, by rulesets and by branch protection.
func (c *api) Required(ctx context.Context, repo ports.Target, branch string) (Required, error) {
	out, err := c.rules(ctx, repo, branch)
	if err != nil {
		return Required{}, err
	}
	var b branchAnswer
	if _, err := c.do(ctx, repo, request{
		op: "read the branch's protection", method: http.MethodGet,
		path: "/repos/{owner}/{repo}/branches/{branch}", args: []any{repo.Owner, repo.Name, branch},
	}, asJSON(&b)); err != nil {
		return Required{}, err
	}
	const by = "branch protection"
	required := b.Protection.Required
	for _, check := range required.Checks {
		out.add(check.Context, check.App, by)
	}
	if len(required.Checks) == 0 { // older servers list only contexts
		for _, name := range required.Contexts {
			out.add(name, nil, by)
		}
	}
	return out, nil
}

func (r *Required) add(name string, app *int64, by string) {
	check := RequiredCheck{Name: name, By: by}
	if app != nil && *app > 0 { // -1 means anybody
		check.App = *app
	}
	r.Checks = append(r.Checks, check)
}

// rules reads what rulesets require. Older servers have no rulesets.
func (c *api) rules(ctx context.Context, repo ports.Target, branch string) (Required, error) {
	const op = "read the branch's rules"
	var out Required
	var broken error
	err := walkAll(ctx, c, repo, request{
		op: op, method: http.MethodGet,
		path: "/repos/{owner}/{repo}/rules/branches/{branch}", args: []any{repo.Owner, repo.Name, branch},
	}, maxWalk, func(page []rule) bool {
		for _, r := range page {
			switch r.Type {
			case "merge_queue":
				out.MergeQueue = true
			case "required_status_checks":
				var p statusParameters
				if broken = json.Unmarshal(r.Parameters, &p); broken != nil {
					return false
				}
				for _, check := range p.Checks {
					out.add(check.Context, check.App, "ruleset")
				}
			}
		}
		return true
	})
	switch {
	case broken != nil:
		return Required{}, hostError(op, broken)
	case err != nil && !isNotFound(err):
		return Required{}, err
	}
	return out, nil
}
