package secrets

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
)

// Agent reports the secrets that a change adds. It reads the facts' redactions, so it never
// has a value. Secrets that the change removes or only shows are redacted but not reported.
type Agent struct {
	// Final says that a layer of the config made the agent final. The repository's
	// .gitattributes then makes no finding milder.
	Final bool
}

var _ dispatch.Agent = Agent{}

// Review returns a finding for each redaction in the task's scope, in the order of the facts. It
// leaves out redactions that are noise at their place. A redaction outside files belongs to every
// scope. Warnings of one kind become one finding that counts the others: where there is one test
// certificate, there are more.
func (a Agent) Review(ctx context.Context, task dispatch.Task) (dispatch.Answer, error) {
	if err := ctx.Err(); err != nil {
		return dispatch.Answer{}, err
	}
	out := pipeline.AgentOutput{Agent: task.Entry.Agent}
	files := map[string]*pipeline.File{}
	for i := range task.Facts.Files {
		f := &task.Facts.Files[i]
		files[f.Path] = f
	}
	scope := task.Entry.Scope
	warnings := map[string]*repeated{} // by rule
	for _, r := range task.Facts.Redactions {
		file := files[r.Path]
		if r.Source == pipeline.RedactedLine {
			if !inName(r) && (file == nil || !scope.Has(r.Path)) || r.Op != pipeline.LineAdded {
				continue
			}
		}
		if a.Final && file != nil {
			plain := normalize.WithoutAttributes(*file)
			file = &plain
		}
		f, ok := finding(r, file)
		if !ok {
			continue
		}
		if f.Severity == pipeline.SeverityWarning && r.Allowed == "" && r.Expired == "" {
			if w := warnings[f.RuleID]; w != nil {
				w.more++
				continue
			}
			warnings[f.RuleID] = &repeated{at: len(out.Findings)}
		}
		out.Findings = append(out.Findings, f)
	}
	for _, w := range warnings {
		out.Findings[w.at].Message += w.note()
	}
	return dispatch.Answer{Output: out}, nil
}

// repeated is a finding that stands for others.
type repeated struct{ at, more int }

func (r *repeated) note() string {
	switch r.more {
	case 0:
		return ""
	case 1:
		return " There is 1 more of its kind, which is not listed."
	}
	return fmt.Sprintf(" There are %d more of its kind, which are not listed.", r.more)
}

// Confidence of findings. Gitleaks' rules for one vendor's tokens are exact. Its generic rule
// guesses by names and randomness.
const (
	vendorConfidence  = 0.95
	genericConfidence = 0.7
	fixtureConfidence = 0.5
)

// finding turns a redaction into a finding. It returns false for noise.
func finding(r pipeline.Redaction, file *pipeline.File) (pipeline.Finding, bool) {
	f := pipeline.Finding{
		RuleID:       pipeline.SecretRulePrefix + r.RuleID,
		Severity:     pipeline.SeverityCritical,
		Category:     "secrets",
		Confidence:   vendorConfidence,
		Path:         r.Path,
		StartLine:    r.Line,
		EndLine:      r.Line,
		Action:       pipeline.ActionRemove,
		AutofixClass: pipeline.AutofixPresent,
		FindingType:  pipeline.FindingError,
	}
	where := place(r)
	switch r.Source {
	case pipeline.RedactedTitle:
		f.Section = pipeline.SectionTitle
	case pipeline.RedactedBody:
		f.Section = pipeline.SectionDescription
	case pipeline.RedactedCommitMessage:
		f.Section = pipeline.SectionCommit(r.Commit)
	}
	f.Title = r.Title + " in " + where
	f.Message = fmt.Sprintf("%s holds what looks like a secret (gitleaks rule %s). reviewgate shows and stores a placeholder in its place.", upper(where), r.RuleID)
	if inName(r) {
		f.Section = pipeline.SectionChange
		f.Message = fmt.Sprintf("%s holds what looks like a secret (gitleaks rule %s). This finding does not name the file, but other parts of the review may. Rename the file whose path holds the secret.", upper(where), r.RuleID)
	}
	if r.Expired != "" {
		f.Message += " It was allowed by config until " + r.Expired + "; this has expired."
	}
	f.WhyItMatters = "Whoever can read the repository, a fork of it or a clone can use the secret, now and later: it stays in the history."
	f.Recommendation = "Revoke or rotate it now, then take it from a secret store or the environment. Removing the line is not enough."
	if guess(r.RuleID) {
		f.Confidence = genericConfidence
	}
	return f, file == nil || temper(&f, r.RuleID, file)
}

// inName reports whether a secret is in the name of a file, which the finding leaves out.
func inName(r pipeline.Redaction) bool { return r.Source == pipeline.RedactedLine && r.Path == "" }

// place describes where a secret is.
func place(r pipeline.Redaction) string {
	switch {
	case r.Source == pipeline.RedactedTitle:
		return "the title"
	case r.Source == pipeline.RedactedBody:
		return "the description"
	case r.Source == pipeline.RedactedCommitMessage:
		return "a commit message"
	case inName(r):
		return "the name of a file"
	case r.Line == 0:
		return "this file"
	}
	return "this line"
}

// temper makes a finding milder where made-up values are common. It returns false for noise.
func temper(f *pipeline.Finding, rule string, file *pipeline.File) bool {
	if guess(rule) && (isLock(file.Path) || file.Test || file.Documentation || file.GeneratedByPath && !file.Bundle) {
		return false
	}
	if (key(rule) || rule == ruleJWT || rule == ruleJWTBase64) && (file.Test || file.Documentation || isFixture(file.Path)) {
		// Tests have keys and tokens of their own. But the author chooses the path, so a person
		// has to look.
		f.Severity = pipeline.SeverityMajor
		f.Recommendation = madeUp
		return true
	}
	if mild(rule) && (file.Test || file.Documentation || isFixture(file.Path)) || guess(rule) && isBundle(file.Path) {
		f.Severity = pipeline.SeverityWarning
		f.Confidence = min(f.Confidence, fixtureConfidence)
		f.Recommendation = madeUp
	}
	return true
}

const madeUp = "If it is real, revoke or rotate it now: removing the line is not enough. If it is made up, allow it with \"reviewgate secrets allow\"."

// key reports whether a rule finds private keys.
func key(rule string) bool { return rule == rulePrivateKey || rule == rulePKCS12 }

// guess reports whether a rule depends on the look of a value and not on one vendor's format.
func guess(rule string) bool {
	return rule == ruleGeneric || rule == ruleURLPassword || rule == ruleBearer || rule == ruleAssigned
}

// mild reports whether a rule often finds made-up values in tests and documentation.
func mild(rule string) bool {
	switch rule {
	case ruleGeneric, ruleURLPassword, ruleBearer, ruleAssigned, "curl-auth-header", "curl-auth-user", ruleKubernetes:
		return true
	}
	return false
}

// isFixture adds to the facts' flags: it recognises examples and samples.
func isFixture(file string) bool {
	for s := range strings.SplitSeq(strings.ToLower(file), "/") {
		switch s {
		case "fixtures", "fixture", "testdata", "mocks", "mock", "example", "examples", "sample", "samples":
			return true
		}
	}
	base := strings.ToLower(path.Base(file))
	return strings.Contains(base, ".example") || strings.Contains(base, ".sample") || strings.HasSuffix(base, ".template")
}

// isBundle reports whether a file is in a directory for bundler output. Short names in it look
// random, and its sources are checked at their own place.
func isBundle(file string) bool {
	return slices.Contains(strings.Split(path.Dir(file), "/"), "dist")
}

// isLock reports whether a file is a lock file, which is full of hashes. Gitleaks skips some of
// them by itself.
func isLock(file string) bool {
	base := strings.ToLower(path.Base(file))
	switch base {
	case "npm-shrinkwrap.json", "package-lock.json", "pnpm-lock.yaml", "go.sum", "package.resolved", "packages.lock.json", "bun.lockb":
		return true
	}
	return strings.HasSuffix(base, ".lock")
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
