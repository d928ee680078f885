package app_test

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/reviewgate/reviewgate/app"
	"github.com/reviewgate/reviewgate/app/apptest"
	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// Connections that promise 25 MB each and then send nothing do not keep signed deliveries
// out.
func TestIdleConnectionsKeepNoDeliveryOut(t *testing.T) {
	t.Parallel()
	w := start(t)
	addr := w.App.Addr()
	for range sample.Size(40, 400) {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-GitHub-Event: ping\r\nX-GitHub-Delivery: idle\r\nX-Hub-Signature-256: sha256=%064x\r\nContent-Length: %d\r\n\r\n%s",
			app.HookPath, 1, 25<<20, strings.Repeat(" ", 100<<10))
	}
	begun := time.Now()
	accepted := 0
	sizes := []int{1 << 10, 40 << 10, 200 << 10, 5 << 20}
	for i, n := range sizes {
		body := `{"zen": "keep it"}` + strings.Repeat(" ", n)
		mac := hmac.New(sha256.New, []byte(apptest.Secret))
		mac.Write([]byte(body))
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nX-GitHub-Event: ping\r\nX-GitHub-Delivery: good-%d\r\nX-Hub-Signature-256: sha256=%s\r\nContent-Length: %d\r\n\r\n%s",
			app.HookPath, i, hex.EncodeToString(mac.Sum(nil)), len(body), body)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		c.Close()
		if resp.StatusCode/100 != 2 {
			t.Errorf("a delivery of %d bytes: %s", n, resp.Status)
			continue
		}
		accepted++
	}
	t.Logf("%d of %d accepted in %s", accepted, len(sizes), time.Since(begun).Round(time.Millisecond))
}
