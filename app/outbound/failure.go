package outbound

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// maxRetryAfter limits how long a receiver may ask to wait.
const maxRetryAfter = time.Hour

// Error says why a request got no usable answer. Its text quotes nothing that the receiver sent, and
// nothing of the receiver's URL except a host's address.
type Error struct {
	text      string
	temporary bool
	after     time.Duration
}

func (e *Error) Error() string { return e.text }

// Temporary reports whether the same request may succeed later: after trouble with the connection,
// a timeout, or the status 408, 425, 429 or 5xx.
func (e *Error) Temporary() bool { return e.temporary }

// RetryAfter is how long the receiver asked us to wait with the status 429 or 503, at most an hour. It
// is 0 if the receiver did not ask.
func (e *Error) RetryAfter() time.Duration { return e.after }

// refused returns an error that another try can't fix.
func refused(format string, args ...any) *Error {
	return &Error{text: fmt.Sprintf(format, args...)}
}

// passing returns an error that another try may fix.
func passing(format string, args ...any) *Error {
	return &Error{text: fmt.Sprintf(format, args...), temporary: true}
}

// statusError returns the error for an answer that is not 2xx, or nil.
func statusError(resp *http.Response, now time.Time) error {
	s := resp.StatusCode
	switch {
	case s >= 200 && s < 300:
		return nil
	case s >= 300 && s < 400 && resp.Header.Get("Location") != "":
		return refused("redirects to another address, which is not followed")
	}
	e := refused("answered %d", s)
	switch {
	case s == http.StatusTooManyRequests, s == http.StatusServiceUnavailable:
		e.temporary, e.after = true, retryAfter(resp.Header, now)
	case s == http.StatusRequestTimeout, s == http.StatusTooEarly, s >= 500:
		e.temporary = true
	}
	return e
}

// retryAfter reads both of HTTP's forms: seconds, or a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if s, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Duration(min(max(s, 0), int64(maxRetryAfter/time.Second))) * time.Second
	}
	if t, err := http.ParseTime(text); err == nil {
		return min(max(t.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

// dialError says why there is no connection.
func dialError(err error, limit time.Duration) *Error {
	var name *net.DNSError
	var network net.Error
	var code syscall.Errno
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return passing("the name does not resolve")
	case errors.As(err, &name):
		return passing("the name could not be looked up")
	case errors.As(err, &network) && network.Timeout():
		return passing("no connection within %s", seconds(limit))
	case errors.As(err, &code):
		return passing("no connection: %s", code.Error())
	}
	return passing("no connection")
}

// handshakeError says why the TLS handshake failed.
func handshakeError(err error, limit time.Duration) *Error {
	var network net.Error
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &certificate):
		return passing("%s", certificateFault(certificate.Err))
	case errors.As(err, &network) && network.Timeout():
		return passing("no connection within %s", seconds(limit))
	case errors.As(err, new(tls.RecordHeaderError)):
		return passing("does not speak TLS")
	case brokeOff(err):
		return passing("the connection broke off")
	}
	return passing("the TLS handshake failed")
}

// certificateFault names the usual faults. It quotes nothing from the certificate, which the receiver chose.
func certificateFault(err error) string {
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, new(x509.HostnameError)):
		return "the certificate is for another name"
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return "the certificate is from an authority that this server does not trust"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate has expired, or is not valid yet"
	}
	return "the certificate is not valid"
}

// exchangeError says why a connection gave no answer.
func exchangeError(err error) *Error {
	switch {
	case strings.Contains(err.Error(), "server response headers exceeded"): // net/http has no type for it
		return refused("sent more than %d KiB of headers", maxHeaders>>10)
	case brokeOff(err):
		return passing("the connection broke off")
	}
	return passing("the answer is not valid HTTP")
}

// brokeOff reports whether an error is the end of a connection. TLS alerts are *net.OpErrors, too.
func brokeOff(err error) bool {
	var op *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &op) && (op.Op == "read" || op.Op == "write")
}

func seconds(d time.Duration) string { return fmt.Sprintf("%g s", d.Seconds()) }
