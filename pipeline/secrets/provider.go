package secrets

import "sync"

// providers reports whether a rule knows one provider's tokens by a format that
// nothing else has. What it finds counts wherever it stands: no path, no word beside
// it and no list of gitleaks takes it back.
func providers(id string) bool { return providerRules()[id] }

// sure reports whether a rule's findings count in files that gitleaks passes over,
// such as lock files, vendored code and images. There the others find hashes and
// made-up values; what they find is still replaced.
func sure(id string) bool {
	return providers(id) || id == "jwt" || id == rulePrivateKey || id == rulePKCS12
}

var providerRules = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for i := range formats {
		out[formats[i].id] = true
	}
	delete(out, "jwt") // many are made up for tests, and expire
	return out
})
