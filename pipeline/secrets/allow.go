package secrets

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/scrypt"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// The config names an allowed value by its hash, so that it does not show the value. scrypt with
// these parameters takes about 40 ms and 16 MB, which makes it costly to guess a weak password.
// RFC 7914 describes scrypt. The parameters are those that its authors recommend for interactive
// use.
const (
	scryptCost, scryptBlocks, scryptLanes = 1 << 14, 8, 1

	saltBytes, hashBytes = 16, 32
)

// maxHashes bounds how often a review hashes a value: 100 hashes take about 4 s. Values after that
// stay findings.
const maxHashes = 100

// hashed is a "value" in the config.
type hashed struct{ salt, hash []byte }

var errHash = errors.New(`the value is not "scrypt:SALT:HASH"`)

func parseHash(text string) (hashed, error) {
	var h hashed
	var err error
	scheme, rest, _ := strings.Cut(text, ":")
	salt, hash, ok := strings.Cut(rest, ":")
	if !ok || scheme != "scrypt" {
		return h, errHash
	}
	if h.salt, err = base64.RawURLEncoding.Strict().DecodeString(salt); err != nil || len(h.salt) != saltBytes {
		return h, errHash
	}
	if h.hash, err = base64.RawURLEncoding.Strict().DecodeString(hash); err != nil || len(h.hash) != hashBytes {
		return h, errHash
	}
	return h, nil
}

func (h hashed) String() string {
	return "scrypt:" + base64.RawURLEncoding.EncodeToString(h.salt) + ":" + base64.RawURLEncoding.EncodeToString(h.hash)
}

func hashOf(value string, salt []byte) ([]byte, error) {
	return scrypt.Key([]byte(value), salt, scryptCost, scryptBlocks, scryptLanes, hashBytes)
}

// HashValue returns the hash that names a value in secrets.allow. like is the hash of another entry
// whose salt is reused, so that a review hashes a value only once for both. If like is empty, the
// salt is new.
func HashValue(value, like string) (string, error) {
	salt := make([]byte, saltBytes)
	if h, err := parseHash(like); err == nil {
		salt = h.salt
	} else if _, err := rand.Read(salt); err != nil {
		return "", fmt.Errorf("draw a salt: %w", err)
	}
	hash, err := hashOf(value, salt)
	if err != nil {
		return "", fmt.Errorf("hash the value: %w", err)
	}
	return hashed{salt, hash}.String(), nil
}

// Value is the secret behind a redaction of the facts, by its index. Only `reviewgate secrets
// allow` uses it. It is empty if a file's name alone shows that the file holds secrets, and for
// secrets in a file's bytes.
func (c *Change) Value(redaction int) string {
	if redaction >= len(c.found) {
		return ""
	}
	return c.found[redaction]
}

// Allow records in the facts which of their redactions the config allows at a time. It must follow
// Redact. Allowed secrets stay redacted.
func (c *Change) Allow(facts *pipeline.PRFacts, entries []config.SecretAllowance, asOf time.Time) error {
	if len(entries) == 0 {
		return nil
	}
	a, err := newAllower(entries, asOf)
	if err != nil {
		return err
	}
	for i := range facts.Redactions {
		r := &facts.Redactions[i]
		if value := c.Value(i); value != "" && r.Allowed == "" {
			r.Allowed = a.reason(r, value)
		}
	}
	// Expired entries come last, newest first, since a review hashes only so often.
	slices.Reverse(a.expired)
	a.entries = a.expired
	for i := range facts.Redactions {
		r := &facts.Redactions[i]
		if value := c.Value(i); value != "" && r.Allowed == "" {
			if e := a.entry(r, value); e != nil {
				r.Expired = e.Expires
			}
		}
	}
	return nil
}

// Allowed reports whether the entries allow the value of a finding at a path, or everywhere if the
// path is empty.
func Allowed(entries []config.SecretAllowance, rule, path, value string, asOf time.Time) (bool, error) {
	a, err := newAllower(entries, asOf)
	if err != nil {
		return false, err
	}
	return a.reason(&pipeline.Redaction{RuleID: strings.TrimPrefix(rule, pipeline.SecretRulePrefix), Path: path}, value) != "", nil
}

// allower looks up values in the valid entries.
type allower struct {
	entries, expired []allowance
	known            map[[2]string][]byte // hashes by value and salt
	most             int                  // the number of hashes that it may compute
}

type allowance struct {
	*config.SecretAllowance
	paths *glob.Set // nil if it holds everywhere
	hashed
}

func newAllower(entries []config.SecretAllowance, asOf time.Time) (*allower, error) {
	a := &allower{known: map[[2]string][]byte{}, most: maxHashes}
	for i := range entries {
		if err := a.add(&entries[i], asOf); err != nil {
			return nil, fmt.Errorf("secrets.allow, entry %d: %w", i+1, err)
		}
	}
	return a, nil
}

func (a *allower) add(entry *config.SecretAllowance, asOf time.Time) error {
	out, list := allowance{SecretAllowance: entry}, &a.entries
	if entry.Expires != "" {
		last, err := time.Parse(time.DateOnly, entry.Expires)
		if err != nil {
			return fmt.Errorf("read the date: %w", err)
		}
		if !asOf.Before(last.AddDate(0, 0, 1)) { // it holds until the end of its day in UTC
			list = &a.expired
		}
	}
	var err error
	if out.hashed, err = parseHash(entry.Value); err != nil {
		return err
	}
	if len(entry.Paths) > 0 {
		if out.paths, err = glob.Compile(entry.Paths); err != nil {
			return fmt.Errorf("compile the paths: %w", err)
		}
	}
	*list = append(*list, out)
	return nil
}

// reason is why a value is allowed at its place, or "".
func (a *allower) reason(r *pipeline.Redaction, value string) string {
	if e := a.entry(r, value); e != nil {
		return e.Reason
	}
	return ""
}

// entry is the first entry that names a value at its place, or nil.
func (a *allower) entry(r *pipeline.Redaction, value string) *allowance {
	for i := range a.entries {
		e := &a.entries[i]
		if strings.TrimPrefix(e.Rule, pipeline.SecretRulePrefix) != r.RuleID || e.paths != nil && (r.Path == "" || !e.paths.Any(r.Path)) {
			continue
		}
		if hash := a.hash(value, e.salt); hash != nil && subtle.ConstantTimeCompare(hash, e.hash) == 1 {
			return e
		}
	}
	return nil
}

// hash returns a value's hash, or nil once the review has hashed enough.
func (a *allower) hash(value string, salt []byte) []byte {
	key := [2]string{value, string(salt)}
	if hash, ok := a.known[key]; ok {
		return hash
	}
	if len(a.known) == a.most {
		return nil
	}
	hash, err := hashOf(value, salt)
	if err != nil {
		return nil // can't happen: the parameters are constant
	}
	a.known[key] = hash
	return hash
}
