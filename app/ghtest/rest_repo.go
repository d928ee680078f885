package ghtest

import (
	"net/http"
	"slices"
)

func getRepo(c *call) *Response {
	return c.locked(func() *Response {
		o := c.s.render.repo(c.repo).(object).with(object{"subscribers_count": 0, "network_count": 0})
		if c.repo.owner.kind == "Organization" {
			o["organization"] = c.s.render.account(c.repo.owner)
		}
		if c.repo.parent != nil {
			o["parent"], o["source"] = c.s.render.repo(c.repo.parent), c.s.render.repo(c.repo.parent)
		}
		return ok(o)
	})
}

// getPermission answers with both of GitHub's vocabularies: the older one, in which maintain
// is write and triage is read, and the newer one in role_name.
func getPermission(c *call) *Response {
	return c.locked(func() *Response {
		a := c.s.state.accounts[fold(c.params["username"])]
		if a == nil {
			return refuse(http.StatusNotFound, c.params["username"]+" is not a user")
		}
		role := c.repo.role(a)
		permission := role
		switch role {
		case "maintain":
			permission = "write"
		case "triage":
			permission = "read"
		}
		atLeast := func(least string) bool { return slices.Index(roles, role) >= slices.Index(roles, least) }
		user := c.s.render.account(a).(object).with(object{
			"role_name": role,
			"permissions": object{
				"pull": atLeast("read"), "triage": atLeast("triage"), "push": atLeast("write"), "maintain": atLeast("maintain"), "admin": atLeast("admin"),
			},
		})
		return ok(object{"permission": permission, "role_name": role, "user": user})
	})
}
