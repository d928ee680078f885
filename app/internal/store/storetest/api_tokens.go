package storetest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
)

// tokenFixture is a fixture with helpers for the tests of agents' tokens.
type tokenFixture struct{ *fixture }

// apiToken returns a token of an agent, for a repository.
func (f tokenFixture) apiToken(installation, repo int64, secret string) ports.APIToken {
	sum := sha256.Sum256([]byte(secret))
	return ports.APIToken{
		Hash: sum[:], Agent: "claude", CreatedAt: f.clock.Now(),
		Repository: ports.Target{Kind: ports.TargetPull, Installation: installation, RepoID: repo, Owner: "acme", Name: "shop"},
	}
}

// addToken stores a token and returns it as it is stored.
func (f tokenFixture) addToken(t *testing.T, a ports.APIToken) ports.APIToken {
	t.Helper()
	id, err := f.AddToken(f.ctx, a)
	if err != nil || id == 0 {
		t.Fatalf("AddToken = %d, %v", id, err)
	}
	a.ID = id
	return a
}

func (f tokenFixture) wantToken(t *testing.T, when string, want ports.APIToken) {
	t.Helper()
	got, err := f.TokenByHash(f.ctx, want.Hash)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%s: %v; the token (-want +got):\n%s", when, err, diff)
	}
}

func (f tokenFixture) tokenIDs(t *testing.T, repo int64) (ids []int64) {
	t.Helper()
	all, err := f.ListTokens(f.ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if repo == 0 || a.Repository.RepoID == repo {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

var apiTokenTests = with(func(f *fixture) tokenFixture { return tokenFixture{f} }, map[string]func(*testing.T, tokenFixture){
	"are found by their hashes until they are revoked, and then": func(t *testing.T, f tokenFixture) {
		one := f.apiToken(5, 77, "one")
		one.ExpiresAt = f.clock.Now().Add(aDay)
		one = f.addToken(t, one)
		two := f.addToken(t, f.apiToken(5, 77, "two"))
		other := f.addToken(t, f.apiToken(5, 78, "other"))
		f.wantToken(t, "added", one)
		f.wantToken(t, "added", two)
		for repo, want := range map[int64][]int64{77: {one.ID, two.ID}, 78: {other.ID}, 79: nil, 0: {one.ID, two.ID, other.ID}} {
			if diff := cmp.Diff(want, f.tokenIDs(t, repo)); diff != "" {
				t.Errorf("tokens of repository %d (-want +got):\n%s", repo, diff)
			}
		}
		f.clock.pass(2 * aDay)
		f.wantToken(t, "expired", one)
		if err := f.RevokeToken(f.ctx, two.ID); err != nil {
			t.Fatal(err)
		}
		two.RevokedAt = f.clock.Now()
		f.clock.pass(time.Minute)
		if err := f.RevokeToken(f.ctx, two.ID); err != nil {
			t.Fatal(err)
		}
		f.wantToken(t, "revoked twice", two)
		wantErr(t, "RevokeToken of an unknown token", f.RevokeToken(f.ctx, 999), ports.ErrNotFound)
		_, err := f.TokenByHash(f.ctx, f.apiToken(5, 77, "unknown").Hash)
		wantErr(t, "an unknown hash", err, ports.ErrNotFound)
		if _, err := f.AddToken(f.ctx, f.apiToken(5, 78, "one")); err == nil {
			t.Error("one hash was stored twice")
		}
	},
	"their use is noted by the hour": func(t *testing.T, f tokenFixture) {
		a := f.addToken(t, f.apiToken(5, 77, "one"))
		hour := f.clock.Now().Truncate(time.Hour)
		for _, used := range []struct{ at, want time.Duration }{{59 * time.Minute, 0}, {10 * time.Minute, 0}, {3*time.Hour + time.Second, 3 * time.Hour}, {2 * time.Hour, 3 * time.Hour}} {
			if err := f.UseToken(f.ctx, a.ID, hour.Add(used.at)); err != nil {
				t.Fatal(err)
			}
			a.UsedAt = hour.Add(used.want)
			f.wantToken(t, fmt.Sprint("used at ", used.at), a)
		}
		wantErr(t, "UseToken of an unknown token", f.UseToken(f.ctx, 999, hour), ports.ErrNotFound)
	},
	"a repository has a limited number of valid ones": func(t *testing.T, f tokenFixture) {
		const over = 20
		var added atomic.Int64
		var wg sync.WaitGroup
		for n := range 4 {
			wg.Go(func() {
				for i := range (ports.MaxAPITokens + over) / 4 {
					a := f.apiToken(5, 77, fmt.Sprint(n, " ", i))
					a.ExpiresAt = f.clock.Now().Add(aDay)
					_, err := f.AddToken(f.ctx, a)
					switch {
					case err == nil:
						added.Add(1)
					case !errors.Is(err, ports.ErrManyTokens):
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if added.Load() != ports.MaxAPITokens {
			t.Fatalf("%d tokens were added, want %d", added.Load(), ports.MaxAPITokens)
		}
		f.addToken(t, f.apiToken(5, 78, "another repository"))
		_, err := f.AddToken(f.ctx, f.apiToken(5, 77, "full"))
		wantErr(t, "one more", err, ports.ErrManyTokens)
		if err := f.RevokeToken(f.ctx, f.tokenIDs(t, 77)[0]); err != nil {
			t.Fatal(err)
		}
		f.addToken(t, f.apiToken(5, 77, "replaces a revoked one"))
		f.clock.pass(aDay)
		f.addToken(t, f.apiToken(5, 77, "replaces expired ones"))
	},
	"go with their repository": func(t *testing.T, f tokenFixture) {
		f.addToken(t, f.apiToken(5, 77, "one")) // nothing else is stored of the repository
		stays := f.addToken(t, f.apiToken(5, 78, "two"))
		f.forget(t, ports.Forget{Installation: 5, Repos: []int64{77}})
		if diff := cmp.Diff([]int64{stays.ID}, f.tokenIDs(t, 0)); diff != "" {
			t.Errorf("tokens (-want +got):\n%s", diff)
		}
	},
	"go with their installation": func(t *testing.T, f tokenFixture) {
		f.addToken(t, f.apiToken(5, 77, "one"))
		f.fill(t, of(5, 78, 1, "aaa"), 1)
		f.addToken(t, f.apiToken(5, 78, "two"))
		moved := f.addToken(t, f.apiToken(5, 79, "of a repository that belongs to another installation now"))
		f.accept(t, push("moved", of(6, 79, 1, "aaa")))
		other := f.addToken(t, f.apiToken(6, 80, "other"))
		f.forget(t, ports.Forget{Installation: 5})
		if diff := cmp.Diff([]int64{moved.ID, other.ID}, f.tokenIDs(t, 0)); diff != "" {
			t.Errorf("tokens (-want +got):\n%s", diff)
		}
		_, err := f.AddToken(f.ctx, f.apiToken(5, 77, "late"))
		wantErr(t, "AddToken for it", err, ports.ErrNotFound)
	},
})
