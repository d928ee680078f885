package pulls

import (
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
)

func TestMain(m *testing.M) { apptest.Main(m) }

// world is that of apptest, with what only these tests ask of it.
type world struct{ *apptest.World }

func start(t *testing.T) *world {
	t.Helper()
	return &world{apptest.Start(t)}
}

func startWith(t *testing.T, o ghtest.Options, change ...func(*apptest.World)) *world {
	t.Helper()
	return &world{apptest.StartWith(t, o, change...)}
}
