package ghtest_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

func TestAppJWT(t *testing.T) {
	gh := ghtest.Start(t, ghtest.Options{})
	c := newClient(t, gh)
	otherKey, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	set := func(claim string, value any) string {
		return signJWT(t, gh, jwt.SigningMethodRS256, func(m jwt.MapClaims) { m[claim] = value })
	}
	tests := map[string]struct {
		token, reason string
	}{
		"another key":    {signWith(t, otherKey, jwt.MapClaims{"iss": gh.AppID(), "exp": time.Now().Add(time.Minute).Unix()}), "could not be decoded"},
		"HMAC":           {signJWT(t, gh, jwt.SigningMethodHS256, nil), "could not be decoded"},
		"RS512":          {signJWT(t, gh, jwt.SigningMethodRS512, nil), "could not be decoded"},
		"no JWT":         {"ghs_guess", "could not be decoded"},
		"another App":    {set("iss", "99"), "'iss'"},
		"expired":        {set("exp", now.Add(-time.Second).Unix()), "'exp'"},
		"lives long":     {set("exp", now.Add(11*time.Minute).Unix()), "too far in the future"},
		"not yet":        {set("iat", now.Add(5*time.Minute).Unix()), "'iat'"},
		"without expiry": {signJWT(t, gh, jwt.SigningMethodRS256, func(m jwt.MapClaims) { delete(m, "exp") }), "'exp'"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, gh).withAuth(tt.token)
			c.refused(c.do("GET", "/app", nil), http.StatusUnauthorized, tt.reason)
		})
	}
	c.withAuth(set("iss", gh.AppID())).get("/app") // a number is accepted too
	c.auth = ""
	c.refused(c.do("GET", "/app", nil), http.StatusUnauthorized, "Requires authentication")
}

func signWith(t *testing.T, key *rsa.PrivateKey, claims jwt.MapClaims) string {
	t.Helper()
	text, err := jwt.NewWithClaims(jwt.SigningMethodRS256, claims).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestInstallationTokens(t *testing.T) {
	gh, repo, c := shop(t, ghtest.Options{})
	gh.Repo("acme/secret").Settings.SetPrivate(true)
	gh.Repo("other/public")
	gh.Repo("other/private").Settings.SetPrivate(true)
	app := newClient(t, gh)
	tokens := fmt.Sprintf("/app/installations/%d/access_tokens", gh.InstallationID("acme"))

	c.refused(c.withAuth("ghs_guess").do("GET", "/repos/acme/shop", nil), http.StatusUnauthorized, "Bad credentials")
	c.refused(app.do("GET", "/repos/acme/shop", nil), http.StatusForbidden, "not accessible by integration")
	c.refused(c.do("GET", "/app", nil), http.StatusUnauthorized, "could not be decoded")
	c.refused(app.do("POST", "/app/installations/1/access_tokens", nil), http.StatusNotFound, "Not Found")
	app.refused(app.do("POST", tokens, map[string]any{"repositories": []string{"none"}}), http.StatusUnprocessableEntity, "does not exist")
	app.refused(app.do("POST", tokens, map[string]any{"permissions": map[string]any{"contents": "write"}}), http.StatusUnprocessableEntity, "not granted")

	narrow := app.do("POST", tokens, map[string]any{"repository_ids": []int64{repo.ID()}, "permissions": map[string]any{"contents": "read"}})
	app.want(narrow, http.StatusCreated)
	n := c.withAuth(narrow.field("token").(string))
	n.get("/repos/acme/shop/contents/README.md")
	n.refused(n.do("GET", "/repos/acme/shop/pulls", nil), http.StatusForbidden, "not accessible by integration")
	n.refused(n.do("GET", "/repos/acme/secret", nil), http.StatusNotFound, "Not Found")
	if total := n.get("/installation/repositories").field("total_count"); total != 1.0 {
		t.Errorf("a token for one repository sees %v", total)
	}

	c.get("/repos/acme/secret")
	c.get("/repos/other/public")
	c.refused(c.do("GET", "/repos/other/private", nil), http.StatusNotFound, "Not Found")
	c.refused(c.do("POST", "/repos/other/public/issues/1/comments", map[string]any{"body": "hello"}), http.StatusForbidden, "not accessible by integration")

	repo.Settings.SetPrivate(true)
	repo.Settings.SetInstalled(false)
	c.refused(c.do("GET", "/repos/acme/shop", nil), http.StatusNotFound, "Not Found")
	repo.Settings.SetInstalled(true)
	gh.SetPermissions("acme", map[string]string{"metadata": "read"})
	c.get("/repos/acme/shop")
	c.refused(c.do("GET", "/repos/acme/shop/pulls", nil), http.StatusForbidden, "not accessible by integration")
	gh.Suspend("acme")
	c.refused(c.do("GET", "/repos/acme/shop", nil), http.StatusForbidden, "suspended")
	app.refused(app.do("POST", tokens, nil), http.StatusForbidden, "suspended")
	gh.Unsuspend("acme")
	c.get("/repos/acme/shop")
	gh.Uninstall("acme")
	c.refused(c.do("GET", "/repos/acme/shop", nil), http.StatusUnauthorized, "Bad credentials")
}

func TestTokensExpire(t *testing.T) {
	clock := newClock()
	gh, _, c := shop(t, ghtest.Options{Now: clock.now})
	c.get("/repos/acme/shop")
	clock.move(time.Hour)
	c.refused(c.do("GET", "/repos/acme/shop", nil), http.StatusUnauthorized, "Bad credentials")
	clock.move(-time.Hour)
	gh.ExpireTokens()
	c.refused(c.do("GET", "/repos/acme/shop", nil), http.StatusUnauthorized, "Bad credentials")
}

// TestPermissions: the old permission field hides maintain and triage. role_name and the
// user's permissions show them.
func TestPermissions(t *testing.T) {
	_, repo, c := shop(t, ghtest.Options{})
	tests := []struct{ role, permission, most string }{
		{"admin", "admin", "admin"}, {"maintain", "write", "maintain"}, {"write", "write", "push"}, {"triage", "read", "triage"}, {"read", "read", "pull"}, {"none", "none", ""},
	}
	order := []string{"pull", "triage", "push", "maintain", "admin"}
	for _, tt := range tests {
		repo.Grant("alice", tt.role)
		r := c.get("/repos/acme/shop/collaborators/Alice/permission")
		if r.field("permission") != tt.permission || r.field("role_name") != tt.role {
			t.Errorf("%s: %s", tt.role, r.raw)
		}
		has := tt.most != ""
		for _, p := range order {
			if r.field("user", "permissions", p) != has {
				t.Errorf("%s: permission %s is %v", tt.role, p, !has)
			}
			has = has && p != tt.most
		}
	}
	c.refused(c.do("GET", "/repos/acme/shop/collaborators/ghost/permission", nil), http.StatusNotFound, "is not a user")
	repo.OpenPR(ghtest.PR{Author: "stranger", Files: ghtest.Files{}})
	if p := c.get("/repos/acme/shop/collaborators/stranger/permission").field("permission"); p != "read" {
		t.Errorf("a stranger's permission on a public repository is %v", p)
	}
	repo.Settings.SetPrivate(true)
	if p := c.get("/repos/acme/shop/collaborators/stranger/permission").field("permission"); p != "none" {
		t.Errorf("a stranger's permission on a private repository is %v", p)
	}
}

// TestDefaultsAreTheManifests: the stand-in grants the permissions and sends the events of
// the App's manifest.
func TestDefaultsAreTheManifests(t *testing.T) {
	text, err := os.ReadFile("../../deploy/app-manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Permissions map[string]string `json:"default_permissions"`
		Events      []string          `json:"default_events"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(manifest.Permissions, ghtest.DefaultPermissions()); d != "" {
		t.Errorf("permissions (-manifest +default):\n%s", d)
	}
	if d := cmp.Diff(manifest.Events, ghtest.DefaultEvents()); d != "" {
		t.Errorf("events (-manifest +default):\n%s", d)
	}
}
