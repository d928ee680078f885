package outbound

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"github.com/reviewgate/reviewgate/pipeline/sample"
)

// notPublic are networks without public addresses, each with the RFC that reserves it.
var notPublic = map[string]string{
	"0.0.0.0/8":          "RFC 791, this network, and the unspecified address",
	"10.0.0.0/8":         "RFC 1918, private",
	"100.64.0.0/10":      "RFC 6598, between carriers and their customers",
	"127.0.0.0/8":        "RFC 1122, loopback",
	"169.254.0.0/16":     "RFC 3927, link-local, and the metadata of clouds",
	"172.16.0.0/12":      "RFC 1918, private",
	"192.0.0.0/24":       "RFC 6890, protocol assignments",
	"192.0.2.0/24":       "RFC 5737, documentation",
	"192.88.99.0/24":     "RFC 7526, 6to4 relays",
	"192.168.0.0/16":     "RFC 1918, private",
	"198.18.0.0/15":      "RFC 2544, benchmarks",
	"198.51.100.0/24":    "RFC 5737, documentation",
	"203.0.113.0/24":     "RFC 5737, documentation",
	"224.0.0.0/4":        "RFC 1112, multicast",
	"240.0.0.0/4":        "RFC 1112, reserved, and broadcast",
	"::/128":             "RFC 4291, unspecified",
	"::1/128":            "RFC 4291, loopback",
	"::/96":              "RFC 4291, IPv4-compatible",
	"::ffff:0:0:0/96":    "RFC 2765, IPv4-translated",
	"64:ff9b::/96":       "RFC 6052, NAT64",
	"64:ff9b:1::/48":     "RFC 8215, local NAT64",
	"100::/64":           "RFC 6666, discard",
	"100:0:0:1::/64":     "RFC 9780, dummy",
	"2001::/32":          "RFC 4380, Teredo",
	"2001:2::/48":        "RFC 5180, benchmarks",
	"2001:10::/28":       "RFC 4843, ORCHID",
	"2001:20::/28":       "RFC 7343, ORCHIDv2",
	"2001:db8::/32":      "RFC 3849, documentation",
	"2002::/16":          "RFC 3056, 6to4",
	"3fff::/20":          "RFC 9637, documentation",
	"5f00::/16":          "RFC 9602, segment routing",
	"fc00::/7":           "RFC 4193, unique local",
	"fe80::/10":          "RFC 4291, link-local",
	"fec0::/10":          "RFC 3879, site-local",
	"ff00::/8":           "RFC 4291, multicast",
	"4000::/2":           "not assigned",
	"255.255.255.255/32": "RFC 919, broadcast",
}

// The first and the last address of each such network are refused, also as IPv4-mapped IPv6.
func TestNetworksThatAreNotPublic(t *testing.T) {
	t.Parallel()
	for text, why := range notPublic {
		p := netip.MustParsePrefix(text)
		for _, a := range []netip.Addr{p.Addr(), last(p)} {
			for _, form := range []netip.Addr{a, netip.AddrFrom16(a.As16())} {
				err := guard{secure: true}.check(form)
				word := "not a public"
				if a.IsPrivate() {
					word = "a private"
				}
				if err == nil {
					t.Errorf("%s passes: %s", form, why)
					continue
				}
				mustFail(t, err, a.String()+" is "+word+" address: the server's config may list it in allow_private", false)
			}
		}
	}
}

func last(p netip.Prefix) netip.Addr {
	bytes := p.Addr().AsSlice()
	for i := p.Bits(); i < p.Addr().BitLen(); i++ {
		bytes[i/8] |= 0x80 >> (i % 8)
	}
	a, _ := netip.AddrFromSlice(bytes)
	return a
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	const (
		public  = ""
		special = " is not a public address: the server's config may list it in allow_private"
		private = " is a private address: the server's config may list it in allow_private"
		zoned   = " has a zone: such addresses are never called"
	)
	for address, want := range map[string]string{
		"140.82.121.4:443":                   public,
		"8.8.8.8:1":                          public,
		"[2606:50c0:8000::154]:443":          public,
		"[2a00:1450:4001::200e]:8443":        public,
		"[::ffff:8.8.8.8]:443":               public,
		"1.0.0.0:443":                        public,
		"100.63.255.255:443":                 public,
		"100.128.0.0:443":                    public,
		"172.32.0.0:443":                     public,
		"[2003::1]:443":                      public,
		"169.254.169.254:80":                 "169.254.169.254" + special,
		"10.1.2.3:443":                       "10.1.2.3" + private,
		"[::ffff:10.1.2.3]:443":              "10.1.2.3" + private,
		"[::ffff:169.254.169.254]:443":       "169.254.169.254" + special,
		"[::a9fe:a9fe]:443":                  "::a9fe:a9fe" + special,
		"[64:ff9b::a9fe:a9fe]:443":           "64:ff9b::a9fe:a9fe" + special,
		"[64:ff9b::808:808]:443":             "64:ff9b::808:808" + special,
		"[64:ff9b:1::a00:1]:443":             "64:ff9b:1::a00:1" + special,
		"[2002:a9fe:a9fe::]:443":             "2002:a9fe:a9fe::" + special,
		"[2002:808:808::1]:443":              "2002:808:808::1" + special,
		"[2001:0:4136:e378:8000:63bf::]:443": "2001:0:4136:e378:8000:63bf::" + special,
		"[fd00:ec2::254]:80":                 "fd00:ec2::254" + private,
		"[::1]:443":                          "::1" + special,
		"[fe80::1%eth0]:443":                 "fe80::1%eth0" + zoned,
		"[2606:50c0:8000::154%1]:443":        "2606:50c0:8000::154%1" + zoned,
		"[::1%lo]:443":                       "::1%lo" + zoned,
		"0.0.0.0:443":                        "0.0.0.0" + special,
		"255.255.255.255:443":                "255.255.255.255" + special,
	} {
		var tr tried
		err := tr.note(guard{secure: true}, address)
		if want == public {
			if err != nil || tr.refusal() != nil {
				t.Errorf("%s: %v", address, err)
			}
			continue
		}
		mustFail(t, err, want, false)
		mustFail(t, tr.refusal(), want, false)
	}
	var tr tried
	if err := tr.note(guard{secure: true}, "example.com:443"); err == nil || tr.refusal() == nil {
		t.Error("a name passes as an address")
	}
}

// An address passes only if it is global unicast and outside of all networks above, or in allow_private.
func TestOnlyGlobalUnicastPasses(t *testing.T) {
	t.Parallel()
	var networks []netip.Prefix
	for text := range notPublic {
		networks = append(networks, netip.MustParsePrefix(text))
	}
	listed := netip.MustParsePrefix("10.20.0.0/16")
	open := guard{secure: true}
	allowing := guard{secure: true, private: []netip.Prefix{listed}}
	sample.Check(t, func(t *rapid.T) {
		a := anAddress(t, append(networks, listed))
		got := open.check(a) == nil
		plain := a.Unmap()
		if got && (!plain.IsGlobalUnicast() || plain.IsPrivate() || plain.Zone() != "") {
			t.Fatalf("%s passes", a)
		}
		for _, p := range networks {
			if got && p.Contains(plain) {
				t.Fatalf("%s of %s passes", a, p)
			}
		}
		in := listed.Contains(plain)
		if (allowing.check(a) == nil) != (got || in) {
			t.Fatalf("%s, which allow_private lists: %v, but %v", a, in, allowing.check(a))
		}
		if (guard{private: allowing.private}.check(a) == nil) != in {
			t.Fatalf("http to %s, which allow_private lists: %v", a, in)
		}
	})
}

// anAddress draws an address: any, or one in a network, maybe IPv4-mapped or with a zone.
func anAddress(t *rapid.T, networks []netip.Prefix) netip.Addr {
	size := rapid.SampledFrom([]int{4, 16}).Draw(t, "size")
	bytes := rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "bytes")
	if rapid.Bool().Draw(t, "special") {
		p := rapid.SampledFrom(networks).Draw(t, "network")
		base := p.Addr().AsSlice()
		for i := range min(p.Bits(), 8*len(bytes)) {
			mask := byte(0x80 >> (i % 8))
			bytes[i/8] = bytes[i/8]&^mask | base[i/8]&mask
		}
	}
	a, _ := netip.AddrFromSlice(bytes)
	switch rapid.SampledFrom([]string{"as is", "mapped", "zoned"}).Draw(t, "form") {
	case "mapped":
		a = netip.AddrFrom16(a.As16())
	case "zoned":
		a = a.WithZone("eth0") // IPv4 has none
	}
	return a
}

func TestAllowPrivate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		list    string
		address string
		allowed bool
	}{
		{"10.0.0.0/8", "10.255.0.1", true},
		{"10.0.0.0/8", "::ffff:10.255.0.1", true},
		{"10.9.8.7/8", "10.255.0.1", true},
		{"10.0.0.0/8", "11.0.0.1", false},
		{"10.0.0.1", "10.0.0.1", true},
		{"::ffff:10.0.0.1", "10.0.0.1", true},
		{"10.0.0.1", "10.0.0.2", false},
		{"127.0.0.1", "::1", false},
		{"0.0.0.0/0", "::1", false},
		{"0.0.0.0/0", "169.254.169.254", true},
		{"fd00::/8", "fd00::1", true},
		{"fe80::/10", "fe80::1%eth0", false},
		{"64:ff9b::/96", "64:ff9b::808:808", true},
	} {
		g, err := newGuard(false, []string{"192.168.77.0/24", c.list})
		if err != nil {
			t.Errorf("%s: %v", c.list, err)
			continue
		}
		if got := g.check(netip.MustParseAddr(c.address)) == nil; got != c.allowed {
			t.Errorf("%s in allow_private lets %s pass: %v", c.list, c.address, got)
		}
	}
	for _, list := range []string{"", "10", "10.0.0.0/33", "10.0.0.0/-1", "localhost", "fe80::1%eth0", "fe80::%eth0/10", "010.0.0.1", "0x7f000001", "10.0.0.0/8 "} {
		if _, err := newGuard(true, []string{list}); err == nil {
			t.Errorf("allow_private accepts %q", list)
		}
	}
	g, err := newGuard(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	mustFail(t, g.check(netip.MustParseAddr("8.8.8.8")), "http is allowed only for addresses in allow_private: use https", false)
	_, err = newGuard(true, []string{"ten"})
	mustFail(t, err, `allow_private has "ten", which is neither an address nor a network such as 10.0.0.0/8`, false)
}
