package gh

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// pullUnless answers with a pull request, unless the token is the refused one.
func pullUnless(refused *string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "token "+*refused {
			send(w, 401, map[string]any{"message": "Bad credentials"})
			return
		}
		send(w, 200, openPull)
	}
}

// One process requests a token, and the next process uses it.
func TestTokensArePassedOn(t *testing.T) {
	var with []string
	s := newStub(t, func(w http.ResponseWriter, r *http.Request) {
		with = append(with, r.Header.Get("Authorization"))
		send(w, 200, openPull)
	})
	parent, child := s.client(t, nil), s.client(t, nil)
	for range 2 {
		tokens := parent.Tokens(t.Context(), pullTarget)
		if len(tokens) != 1 || tokens[0].Token != "token-1" {
			t.Fatalf("passed on %+v", tokens)
		}
		child.Take(tokens)
		if _, err := child.Pull(t.Context(), pullTarget); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := parent.Pull(t.Context(), pullTarget); err != nil {
		t.Fatal(err)
	}
	if want := []string{`{"repository_ids":[1001]}`}; !slices.Equal(s.tokens, want) {
		t.Errorf("token requests %q, want %q", s.tokens, want)
	}
	if want := []string{"token token-1", "token token-1", "token token-1"}; !slices.Equal(with, want) {
		t.Errorf("calls with %q, want %q", with, want)
	}
}

// A bad token from the previous process fails no call, because the client requests a new one.
func TestBadTokenFromThePreviousProcess(t *testing.T) {
	for name, token := range map[string]Token{
		"revoked":               {Key: "7/1001", Token: "bad", Expires: time.Now().Add(time.Hour)},
		"about to expire":       {Key: "7/1001", Token: "bad", Expires: time.Now().Add(tokenMargin / 2)},
		"without an expiry":     {Key: "7/1001", Token: "bad"},
		"of another repository": {Key: "7/1002", Token: "bad", Expires: time.Now().Add(time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			refused := "bad"
			s := newStub(t, pullUnless(&refused))
			c := s.client(t, nil)
			c.Take([]Token{token})
			if _, err := c.Pull(t.Context(), pullTarget); err != nil || len(s.tokens) != 1 {
				t.Errorf("%v after %d requests for a token, want 1", err, len(s.tokens))
			}
		})
	}
}

// A token that is passed on twice and refused in between is not tried again. A call has one
// more attempt, which uses a new token.
func TestRefusedTokenIsNotTriedAgain(t *testing.T) {
	refused := ""
	s := newStub(t, pullUnless(&refused))
	c := s.client(t, nil)
	for i := range 3 {
		if i > 0 {
			refused = "old"
		}
		c.Take([]Token{{Key: "7/1001", Token: "old", Expires: time.Now().Add(time.Hour)}})
		if _, err := c.Pull(t.Context(), pullTarget); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.tokens) != 1 {
		t.Errorf("%d requests for a token, want 1", len(s.tokens))
	}
}

// After permissions may have changed, a token from before is not used.
func TestAccessUsesNoOldToken(t *testing.T) {
	var with []string
	s := newStub(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/installation") {
			send(w, 200, map[string]any{"id": 7, "permissions": map[string]string{"checks": "write"}})
			return
		}
		with = append(with, r.Header.Get("Authorization"))
		send(w, 200, map[string]any{"id": 1001, "name": "shop", "full_name": "acme/shop", "default_branch": "main", "owner": map[string]any{"login": "acme"}})
	})
	c := s.client(t, nil)
	c.Take([]Token{{Key: "7/1001", Token: "old", Expires: time.Now().Add(time.Hour)}})
	if _, err := c.Access(t.Context(), pullTarget); err != nil {
		t.Fatal(err)
	}
	if want := []string{"token token-1"}; !slices.Equal(with, want) {
		t.Errorf("asked with %q, want %q", with, want)
	}
}

// A token that GitHub no longer accepts is not passed on.
func TestRefusedTokenIsNotPassedOn(t *testing.T) {
	refused := ""
	s := newStub(t, pullUnless(&refused))
	c := s.client(t, nil)
	for i := range 2 {
		if i > 0 {
			refused = "token-1"
		}
		if _, err := c.Pull(t.Context(), pullTarget); err != nil {
			t.Fatal(err)
		}
		if got, want := c.Tokens(t.Context(), pullTarget), fmt.Sprint("token-", i+1); len(got) != 1 || got[0].Token != want {
			t.Errorf("passed on %+v, want %s", got, want)
		}
	}
}
