package outbound

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// A client that used a proxy from the environment would fail in every test with a host name.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		os.Setenv(name, "http://127.0.0.1:1")
	}
	goleak.VerifyTestMain(m)
}
