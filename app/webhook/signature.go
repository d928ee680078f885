package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

const (
	signatureHeader = "X-Hub-Signature-256"
	signaturePrefix = "sha256="
)

// checkSecrets refuses secrets that would make signatures worthless: anyone can sign
// with an empty secret.
func checkSecrets(secrets [][]byte) error {
	if len(secrets) == 0 {
		return errors.New("webhook: no secret is set; unsigned deliveries are never accepted")
	}
	for i, s := range secrets {
		if len(s) == 0 {
			return fmt.Errorf("webhook: secret %d of %d is empty; anyone could sign with it", i+1, len(secrets))
		}
	}
	return nil
}

// parseSignature reads the signature header. A delivery must have exactly one.
func parseSignature(values []string) ([]byte, bool) {
	if len(values) != 1 {
		return nil, false
	}
	digits, ok := strings.CutPrefix(values[0], signaturePrefix)
	if !ok || len(digits) != hex.EncodedLen(sha256.Size) {
		return nil, false
	}
	sum, err := hex.DecodeString(digits)
	return sum, err == nil
}

// signedWithAny reports whether want is the body's HMAC under one of the
// secrets. It tries every secret and compares in constant time, so that the time
// reveals neither how close a guess is nor which secret fits.
func signedWithAny(secrets [][]byte, body, want []byte) bool {
	good := false
	for _, s := range secrets {
		mac := hmac.New(sha256.New, s)
		mac.Write(body)
		if hmac.Equal(mac.Sum(nil), want) {
			good = true
		}
	}
	return good
}
