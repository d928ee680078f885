package outbound

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
)

func TestPatientReadsAfterTheFirstWrite(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*patient){
		"write": func(p *patient) { p.Write([]byte("ask")) },
		"close": func(p *patient) { p.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				p := newPatient(ours)
				done := false
				go func() {
					p.Read(make([]byte, 1))
					done = true
				}()
				go theirs.Write([]byte("x"))
				synctest.Wait()
				if done {
					t.Fatal("reads before the first write")
				}
				go theirs.Read(make([]byte, 3))
				begin(p)
				synctest.Wait()
				if !done {
					t.Error("never reads")
				}
				p.Close()
				theirs.Close()
			})
		})
	}
}

// A receiver that sends something first causes no log line, because nothing is read yet.
func TestConnectionsArePatient(t *testing.T) {
	t.Parallel()
	c, to := serve(t, func(http.ResponseWriter, *http.Request) {})
	u, err := url.Parse(to.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := c.transport(to, u)
	if err != nil {
		t.Fatal(err)
	}
	for name, dial := range map[string]func(context.Context, string, string) (net.Conn, error){
		"without TLS": transport.DialContext, "with TLS": transport.DialTLSContext,
	} {
		conn, err := dial(t.Context(), "tcp", u.Host)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := conn.(*patient); !ok {
			t.Errorf("%s: got a %T", name, conn)
		}
		conn.Close()
	}
}
