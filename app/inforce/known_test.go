package inforce

import (
	"context"
	"errors"
	"testing"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// forgetful is a store that fails to read the layer with one name, or the branch of the
// target with one key.
type forgetful struct {
	ports.Layers
	fails string
}

var errForgotten = errors.New("connection reset")

func (f forgetful) GoodLayer(_ context.Context, _ int64, layer string) (*ports.GoodLayer, error) {
	if layer == f.fails {
		return nil, errForgotten
	}
	return nil, nil
}

func (f forgetful) ConfigBranch(_ context.Context, key string) (string, error) {
	if key == f.fails {
		return "", errForgotten
	}
	return "", nil
}

func (forgetful) RepositoryNames(context.Context, int64) ([]string, error) { return nil, nil }

// If it can't be read whether a repository switched reviews off, nothing is posted. The error
// makes the job run again.
func TestUnreadableConfigIsNotGuessed(t *testing.T) {
	target := ports.Target{Kind: ports.TargetPull, Installation: 1, RepoID: 2, Owner: "acme", Name: "shop", Number: 3}
	branches, err := glob.Compile([]string{"release/*"})
	if err != nil {
		t.Fatal(err)
	}
	for _, fails := range []string{
		"", organisationKey(target.Installation, target.Owner).name, repositoryKey(target.RepoID, "").name, target.Key(),
	} {
		c := &Configs{Layers: forgetful{fails: fails}, Loader: config.NewLoader(1), branches: branches}
		var want error
		if fails != "" {
			want = errForgotten
		}
		if off, err := c.SwitchedOff(t.Context(), target); off || !errors.Is(err, want) {
			t.Errorf("%q: switched off: %t, %v", fails, off, err)
		}
		known, err := c.Known(t.Context(), target)
		if !errors.Is(err, want) || (known != nil) != (want == nil) {
			t.Errorf("%q: known config %v, %v", fails, known, err)
		}
	}
}
