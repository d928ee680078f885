package outbound

import (
	"context"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/reviewgate/reviewgate/config"
)

const (
	secret = "hush-hush-hush-hush"
	canary = "canary" // in queries and in everything that receivers send; no error may show it
)

// mustFail checks an *Error of this package: its text, whether trying again helps, and that it shows no
// secret.
func mustFail(t *testing.T, err error, want string, temporary bool) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want %q", err, want)
	}
	if err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if e.Temporary() != temporary {
		t.Errorf("%s: trying again may help: %v", err, e.Temporary())
	}
	if strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), secret) {
		t.Errorf("shows a secret: %s", err)
	}
	return e
}

// client makes a client that trusts the certificates.
func client(certificates ...*x509.Certificate) *Client {
	roots := x509.NewCertPool()
	for _, c := range certificates {
		roots.AddCert(c)
	}
	return New(Options{Version: "1.2.3", Roots: roots})
}

// receiver is a receiver on this machine.
func receiver(url string) config.Receiver {
	return config.Receiver{URL: url, SecretEnv: "REVIEWER_SECRET", AllowPrivate: []string{"127.0.0.1"}}
}

// serve starts a server with TLS, and returns a client that trusts it.
func serve(t *testing.T, h http.HandlerFunc) (*Client, config.Receiver) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = quiet
	s.StartTLS()
	t.Cleanup(s.Close)
	return client(s.Certificate()), receiver(s.URL + "/hook?token=" + canary)
}

// listen starts a server that answers with raw bytes instead of HTTP, without TLS.
func listen(t *testing.T, answer func(net.Conn)) config.Receiver {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer conn.Close()
				answer(conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		running.Wait()
	})
	return receiver("http://" + l.Addr().String() + "/?token=" + canary)
}

func post(t *testing.T, c *Client, to config.Receiver) (Response, error) {
	t.Helper()
	return c.Post(t.Context(), to, []byte(secret), "r-1", []byte(`{"say":"`+canary+`"}`))
}

// names is a DNS server in this process.
type names struct {
	mu      sync.Mutex
	answers map[string][][]netip.Addr // for the first look-up of a name, the second, and so on
	asked   map[string]int            // look-ups of IPv4 addresses
	broken  bool                      // every answer is SERVFAIL
}

// resolver makes a resolver that asks the server. The connection is not a net.PacketConn, so the resolver
// uses DNS's protocol for TCP.
func (n *names) resolver() *net.Resolver {
	n.asked = map[string]int{}
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go n.serve(theirs)
		return ours, nil
	}}
}

func (n *names) serve(conn net.Conn) {
	defer conn.Close()
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		question := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(conn, question); err != nil {
			return
		}
		answer := n.answer(question)
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil {
			return
		}
	}
}

func (n *names) answer(question []byte) []byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil {
		panic(err)
	}
	q := m.Questions[0]
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	name := strings.TrimSuffix(q.Name.String(), ".")
	turns := n.answers[name]
	switch {
	case n.broken:
		m.RCode = dnsmessage.RCodeServerFailure
	case turns == nil:
		m.RCode = dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypeA:
		for _, a := range turns[min(n.asked[name], len(turns)-1)] {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 0},
				Body:   &dnsmessage.AResource{A: a.As4()},
			})
		}
		n.asked[name]++
	}
	text, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return text
}

func addresses(texts ...string) []netip.Addr {
	var out []netip.Addr
	for _, text := range texts {
		out = append(out, netip.MustParseAddr(text))
	}
	return out
}

// quiet is for servers whose clients break off on purpose.
var quiet = log.New(io.Discard, "", 0)

// short is a limit that tests reach.
const short = 50 * time.Millisecond
