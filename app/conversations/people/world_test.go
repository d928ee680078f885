package people

import (
	"testing"

	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/app/ghtest"
	"github.com/reviewgate/reviewgate/app/llm/sdk"
)

func TestMain(m *testing.M) {
	apptest.Dial = sdk.New
	apptest.Main(m)
}

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
