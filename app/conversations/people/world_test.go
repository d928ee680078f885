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

// world is apptest's world with methods that only these tests need.
type world struct {
	*apptest.World
	opened int // pull requests by client
}

func start(t *testing.T) *world {
	t.Helper()
	return &world{World: apptest.Start(t)}
}

func startWith(t *testing.T, o ghtest.Options, change ...func(*apptest.World)) *world {
	t.Helper()
	return &world{World: apptest.StartWith(t, o, change...)}
}
