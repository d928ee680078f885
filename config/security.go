package config

import (
	"slices"
	"strings"
)

// securityCategories are the categories that are about security whichever agent reports them: of the
// shipped rules, and of language models.
var securityCategories = []string{
	"advisories", "secrets", "supply-chain",
	"sql-injection", "command-injection", "code-injection", "cross-site-scripting", "path-traversal",
	"request-forgery", "open-redirect", "unsafe-deserialization", "missing-authentication",
	"missing-authorization", "hard-coded-secret", "secret-exposure", "weak-cryptography",
	"weak-randomness", "certificate-validation", "insecure-configuration", "denial-of-service",
}

// IsSecurity reports whether the findings of an agent in a category are about security: by the
// category, or because the agent's name has the word security or secrets.
func IsSecurity(agent, category string) bool {
	name := strings.FieldsFunc(agent, func(r rune) bool { return r == '-' || r == '_' })
	return slices.Contains(securityCategories, category) || slices.Contains(name, "security") || slices.Contains(name, "secrets")
}
