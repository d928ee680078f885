package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// special knows the addresses that are not public: those in IANA's special-purpose registries, and all
// of IPv6 outside of 2000::/3, such as IPv4-mapped addresses, NAT64, local, link-local and multicast
// addresses.
var special = ssrf.New()

// guard decides which addresses may be called.
type guard struct {
	secure  bool           // with TLS
	private []netip.Prefix // that may be called although they are not public
}

// newGuard reads a receiver's list of addresses and networks.
func newGuard(secure bool, allowPrivate []string) (guard, error) {
	g := guard{secure: secure}
	for _, text := range allowPrivate {
		p, err := netip.ParsePrefix(text)
		if a, single := netip.ParseAddr(text); single == nil && a.Zone() == "" {
			a = a.Unmap()
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			return guard{}, refused("allow_private has %q, which is neither an address nor a network such as 10.0.0.0/8", text)
		}
		g.private = append(g.private, p)
	}
	return g, nil
}

// check returns an *Error if an address must not be called, or nil.
func (g guard) check(a netip.Addr) error {
	if a.Zone() != "" {
		return refused("%s has a zone: such addresses are never called", a)
	}
	a = a.Unmap()
	for _, p := range g.private {
		if p.Contains(a) {
			return nil
		}
	}
	switch public := special.SafeAddr(a) == nil; {
	case !public && a.IsPrivate():
		return refused("%s is a private address: the server's config may list it in allow_private", a)
	case !public:
		return refused("%s is not a public address: the server's config may list it in allow_private", a)
	case !g.secure:
		return refused("http is allowed only for addresses in allow_private: use https")
	}
	return nil
}

// dialer connects to one receiver. It checks the address that the system is about to connect to. So it
// does not matter how a host was written, what its name resolved to, or whether it resolves to
// something else the next time.
type dialer struct {
	guard    guard
	resolver *net.Resolver // nil means the system's
	roots    *x509.CertPool
	limit    time.Duration // for all of connecting, with TLS
}

// dialPlain connects without TLS.
func (d dialer) dialPlain(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.limit)
	defer cancel()
	conn, err := d.connect(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return newPatient(conn), nil
}

// dialTLS connects with TLS.
func (d dialer) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, dialError(err, d.limit)
	}
	ctx, cancel := context.WithTimeout(ctx, d.limit)
	defer cancel()
	raw, err := d.connect(ctx, network, address)
	if err != nil {
		return nil, err
	}
	conn := tls.Client(raw, &tls.Config{ServerName: host, RootCAs: d.roots, MinVersion: tls.VersionTLS12})
	if err := conn.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, handshakeError(err, d.limit)
	}
	return newPatient(conn), nil
}

// connect tries the addresses of a host that the guard allows.
func (d dialer) connect(ctx context.Context, network, address string) (net.Conn, error) {
	var t tried
	system := net.Dialer{
		Resolver: d.resolver,
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			return t.note(d.guard, address)
		},
	}
	conn, err := system.DialContext(ctx, network, address)
	if err == nil {
		return conn, nil
	}
	if refusal := t.refusal(); refusal != nil {
		return nil, refusal
	}
	return nil, dialError(err, d.limit)
}

// tried records what became of the addresses of a host, which are tried at the same time.
type tried struct {
	mu      sync.Mutex
	passed  bool  // the guard allowed one
	refused error // the first refusal
}

func (t *tried) note(g guard, address string) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		err = errors.New("the address can't be checked")
	} else {
		err = g.check(to.Addr())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.passed = true
	} else if t.refused == nil {
		t.refused = err
	}
	return err
}

// refusal returns why no address could be tried, or nil if one was.
func (t *tried) refusal() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.passed {
		return nil
	}
	return t.refused
}
