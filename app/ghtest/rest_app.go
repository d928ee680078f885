package ghtest

import (
	"maps"
	"net/http"
	"slices"
)

func getApp(c *call) *Response {
	return c.locked(func() *Response {
		return ok(c.s.render.app("").with(object{"installations_count": len(c.s.state.installations)}))
	})
}

func listInstallations(c *call) *Response {
	return c.locked(func() *Response { return listed(c, c.s.state.installations, c.s.render.installation) })
}

// installationByID finds an installation. The lock must be held.
func (st *state) installationByID(id int64) *installation {
	return found(st.installations, func(i *installation) bool { return i.id == id })
}

func getInstallation(c *call) *Response {
	return c.locked(func() *Response {
		i := c.s.state.installationByID(c.number("installation_id"))
		if i == nil {
			return notFound()
		}
		return ok(c.s.render.installation(i))
	})
}

func getRepoInstallation(c *call) *Response {
	return c.locked(func() *Response {
		r, moved := c.s.state.find(c.params["owner"], c.params["repo"])
		if r == nil || c.s.state.installationOf(r) == nil {
			return notFound()
		}
		if moved {
			return c.redirect(r)
		}
		return ok(c.s.render.installation(c.s.state.installationOf(r)))
	})
}

// createToken gives out an installation token, with fewer repositories and permissions if the
// request asks for that.
func createToken(c *call) *Response {
	var ask struct {
		Repositories  []string       `json:"repositories"`
		RepositoryIDs []int64        `json:"repository_ids"`
		Permissions   map[string]any `json:"permissions"`
	}
	if err := c.into(&ask); err != nil {
		return refuse(http.StatusBadRequest, "Problems parsing JSON")
	}
	s := c.s
	return c.locked(func() *Response {
		i := s.state.installationByID(c.number("installation_id"))
		if i == nil {
			return notFound()
		}
		if !i.suspendedAt.IsZero() {
			return refuse(http.StatusForbidden, "This installation has been suspended")
		}
		permissions, granted := narrow(i.permissions, ask.Permissions)
		if !granted {
			return refuse(http.StatusUnprocessableEntity, "The permissions requested are not granted to this installation.")
		}
		repos, all := s.state.reposOf(i), len(ask.Repositories)+len(ask.RepositoryIDs) == 0
		if !all {
			asked := func(r *Repo) bool {
				return slices.Contains(ask.RepositoryIDs, r.id) || slices.ContainsFunc(ask.Repositories, func(n string) bool { return fold(n) == fold(r.name) })
			}
			repos = slices.DeleteFunc(repos, func(r *Repo) bool { return !asked(r) })
			if len(repos) != len(ask.Repositories)+len(ask.RepositoryIDs) {
				return refuse(http.StatusUnprocessableEntity, "There is at least one repository that does not exist or is not accessible to the parent installation.")
			}
		}
		var ids []int64
		var rendered []any
		for _, r := range repos {
			ids, rendered = append(ids, r.id), append(rendered, s.render.repo(r))
		}
		if all {
			ids = nil
		}
		t := s.newToken(i, permissions, ids)
		body := object{"token": t.text, "expires_at": stamp(t.expiresAt), "permissions": permissions, "repository_selection": "selected"}
		if !all {
			body["repositories"] = rendered
		}
		return answer(http.StatusCreated, body)
	})
}

// reposOf lists the repositories of an installation, by name. The lock must be
// held.
func (st *state) reposOf(i *installation) []*Repo {
	var repos []*Repo
	for _, name := range slices.Sorted(maps.Keys(st.repos)) {
		if r := st.repos[name]; r.installed && r.owner == i.account {
			repos = append(repos, r)
		}
	}
	return repos
}

func listRepos(c *call) *Response {
	return c.locked(func() *Response {
		repos := slices.DeleteFunc(c.s.state.reposOf(c.caller.installation), func(r *Repo) bool { return !c.caller.covers(r) })
		rendered := slicePage(c.page(), repos, func(r *Repo) object { return c.s.render.repo(r).(object) })
		return c.linked(ok(object{"total_count": len(repos), "repository_selection": "selected", "repositories": rendered}), len(repos))
	})
}

func getRateLimit(c *call) *Response {
	return c.locked(func() *Response {
		r := c.s.limiter.rateOf(c.caller)
		full := func(limit, used int) object {
			return object{"limit": limit, "used": used, "remaining": limit - used, "reset": r.reset.Unix()}
		}
		core := full(r.limit, r.used)
		resources := object{"core": core}
		// Those that are not counted here are always full, with GitHub's limits.
		for name, limit := range map[string]int{
			"graphql": 5000, "search": 30, "code_search": 10, "source_import": 100, "integration_manifest": 5000, "actions_runner_registration": 10000,
			"scim": 15000, "dependency_snapshots": 100, "dependency_sbom": 100, "code_scanning_autofix": 10, "copilot_usage_records": 10,
		} {
			resources[name] = full(limit, 0)
		}
		return ok(object{"resources": resources, "rate": core})
	})
}

func getUser(c *call) *Response {
	return c.locked(func() *Response {
		a := c.s.state.accounts[fold(c.params["username"])]
		if a == nil {
			return notFound()
		}
		return ok(c.s.render.account(a).(object).with(object{
			"name": a.login, "company": nil, "blog": "", "location": nil, "email": nil, "hireable": nil, "bio": nil,
			"user_view_type": "public", "public_repos": 0, "public_gists": 0, "followers": 0, "following": 0, "created_at": stamp(commitsBegin), "updated_at": stamp(commitsBegin),
		}))
	})
}
