package api

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"net/http"
	"strings"
)

// The form of an API token: the prefix, 32 random bytes, and a checksum. The checksum reveals a
// mistyped token without a look into the database.
const (
	tokenPrefix = "rg_"
	randomBytes = 32
	tokenLength = len(tokenPrefix) + 43 + 6
)

// NewToken returns a new API token, and the hash that is stored for it.
func NewToken() (token string, hash []byte) {
	var b [randomBytes]byte
	rand.Read(b[:]) //nolint:errcheck // it never fails: it ends the program instead
	token = tokenPrefix + base64.RawURLEncoding.EncodeToString(b[:])
	token += checksum(token)
	sum := sha256.Sum256([]byte(token))
	return token, sum[:]
}

func checksum(s string) string {
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(s))))
}

// isToken reports whether a text has the form of an API token.
func isToken(s string) bool {
	return len(s) == tokenLength && strings.HasPrefix(s, tokenPrefix) && checksum(s[:tokenLength-6]) == s[tokenLength-6:]
}

// maxBearer bounds a token in a header, in bytes. GitHub's tokens have about 2,000.
const maxBearer = 16 << 10

// bearer returns the token in a request's Authorization header, or a refusal.
func bearer(h http.Header) (string, *Problem) {
	all := h.Values("Authorization")
	switch {
	case len(all) == 0:
		return "", unauthorized("The request has no token. Send the header \"Authorization: Bearer TOKEN\".")
	case len(all) > 1:
		return "", unauthorized("The request has more than one Authorization header. Send one.")
	case len(all[0]) > maxBearer:
		return "", unauthorized("The Authorization header has more than %d bytes. Check that it contains only a token.", maxBearer)
	}
	scheme, token, _ := strings.Cut(all[0], " ")
	token = strings.Trim(token, " ")
	if !strings.EqualFold(scheme, "Bearer") || !isToken68(token) {
		return "", unauthorized("The Authorization header is not \"Bearer TOKEN\". Check that the token was not cut.")
	}
	return token, nil
}

// isToken68 reports whether a text may be a token in the header; see RFC 9110, section 11.2.
func isToken68(s string) bool {
	body := strings.TrimRight(s, "=")
	return body != "" && !strings.ContainsFunc(body, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("-._~+/", r)
	})
}

// isJWT reports whether a token looks like one of GitHub Actions.
func isJWT(s string) bool { return strings.HasPrefix(s, "ey") && strings.Count(s, ".") == 2 }
