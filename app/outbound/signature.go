package outbound

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of signed requests.
const (
	TimestampHeader = "X-Reviewgate-Timestamp"     // seconds since 1970, in decimal digits
	SignatureHeader = "X-Reviewgate-Signature-256" // sha256= and 64 lower-case hexadecimal digits
)

const (
	// Tolerance is how far the time of a signature may be from ours, in either direction.
	Tolerance = 5 * time.Minute
	// MinSecret is the minimum length of a secret, in characters.
	MinSecret = 16

	signaturePrefix = "sha256="
	// maxDigits is the maximum length of a timestamp. Twelve digits last for 30,000 years.
	maxDigits = 12
)

// These are the errors of Verify.
var (
	ErrMissing   = errors.New("the request is not signed: it needs the headers " + TimestampHeader + " and " + SignatureHeader)
	ErrMalformed = errors.New("the signature is malformed: the request needs one " + TimestampHeader +
		" with seconds since 1970 and one " + SignatureHeader + " with sha256= and 64 lower-case hexadecimal digits")
	ErrSkewed = errors.New("the signature's time is more than 5 minutes from the server's")
	ErrWrong  = errors.New("the signature is wrong: it must be the HMAC-SHA256 of the timestamp, a dot and the body, with the shared secret")
	// ErrSecret means that the secret is shorter than MinSecret. The request may be correct.
	ErrSecret = errors.New("the secret is too short to verify signatures")
)

// Sign returns the two headers that sign a body at a time. The time is truncated to the second.
func Sign(secret []byte, at time.Time, body []byte) http.Header {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	h := http.Header{}
	h.Set(TimestampHeader, timestamp)
	h.Set(SignatureHeader, signaturePrefix+hex.EncodeToString(sum(secret, timestamp, body)))
	return h
}

// Verify checks the signature of a request that arrived at now. Neither header may occur twice. A
// signature can be written in only one way, so callers recognise a repeated one by its header. The error
// is ErrMissing, ErrMalformed, ErrWrong, ErrSkewed or ErrSecret.
func Verify(secret []byte, header http.Header, body []byte, now time.Time) error {
	if len(secret) < MinSecret {
		return ErrSecret // anyone can sign with an empty secret
	}
	timestamps, signatures := header.Values(TimestampHeader), header.Values(SignatureHeader)
	if len(timestamps) == 0 || len(signatures) == 0 {
		return ErrMissing
	}
	if len(timestamps) > 1 || len(signatures) > 1 {
		return ErrMalformed
	}
	at, ok := parseTimestamp(timestamps[0])
	if !ok {
		return ErrMalformed
	}
	want, ok := parseSignature(signatures[0])
	if !ok {
		return ErrMalformed
	}
	if !hmac.Equal(sum(secret, timestamps[0], body), want) {
		return ErrWrong
	}
	if now.Sub(at).Abs() > Tolerance {
		return ErrSkewed
	}
	return nil
}

func sum(secret []byte, timestamp string, body []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return mac.Sum(nil)
}

func parseTimestamp(text string) (time.Time, bool) {
	if text == "" || len(text) > maxDigits || text[0] == '0' || strings.Trim(text, "0123456789") != "" {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(seconds, 0), err == nil
}

func parseSignature(text string) ([]byte, bool) {
	digits, ok := strings.CutPrefix(text, signaturePrefix)
	if !ok || len(digits) != hex.EncodedLen(sha256.Size) || digits != strings.ToLower(digits) {
		return nil, false
	}
	want, err := hex.DecodeString(digits)
	return want, err == nil
}
