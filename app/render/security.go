package render

import (
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
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

// isSecurity reports whether a finding is about security: by its category, or because its agent's name
// has the word security or secrets.
func isSecurity(f *pipeline.Finding) bool {
	name := strings.FieldsFunc(f.Agent, func(r rune) bool { return r == '-' || r == '_' })
	return slices.Contains(securityCategories, f.Category) || slices.Contains(name, "security") || slices.Contains(name, "secrets")
}
