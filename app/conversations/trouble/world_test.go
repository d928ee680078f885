package trouble

import (
	"testing"
	"time"

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

// until waits until a condition holds.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(apptest.Patience); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not true after %s", what, apptest.Patience)
		}
	}
}
