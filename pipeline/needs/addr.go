package needs

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// FreeAddr returns an address of this machine with a port that nothing listens on. It is for a
// server that starts later, perhaps several times. The port is usually below those that systems
// assign to connections, so that no connection takes it while the server is down. It returns no
// port twice in a process.
func FreeAddr(t testing.TB) string {
	t.Helper()
	const lowest, count = 20000, 10000
	var config net.ListenConfig
	for range 100 {
		port := lowest + rand.IntN(count)
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		if l, err := config.Listen(t.Context(), "tcp", addr); err == nil {
			l.Close()
			if _, twice := given.LoadOrStore(port, true); !twice {
				return addr
			}
		}
	}
	t.Fatalf("100 ports from %d to %d are all taken", lowest, lowest+count-1)
	return ""
}

var given sync.Map // ports that FreeAddr has returned
