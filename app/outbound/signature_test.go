package outbound

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

const docsSignature = "sha256=f7ceb26b78a26f8bda2639953bad7147986dea4da2adbdc06bcd03f83a433ad1"

var (
	docsSecret = []byte("a secret of the docs")
	docsBody   = []byte(`{"type":"review_result"}`)
	docsTime   = time.Unix(1760000000, 0)
)

// OpenSSL computed the signature of the package's documentation.
func TestSignatureOfTheDocs(t *testing.T) {
	t.Parallel()
	h := Sign(docsSecret, docsTime.Add(999*time.Millisecond), docsBody)
	if h.Get(TimestampHeader) != "1760000000" || h.Get(SignatureHeader) != docsSignature || len(h) != 2 {
		t.Errorf("signed as %v", h)
	}
	if err := Verify(docsSecret, h, docsBody, docsTime); err != nil {
		t.Error(err)
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	hexDigits := strings.TrimPrefix(docsSignature, "sha256=")
	cases := map[string]struct {
		change func(h http.Header)
		body   string
		secret string
		later  time.Duration
		want   error
	}{
		"as signed":                 {},
		"5 minutes later":           {later: 5 * time.Minute},
		"5 minutes earlier":         {later: -5 * time.Minute},
		"more than 5 minutes later": {later: 5*time.Minute + 1, want: ErrSkewed},
		"more than 5 earlier":       {later: -5*time.Minute - 1, want: ErrSkewed},
		"years later":               {later: 290 * 365 * 24 * time.Hour, want: ErrSkewed},
		"another body":              {body: `{"type":"review_result"} `, want: ErrWrong},
		"another secret":            {secret: "a secret of the docs.", want: ErrWrong},
		"no secret":                 {secret: " ", want: ErrSecret},
		"another time":              {change: func(h http.Header) { h.Set(TimestampHeader, "1760000001") }, want: ErrWrong},
		"another time, old":         {change: func(h http.Header) { h.Set(TimestampHeader, "1") }, want: ErrWrong},
		"no timestamp":              {change: func(h http.Header) { h.Del(TimestampHeader) }, want: ErrMissing},
		"no signature":              {change: func(h http.Header) { h.Del(SignatureHeader) }, want: ErrMissing},
		"no headers":                {change: func(h http.Header) { clear(h) }, want: ErrMissing},
		"two timestamps":            {change: func(h http.Header) { h.Add(TimestampHeader, "1760000000") }, want: ErrMalformed},
		"two signatures":            {change: func(h http.Header) { h.Add(SignatureHeader, docsSignature) }, want: ErrMalformed},
		"joined signatures":         {change: func(h http.Header) { h.Set(SignatureHeader, docsSignature+", "+docsSignature) }, want: ErrMalformed},
		"empty signature":           {change: func(h http.Header) { h.Set(SignatureHeader, "") }, want: ErrMalformed},
		"no prefix":                 {change: func(h http.Header) { h.Set(SignatureHeader, hexDigits) }, want: ErrMalformed},
		"another prefix":            {change: func(h http.Header) { h.Set(SignatureHeader, "sha1="+hexDigits) }, want: ErrMalformed},
		"upper-case digits":         {change: func(h http.Header) { h.Set(SignatureHeader, "sha256="+strings.ToUpper(hexDigits)) }, want: ErrMalformed},
		"upper-case prefix":         {change: func(h http.Header) { h.Set(SignatureHeader, "SHA256="+hexDigits) }, want: ErrMalformed},
		"no digits":                 {change: func(h http.Header) { h.Set(SignatureHeader, "sha256="+strings.Repeat("x", 64)) }, want: ErrMalformed},
		"half a signature":          {change: func(h http.Header) { h.Set(SignatureHeader, docsSignature[:39]) }, want: ErrMalformed},
		"space after":               {change: func(h http.Header) { h.Set(SignatureHeader, docsSignature+" ") }, want: ErrMalformed},
	}
	for _, text := range []string{"", "0", "01760000000", "+1760000000", "-1760000000", " 1760000000", "1760000000.0", "1.76e9", "0x1", "1_0", "١", "1760000000000", "99999999999999999999"} {
		c := cases["as signed"]
		c.change, c.want = func(h http.Header) { h.Set(TimestampHeader, text) }, ErrMalformed
		cases["timestamp "+text] = c
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, body, secret := Sign(docsSecret, docsTime, docsBody), docsBody, docsSecret
			if c.change != nil {
				c.change(h)
			}
			if c.body != "" {
				body = []byte(c.body)
			}
			if c.secret != "" {
				secret = []byte(c.secret)
			}
			if err := Verify(secret, h, body, docsTime.Add(c.later)); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// A signature is not valid for the same bytes with the timestamp and the body divided elsewhere.
func TestTimestampIsApartFromTheBody(t *testing.T) {
	t.Parallel()
	h := Sign(docsSecret, time.Unix(176, 0), []byte("0000000.x"))
	h.Set(TimestampHeader, "1760000000")
	if err := Verify(docsSecret, h, []byte("x"), docsTime); !errors.Is(err, ErrWrong) {
		t.Error(err)
	}
}

// Whatever the headers are, Verify accepts only what Sign writes, and only in time.
func FuzzVerify(f *testing.F) {
	f.Add("1760000000", docsSignature, docsBody, int64(0))
	f.Add("1760000000", docsSignature, []byte("{}"), int64(300))
	f.Add("01760000000", strings.ToUpper(docsSignature), docsBody, int64(-301))
	f.Add("", "sha256=", []byte{}, int64(1)<<62)
	f.Fuzz(func(t *testing.T, timestamp, signature string, body []byte, later int64) {
		now := docsTime.Add(time.Duration(later) * time.Second)
		sent := http.Header{TimestampHeader: {timestamp}, SignatureHeader: {signature}}
		err := Verify(docsSecret, sent, body, now)
		at, ok := parseTimestamp(timestamp)
		if !ok {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("timestamp %q: %v", timestamp, err)
			}
			return
		}
		own := Sign(docsSecret, at, body)
		if own.Get(TimestampHeader) != timestamp {
			t.Fatalf("the time of %q is also written %q", timestamp, own.Get(TimestampHeader))
		}
		inTime := now.Sub(at) <= Tolerance && at.Sub(now) <= Tolerance
		if same := slices.Equal(own[SignatureHeader], sent[SignatureHeader]); (err == nil) != (same && inTime) {
			t.Fatalf("the same signature: %v, in time: %v, but %v", same, inTime, err)
		}
	})
}
