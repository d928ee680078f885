package secrets

import "strings"

// title turns a rule's id into words: aws-access-token becomes an AWS access token.
func title(id string) string {
	words := strings.Split(id, "-")
	for i, w := range words {
		words[i] = spelling(w)
	}
	words[0] = strings.ToUpper(words[0][:1]) + words[0][1:]
	return strings.Join(words, " ")
}

// spelling returns the spelling of words that are not in lower case.
func spelling(word string) string {
	switch word {
	case "api", "aws", "gcp", "jwt", "pat", "ad", "id", "tf", "url", "npm", "pypi", "yaml", "cicd", "ssh", "sas", "jwk", "iot", "jsr", "mws":
		return strings.ToUpper(word)
	case "github":
		return "GitHub"
	case "gitlab":
		return "GitLab"
	case "oauth":
		return "OAuth"
	case "openai":
		return "OpenAI"
	case "nuget":
		return "NuGet"
	case "hashicorp":
		return "HashiCorp"
	case "jfrog":
		return "JFrog"
	case "launchdarkly":
		return "LaunchDarkly"
	case "linkedin":
		return "LinkedIn"
	case "digitalocean":
		return "DigitalOcean"
	case "sendgrid":
		return "SendGrid"
	case "slack", "stripe", "azure", "kubernetes", "twilio", "heroku", "cloudflare", "databricks", "anthropic",
		"telegram", "microsoft", "shopify", "grafana", "sentry", "okta", "dropbox", "discord", "facebook", "atlassian",
		"mailchimp", "mailgun", "datadog", "vault", "rubygems", "alibaba", "square", "linear", "notion", "snyk":
		return strings.ToUpper(word[:1]) + word[1:]
	}
	return word
}
