package ghtest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// token is an installation token.
type token struct {
	text         string
	installation *installation
	permissions  map[string]string
	repos        []int64 // nil for all of the installation's
	expiresAt    time.Time
}

// caller is the sender of a request: the App if installation is nil, otherwise one of its
// installations.
type caller struct {
	installation *installation
	token        *token
}

func (c caller) key() string {
	if c.installation == nil {
		return "app"
	}
	return "installation " + strconv.FormatInt(c.installation.id, 10)
}

func (c caller) String() string {
	if c.installation == nil {
		return "the App"
	}
	return "installation ID " + strconv.FormatInt(c.installation.id, 10)
}

// tokenLife is how long an installation token lasts.
const tokenLife = time.Hour

// authenticate returns the caller, or the reason why the caller is unknown.
func (s *Server) authenticate(kind authKind, r *http.Request) (caller, *Response) {
	header := r.Header.Get("Authorization")
	if header == "" {
		return caller{}, challenge(kind, "Requires authentication")
	}
	scheme, credential, _ := strings.Cut(header, " ")
	user, password, basic := r.BasicAuth()
	switch {
	case kind == asGit && basic && user == "x-access-token":
		credential = password
	case kind == asGit, !strings.EqualFold(scheme, "bearer") && !strings.EqualFold(scheme, "token"):
		return caller{}, challenge(kind, "Bad credentials")
	}
	if kind == asApp {
		if err := s.state.app.verify(credential, s.now()); err != nil {
			return caller{}, refuse(http.StatusUnauthorized, err.Error())
		}
		return caller{}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.state.tokens[credential]
	switch {
	case t == nil && strings.Count(credential, ".") == 2 && !strings.HasPrefix(credential, "ghs_"):
		return caller{}, refuse(http.StatusForbidden, "Resource not accessible by integration")
	case t == nil, !s.now().Before(t.expiresAt), !slices.Contains(s.state.installations, t.installation):
		return caller{}, refuse(http.StatusUnauthorized, "Bad credentials")
	case !t.installation.suspendedAt.IsZero():
		return caller{}, refuse(http.StatusForbidden, "This installation has been suspended")
	}
	return caller{installation: t.installation, token: t}, nil
}

// challenge asks for other credentials. Git only sends its own when it is asked.
func challenge(kind authKind, message string) *Response {
	resp := refuse(http.StatusUnauthorized, message)
	if kind == asGit {
		resp.Header.Set("WWW-Authenticate", `Basic realm="GitHub"`)
	}
	return resp
}

// errUndecodable is GitHub's own wording.
var errUndecodable = errors.New("A JSON web token could not be decoded") //nolint:staticcheck // capitalised as GitHub answers it

// verify checks an App's JWT like GitHub: signed with RS256 by the App's key, issued by
// the App, not in the future, and valid for at most ten minutes.
func (a *app) verify(text string, now time.Time) error {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return errUndecodable
	}
	var header struct {
		Alg string `json:"alg"`
	}
	var claims struct {
		Issuer    any   `json:"iss"`
		IssuedAt  int64 `json:"iat"`
		ExpiresAt int64 `json:"exp"`
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || decodePart(parts[0], &header) != nil || decodePart(parts[1], &claims) != nil || header.Alg != "RS256" {
		return errUndecodable
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if rsa.VerifyPKCS1v15(&a.key.PublicKey, crypto.SHA256, digest[:], signature) != nil {
		return errUndecodable
	}
	switch {
	case fmt.Sprint(claims.Issuer) != strconv.FormatInt(a.id, 10):
		return errors.New("'Issuer' claim ('iss') must be an Integer")
	case time.Unix(claims.IssuedAt, 0).After(now.Add(time.Minute)):
		return errors.New("'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued")
	case !time.Unix(claims.ExpiresAt, 0).After(now):
		return errors.New("'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires")
	case time.Unix(claims.ExpiresAt, 0).After(now.Add(10*time.Minute + 5*time.Second)):
		// A few seconds are allowed for clocks that differ.
		return errors.New("'Expiration time' claim ('exp') is too far in the future")
	}
	return nil
}

func decodePart(part string, v any) error {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	return dec.Decode(v)
}

// newToken creates an installation token. Its text has no fixed length, like GitHub's tokens
// since they became "ghs_APPID_JWT".
func (s *Server) newToken(i *installation, permissions map[string]string, repos []int64) *token {
	length := make([]byte, 1)
	_, _ = rand.Read(length) // never fails
	random := make([]byte, 120+int(length[0])%100)
	_, _ = rand.Read(random)
	encoded := base64.RawURLEncoding.EncodeToString(random)
	t := &token{
		text:         fmt.Sprintf("ghs_%d_%s.%s.%s", s.state.app.id, encoded[:36], encoded[36:90], encoded[90:]),
		installation: i, permissions: permissions, repos: repos, expiresAt: s.now().Add(tokenLife).Truncate(time.Second),
	}
	s.state.tokens[t.text] = t
	return t
}

// Token returns a token of an account's installation without an API call.
func (s *Server) Token(account string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.installation(account)
	return s.newToken(i, maps.Clone(i.permissions), nil).text
}

// ExpireTokens makes every installation token handed out so far invalid.
func (s *Server) ExpireTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.state.tokens)
}

// levels of a permission, least first.
var levels = []string{"", "read", "write", "admin"}

// allows reports whether permissions include "name:level". Write permission includes read
// permission, and every installation may read metadata.
func allows(permissions map[string]string, need string) bool {
	name, level, _ := strings.Cut(need, ":")
	return need == "metadata:read" || slices.Index(levels, permissions[name]) >= slices.Index(levels, level)
}

// permitted reports whether the caller has one of the permissions. Both the token and the
// installation's present permissions must include it.
func (c caller) permitted(needs []string) bool {
	if len(needs) == 0 {
		return true
	}
	return slices.ContainsFunc(needs, func(need string) bool {
		return allows(c.token.permissions, need) && allows(c.installation.permissions, need)
	})
}

// covers reports whether the caller's token is valid for a repository.
func (c caller) covers(r *Repo) bool {
	return r.installed && r.owner == c.installation.account && (c.token.repos == nil || slices.Contains(c.token.repos, r.id))
}

// narrow returns the permissions of a token that was requested with fewer of them.
func narrow(granted map[string]string, asked map[string]any) (map[string]string, bool) {
	if len(asked) == 0 {
		return maps.Clone(granted), true
	}
	narrowed := map[string]string{"metadata": "read"}
	for name, level := range asked {
		text, ok := level.(string)
		if !ok || !slices.Contains(levels[1:], text) || !allows(granted, name+":"+text) {
			return nil, false
		}
		narrowed[name] = text
	}
	return narrowed, true
}
