package needs

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Addr returns an address of this machine, with a port that nothing listens on, for a
// server that starts later, perhaps several times. The port is below those that
// systems give to connections, one of which might take it while the server is down.
func Addr(t testing.TB) string {
	t.Helper()
	const lowest, count = 20000, 10000
	var config net.ListenConfig
	for range 100 {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(lowest+rand.IntN(count)))
		if l, err := config.Listen(t.Context(), "tcp", addr); err == nil {
			l.Close()
			return addr
		}
	}
	t.Fatalf("100 ports from %d to %d are all taken", lowest, lowest+count-1)
	return ""
}
