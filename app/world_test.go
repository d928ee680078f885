package app_test

import (
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
)

func TestMain(m *testing.M) { apptest.Main(m) }

// world is apptest's world with methods that only these tests need.
type world struct{ *apptest.World }

func start(t *testing.T) *world {
	t.Helper()
	return &world{apptest.Start(t)}
}

func startWith(t *testing.T, o ghtest.Options, change ...func(*apptest.World)) *world {
	t.Helper()
	return &world{apptest.StartWith(t, o, change...)}
}
