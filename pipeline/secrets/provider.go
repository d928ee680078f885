package secrets

import (
	"slices"
	"sync"
)

// isProviderRule reports whether a rule knows one provider's tokens by a unique format. Its
// findings count everywhere: no path, no neighbouring word and no list of gitleaks excludes them.
func isProviderRule(id string) bool { return providerRules()[id] }

// isSure reports whether a rule's findings count in files that gitleaks skips, such as lock files,
// vendored code and images. Other rules find hashes and made-up values there. Their findings are
// still replaced.
func isSure(id string) bool {
	return isProviderRule(id) || id == ruleJWT || id == rulePrivateKey || id == rulePKCS12 || uniqueRules[id]
}

// uniqueRules are the gitleaks rules that know tokens by a unique format and are not formats of
// ours. Other rules depend on the name that a value is assigned to.
var uniqueRules = set(
	"adobe-client-secret", "anthropic-admin-api-key", "authress-service-client-access-key",
	"clickhouse-cloud-api-secret-key", "duffel-api-token", "easypost-test-api-token", "facebook-page-access-token",
	"flutterwave-encryption-key", "flutterwave-secret-key", "frameio-api-token", "freemius-secret-key",
	"gitlab-feature-flag-client-token", "gitlab-pat-routable", "gitlab-rrt", "gitlab-runner-authentication-token-routable",
	"grafana-api-key", "harness-api-key", "heroku-api-key-v2", "infracost-api-token", "intra42-client-secret", ruleJWTBase64,
	"maxmind-license-key", "microsoft-teams-webhook", "octopus-deploy-api-key", "openshift-user-token", "scalingo-api-token",
	"settlemint-application-access-token", "settlemint-personal-access-token", "settlemint-service-access-token",
	"sidekiq-sensitive-url", "slack-legacy-bot-token", "twilio-api-key",
)

func set(ids ...string) map[string]bool {
	out := make(map[string]bool, len(ids))
	for _, id := range ids {
		out[id] = true
	}
	return out
}

var providerRules = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for i := range formats {
		out[formats[i].id] = true
	}
	delete(out, ruleJWT) // many are made up for tests, and JWTs expire
	return out
})

// HasRule reports whether the detector can find secrets of a rule.
func (d *Detector) HasRule(id string) bool {
	own := []string{ruleAssigned, ruleURLPassword, ruleBearer, rulePKCS12, jwkRule.id}
	return slices.Contains(d.ids, id) || isProviderRule(id) || slices.Contains(own, id)
}
