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

// checkSecrets refuses what would make a signature worthless: anyone can sign
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

// parseSignature reads the one signature header that a delivery must have.
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
// secrets. Every secret is tried, and each compared in constant time, so that
// the time taken tells neither how near a guess came nor which secret fits.
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
