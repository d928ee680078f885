package aggregate

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// secretAt is the position of a secret and the detector's rule that found it.
type secretAt struct {
	rule, path, section string
	line                int
}

// allowedSecrets returns why the config allows secrets, by place. Two secrets of one rule
// may be on one line, so a place has one reason for each allowed secret.
func allowedSecrets(facts *pipeline.PRFacts) map[secretAt][]string {
	out := map[secretAt][]string{}
	for i := range facts.Redactions {
		r := &facts.Redactions[i]
		if r.Allowed == "" || r.Source == pipeline.RedactedLine && r.Op != pipeline.LineAdded {
			continue
		}
		at := secretAt{rule: r.RuleID, path: r.Path, line: r.Line}
		switch r.Source {
		case pipeline.RedactedTitle:
			at.section = pipeline.SectionTitle
		case pipeline.RedactedBody:
			at.section = pipeline.SectionDescription
		case pipeline.RedactedCommitMessage:
			at.section = pipeline.SectionCommit(r.Commit)
		case pipeline.RedactedLine:
			if r.Path == "" { // the secret is in a file's name, which the finding does not show
				at.section = pipeline.SectionChange
			}
		}
		out[at] = append(out[at], r.Allowed)
	}
	return out
}

// allow suppresses a finding about a secret if the config allows the secret.
func (s *suppressor) allow(f *item) bool {
	if len(s.secrets) == 0 || !s.in.secrets[f.Agent] {
		return false
	}
	at := secretAt{rule: strings.TrimPrefix(f.RuleID, pipeline.SecretRulePrefix), path: f.Path, section: f.Section, line: f.StartLine}
	reasons := s.secrets[at]
	if len(reasons) == 0 {
		return false
	}
	s.secrets[at] = reasons[1:]
	gitleaks := strings.HasPrefix(reasons[0], pipeline.AllowedByGitleaks)
	switch {
	case gitleaks && s.in.final(f):
		f.addReason("not allowed: a repository's .gitleaks.toml can't allow what is final")
		return false
	case gitleaks:
		f.addReason("allowed by the base's .gitleaks.toml")
	default:
		f.addReason("allowed by secrets.allow of the config")
	}
	f.suppress(s.report, pipeline.StateSuppressed, "secret allowed by config: "+reasons[0])
	return true
}
