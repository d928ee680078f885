package secrets

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	gitleaks "github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
	"github.com/zricethezav/gitleaks/v8/logging"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/pipeline/internal/lazy"
	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
)

// The ids of gitleaks rules that need special handling.
const (
	ruleGeneric    = "generic-api-key"
	rulePrivateKey = "private-key"
	rulePKCS12     = "pkcs12-file"
	ruleKubernetes = "kubernetes-secret-yaml"
	ruleJWT        = "jwt"
	ruleJWTBase64  = "jwt-base64"
	ruleTeams      = "microsoft-teams-webhook"
)

// gitleaksConfig reads gitleaks' own rules with gitleaks' global parser. It also disables gitleaks'
// global logger for good, which prints secrets at trace level.
func gitleaksConfig() (gitleaks.Config, error) {
	logging.Logger = zerolog.Nop()
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		return gitleaks.Config{}, fmt.Errorf("read gitleaks' rules: %w", err)
	}
	return d.Config, nil
}

// defaultConfig reads gitleaks' rules without their large parts.
func defaultConfig() (gitleaks.Config, error) {
	cfg, err := gitleaksConfig()
	if err != nil {
		return cfg, err
	}
	for id, r := range cfg.Rules {
		for i, a := range r.Allowlists {
			if r.Allowlists[i], err = lean(a); err != nil {
				return cfg, fmt.Errorf("read the allow list %d of gitleaks' rule %s: %w", i, id, err)
			}
		}
	}
	return cfg, nil
}

// lean is an allow list without the automaton for its stop words. The automaton of one rule takes 9
// MB in every process, and saves some microseconds for each value that the rule finds. Without it,
// stop words are searched one by one.
func lean(a *gitleaks.Allowlist) (*gitleaks.Allowlist, error) {
	out := &gitleaks.Allowlist{
		Description: a.Description, MatchCondition: a.MatchCondition,
		Commits: a.Commits, Paths: a.Paths, RegexTarget: a.RegexTarget, Regexes: a.Regexes,
	}
	if len(a.Commits)+len(a.Paths)+len(a.Regexes) > 0 {
		if err := out.Validate(); err != nil {
			return nil, err
		}
	}
	out.StopWords = a.StopWords // in lower case, since a is validated
	return out, nil
}

// rule is one gitleaks rule with what is needed to find its candidates. Few rules ever have a
// candidate, so the rest is made when there is one.
type rule struct {
	id          string
	description string
	regex       *lazy.Regexp   // nil for a rule that looks only at paths
	path        *regexp.Regexp // of the files that it looks at, or nil
	finder      func() finder  // makes the finder at the first call
	literals    []string       // every match contains one

	// A candidate is the lines from back bytes before a literal to reach bytes after it.
	back, reach int
	anywhere    bool // a literal makes the whole text a candidate
	// hit reports whether a literal that ends at the offset can be part of a match. If nil, it
	// always can.
	hit func(text string, end int) bool
}

// finder finds a rule's secrets in a piece of the text at path, by their offsets in it.
type finder interface {
	find(piece, path string) []match
}

// assignment is the middle of the expressions for a value that is assigned to a name. The name
// comes before it.
var assignment = regexp.QuoteMeta(`(?:[ \t\w.-]{0,20})[\s'"]{0,3}`) + `\)?` +
	regexp.QuoteMeta(`(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)`)

var assignmentMiddle = regexp.MustCompile(assignment)

// How far candidates reach, in bytes.
const (
	reachAssignment = 128  // at most 20+3+3+5 characters are between name and value
	reachBlock      = 4096 // five continued lines of a curl command; the data of a Kubernetes secret
)

// newRule prepares a rule. global returns gitleaks' lists for all rules.
func newRule(r gitleaks.Rule, global func() []*allowList) *rule {
	out := &rule{id: r.RuleID, description: r.Description, path: r.Path}
	if r.Regex == nil {
		return out
	}
	expression, keywords := r.Regex.String(), r.Keywords
	out.regex = lazy.MustCompile(expression)
	// The compiled expression can go. The callers of the finder have searched for the keywords.
	r.Regex, r.Keywords = nil, nil
	if assignmentMiddle.MatchString(expression) {
		out.reach = reachAssignment
	}
	if name := assignedName(expression); name != "" {
		out.literals, out.hit = literals.Required(name), assigned
		if r.RuleID == ruleGeneric {
			out.hit = assignedKey
		}
	}
	if out.literals == nil {
		out.literals, out.hit = required(expression, keywords), nil
	}
	out.adapt(keywords)
	may := out.hit
	if r.RuleID == ruleGeneric {
		may = assignedText // a match that does not look like a key still consumes the text after it
	}
	out.finder = sync.OnceValue(func() finder {
		if n := newNamed(expression, &r, out.literals, may, global()); n != nil {
			return n
		}
		if k := newWholeKeys(expression, &r, global()); k != nil {
			return k
		}
		return newTheirs(out, r, global())
	})
	return out
}

// assignedName returns the start of an expression for an assigned value: the part that matches the
// name. It is empty for other expressions: if the assignment is one of several alternatives, and if
// the name may contain any character.
func assignedName(expression string) string {
	at := assignmentMiddle.FindStringIndex(expression)
	if at == nil {
		return ""
	}
	name := expression[:at[0]]
	if strings.Count(name, "(") > strings.Count(name, ")") {
		name += ")"
	}
	all, err := syntax.Parse(expression, syntax.Perl)
	if err != nil || all.Op != syntax.OpConcat {
		return ""
	}
	if re, err := syntax.Parse(name, syntax.Perl); err != nil || hasAny(re) {
		return ""
	}
	return name
}

func hasAny(re *syntax.Regexp) bool {
	return re.Op == syntax.OpAnyChar || re.Op == syntax.OpAnyCharNotNL || slices.ContainsFunc(re.Sub, hasAny)
}

// adapt sets what the expression does not show.
func (r *rule) adapt(keywords []string) {
	switch r.id {
	case "airtable-personnal-access-token", "facebook-access-token", "sourcegraph-access-token":
		// The keyword may be anywhere in the text, far from the match.
		r.literals, r.anywhere = keywords, true
	case "curl-auth-header", "curl-auth-user", ruleJWTBase64:
		r.reach = reachBlock
	case ruleKubernetes:
		r.literals, r.hit = []string{"kind:"}, kindSecret
		r.back, r.reach = reachBlock, reachBlock
	case "nuget-config-password", "freemius-secret-key":
		r.reach = reachAssignment
	case rulePrivateKey:
		r.literals, r.hit = []string{"private key"}, dashes
	case "lob-api-key", "lob-pub-api-key":
		// "lob" is the end of "glob" and "blob".
		r.hit = assignedTo("live_", "test_")
	case "vault-service-token":
		r.hit = vaultToken
	case "twilio-api-key":
		r.hit = hexFollows
	}
}

// required returns literals of which each match contains one: those of the expression, which are
// certain, unless they are short. Gitleaks' keywords are certain except for wildcards and the rules
// that adapt names.
func required(expression string, keywords []string) []string {
	const enough = 4
	own := literals.Required(expression)
	if n := shortest(own); n >= enough || n >= shortest(keywords) {
		return own
	}
	return keywords
}

func shortest(list []string) int {
	n := 0
	for i, l := range list {
		if i == 0 || len(l) < n {
			n = len(l)
		}
	}
	return n
}
