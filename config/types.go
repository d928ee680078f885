package config

import (
	"cmp"
	"crypto/sha256"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
)

// The five config files. Beside them stand prompts, each a file prompt-NAME.md.
const (
	FileRules       = "review-rules.json"
	FileComposition = "review-composition.json"
	FileAgents      = "review-agents.json"
	FileDomains     = "review-domains.json"
	FileSettings    = "review-settings.json"
)

// RepositoryDir is where a repository keeps its config files.
const RepositoryDir = ".github/reviewgate"

// Config is all layers merged and validated: every agent, domain and service
// that is referred to exists (but for domains that only the shipped policies of
// language models name), every pattern and glob compiles. It holds what is
// in force. Entries that are switched off are left out, and so are the rules,
// the signals and the places in policies of an agent that is; only Agents lists
// that agent still, with Enabled false. Entries stand in the order in which the
// layers first name them.
//
// It is never changed after Load has returned it.
type Config struct {
	InForce pipeline.ConfigInForce
	// Key tells the config from every other: it is made of all that was written
	// in the layers that are used. InForce.Version is for people, too short for
	// that, and made of names that came with the texts.
	Key [sha256.Size]byte

	Rules    []Rule
	Policies []Policy
	Agents   []Agent
	Domains  []DomainMapping
	Services []ServiceMapping
	Risk     []RiskFactor
	Signals  []Signal
	Settings Settings
	// Floors are those of the layers that made something final, lowest first.
	Floors []Floor
	// Names are the full names that the reviewed repository had before; see Mode.
	Names []string
	// DomainsForm and CompositionForm are the forms of the repository's
	// review-domains.json and review-composition.json, of the Form constants: what
	// a patch of them has to fit.
	DomainsForm, CompositionForm string

	layers    map[string]map[string]string // by file and id: the layer that names the entry first
	modeLayer string                       // that wrote Settings.Mode
	prompts   map[string][]Prompt          // by name, lowest layer first
	heldBy    map[string]string            // by agent: the lowest layer that made it final, or what needs it
	wordedBy  map[string]string            // by rule: the highest layer that wrote its name or detection
	// The layers that made rules and agents final, by id; see FinalIn.
	finalRules, finalAgents map[string]string
	weakened                []pipeline.ConfigProblem // see Weakened
}

// LayerOf is the layer that names the entry of a file first, such as
// LayerDefaults for a rule of which the repository changed the severity; ""
// where there is no such entry.
func (c *Config) LayerOf(file, id string) string { return c.layers[file][id] }

// Rule says what is looked for, by which agent, and how bad it is. A rule
// with a Match is machine-checkable; one without is prose for a model agent's
// checklist.
type Rule struct {
	ID             string            `json:"id"`
	Enabled        bool              `json:"enabled"` // default true
	Name           string            `json:"name"`
	Severity       pipeline.Severity `json:"severity"`
	Agent          string            `json:"agent"`
	Category       string            `json:"category"`
	Description    string            `json:"description"`    // what is wrong and why it matters
	Detection      string            `json:"detection"`      // what to look for
	Recommendation string            `json:"recommendation"` // how to fix it
	Reference      string            `json:"reference,omitempty"`
	Match          *Match            `json:"match,omitempty"`
	// When is a CEL expression over the whole change. Without a Match it is one
	// finding where it holds; with one, what the match finds counts only where it
	// holds.
	When  string `json:"when,omitempty"`
	Final bool   `json:"final"` // default false; see the package's documentation
}

// Match makes a rule machine-checkable. Exactly one of Pattern and Literal is
// set. On a file that matches it looks at what On names.
type Match struct {
	Pattern    string `json:"pattern,omitempty"` // RE2
	Literal    string `json:"literal,omitempty"`
	NotPattern string `json:"not_pattern,omitempty"` // RE2; a match in a statement that matches it does not count
	// Source is what is untrusted, in RE2. A match does not count if its statement names
	// that only in calls of the functions in SafeCalls, and these only by themselves or in
	// calls of the functions in SafeWithin or of what the match begins with. The code
	// between strings is looked at. A function is a name such as path.basename, a method of
	// anything such as .getName, a method of what a function returns such as
	// File().getName, or [] for what is looked up in brackets. It makes its first argument
	// harmless, if the others are plain constants, or with (_, *) behind its name all
	// others.
	Source       string   `json:"source,omitempty"`
	SafeCalls    []string `json:"safe_calls,omitempty"`
	SafeWithin   []string `json:"safe_within,omitempty"`
	Paths        []string `json:"paths,omitempty"` // globs; none means every file
	ExcludePaths []string `json:"exclude_paths,omitempty"`
	Languages    []string `json:"languages,omitempty"` // go-enry's names; none means every language
	// On is what is matched: added (default), removed, file (the path of a
	// changed file that is not removed, once a file), title, body,
	// commit_message, or path (of an added, renamed or copied file).
	On         string `json:"on,omitempty"`
	MaxPerFile int    `json:"max_per_file,omitempty"` // 0: no limit
	// Fix replaces the matched text in a copy of the line, to make the
	// suggested fix; $1 or ${name} refer to groups.
	Fix string `json:"fix,omitempty"`
	// Net leaves out, of the added lines that match, those that take the place of
	// a removed line of the same hunk that matches too, and the other way round:
	// what moves or gets another version is no news. Default false.
	Net bool `json:"net,omitempty"`
	// Tests says whether the rule also looks at test files. Default true.
	Tests *bool `json:"tests,omitempty"`
	// Comments says whether the rule also looks at what is certainly a comment,
	// by the syntax of the file's language. Default true.
	Comments *bool `json:"comments,omitempty"`
}

// What a Match can look at.
const (
	OnAdded         = "added"
	OnRemoved       = "removed"
	OnFile          = "file"
	OnTitle         = "title"
	OnBody          = "body"
	OnCommitMessage = "commit_message"
	OnPath          = "path"
)

// Policy says when which agents are dispatched.
type Policy struct {
	ID          string           `json:"id"`
	Enabled     bool             `json:"enabled"` // default true
	Description string           `json:"description"`
	Priority    int              `json:"priority"` // 0 to 100
	Trigger     policies.Trigger `json:"trigger"`
	Dispatch    Dispatch         `json:"dispatch"`
	Final       bool             `json:"final"`
}

// Dispatch is what a policy does when its trigger holds.
type Dispatch struct {
	Agents    []string           `json:"agents"`
	Required  bool               `json:"required"`
	OnFailure pipeline.OnFailure `json:"on_failure,omitempty"` // default block
	Scope     string             `json:"scope,omitempty"`      // ScopeAll (default) or ScopeMatched
	Models    []string           `json:"models,omitempty"`
}

// The scopes of a dispatch.
const (
	ScopeAll     = "all"
	ScopeMatched = "matched" // the files that made the trigger hold
)

// The items of review-domains.json carry a "type": domain, service, risk or
// signal, and are told apart by it.

// DomainMapping puts files into a domain. Several mappings may name one
// domain.
type DomainMapping struct {
	ID          string   `json:"id"`
	Enabled     bool     `json:"enabled"` // default true
	Domain      string   `json:"domain"`
	Description string   `json:"description"`
	Globs       []string `json:"globs"`
	Weight      int      `json:"weight"`           // risk points that touching the domain adds, 0 to 100
	Covers      string   `json:"covers,omitempty"` // a domain of the same concern, for which its files don't add points again
	Final       bool     `json:"final"`
}

// ServiceMapping puts files into a deployable service.
type ServiceMapping struct {
	ID          string   `json:"id"`
	Enabled     bool     `json:"enabled"`
	Service     string   `json:"service"`
	Description string   `json:"description"`
	Globs       []string `json:"globs"`
	Final       bool     `json:"final"`
}

// RiskFactor weighs one thing that makes a change risky.
type RiskFactor struct {
	ID          string   `json:"id"`
	Enabled     bool     `json:"enabled"`
	Factor      string   `json:"factor"` // one of the Risk constants
	Description string   `json:"description"`
	Points      int      `json:"points"`           // at most; for RiskSensitivePath once, however many files
	Globs       []string `json:"globs,omitempty"`  // for RiskSensitivePath
	Covers      string   `json:"covers,omitempty"` // as of DomainMapping; for RiskSensitivePath, RiskWorkflow and RiskDependencies
	Final       bool     `json:"final"`
}

// The risk factors. Domains bring their points by their mappings' weight.
const (
	RiskChangedLines      = "changed_lines"       // points x log10(1+lines)/4, so 10,000 lines earn them all
	RiskDomains           = "domains"             // points for each domain after the first
	RiskSensitivePath     = "sensitive_path"      // a changed file matches Globs
	RiskWorkflow          = "workflow"            // CI and workflow files
	RiskDependencies      = "dependencies"        // manifests and lock files
	RiskDeletedTests      = "deleted_tests"       // a test file removed
	RiskSourceWithoutTest = "source_without_test" // non-test source added to and no test touched
	RiskFirstTimeAuthor   = "first_time_author"
	RiskFork              = "fork"
)

// Signal finds a concern on added lines of files whose domains do not cover
// it, and asks for an agent.
type Signal struct {
	ID          string   `json:"id"`
	Enabled     bool     `json:"enabled"`
	Concern     string   `json:"concern"`        // money-arithmetic, authentication, ...
	Name        string   `json:"name,omitempty"` // of the concern for people, such as "SQL building"; see Title
	Description string   `json:"description"`
	Pattern     string   `json:"pattern"`          // RE2 on added lines
	Within      []string `json:"within,omitempty"` // WithinCode, ...: where matches start; none means anywhere
	Globs       []string `json:"globs,omitempty"`
	Languages   []string `json:"languages,omitempty"`
	Domain      string   `json:"domain"` // files in it are covered; the suggested patch maps the file to it
	Agent       string   `json:"agent"`  // dispatched for the concern
	Final       bool     `json:"final"`
}

// Title is what people call the signal's concern: its name, or else the concern
// with blanks for its dashes.
func (s *Signal) Title() string {
	return cmp.Or(s.Name, strings.NewReplacer("-", " ", "_", " ").Replace(s.Concern))
}

// The parts of a line that a signal may look within. What is a comment or a
// string is known of the languages in most use; in any other, every match
// counts.
const (
	WithinCode     = "code" // quotes included
	WithinStrings  = "strings"
	WithinComments = "comments"
)

// Settings is review-settings.json.
type Settings struct {
	Mode      string            `json:"mode"`   // ModeEnforce, ModeAdvisory or ModeOff
	Drafts    string            `json:"drafts"` // DraftsReview or DraftsSkip
	Gate      GateSettings      `json:"gate"`
	Synthesis SynthesisSettings `json:"synthesis"`
	Comment   CommentSettings   `json:"comment"`
	Check     CheckSettings     `json:"check"`
	Limits    LimitSettings     `json:"limits"`
	FixLoop   FixLoopSettings   `json:"fix_loop"`

	Thresholds ThresholdSettings `json:"thresholds"`
	Models     ModelSettings     `json:"models"`
	Commands   CommandSettings   `json:"commands"`
	Secrets    SecretSettings    `json:"secrets"`
	// Ignore lists paths whose findings do not count. The layers' lists are put
	// together.
	Ignore []Ignored `json:"ignore"`

	Issues IssueSettings `json:"issues"`
	Labels LabelSettings `json:"labels"`

	// The rest is for the server's layer only.

	// Repositories choose the mode by repository; the first that matches wins,
	// below what the repository's own layer says.
	Repositories []RepositoryMode `json:"repositories,omitempty"`
	// Organisations say what the layers of organisations may do. An organisation that
	// is not named can't loosen anything.
	Organisations []Organisation `json:"organisations,omitempty"`
	// ConfigBranches are globs of base branches that carry config of their own.
	// Pull requests against others are judged by the default branch's.
	ConfigBranches []string `json:"config_branches,omitempty"`
	// ModelEndpoints are the language models that agents may ask. Without any,
	// agents of kind llm are as good as absent.
	ModelEndpoints []ModelEndpoint `json:"model_endpoints,omitempty"`
	ModelBudget    ModelBudget     `json:"model_budget"`
	// Final names settings that later layers can't change: "mode", a section
	// such as "gate", or one field of a section such as "check.name". The
	// organisation's layer may have it too.
	Final []string `json:"final,omitempty"`
	// FinalAuthority are the teams, each "org/team-slug", and the logins who alone
	// may take a final finding out of the gate. It counts for what the layer that
	// names it made final, and for nothing else. At most 20, default none. The
	// organisation's layer may have it too.
	FinalAuthority []string `json:"final_authority,omitempty"`
}

// RepositoryMode is the mode of the repositories (owner/name) that a glob
// matches.
type RepositoryMode struct {
	Globs []string `json:"globs"`
	Mode  string   `json:"mode"`
}

// Ignored are paths that some agents or rules leave out. The agent for secrets leaves out
// no path.
type Ignored struct {
	Paths  []string `json:"paths"`
	Agents []string `json:"agents,omitempty"` // none means all but the one for secrets
	Rules  []string `json:"rules,omitempty"`  // none means all
	Reason string   `json:"reason"`
}

// SecretSettings say which values only look like secrets. The layers'
// lists are put together.
type SecretSettings struct {
	Allow []SecretAllowance `json:"allow"` // at most 100 of all layers, default none
}

// SecretAllowance is one value that secrets.allow names. The value is still replaced
// by a placeholder wherever it stands; it is no longer held against a change.
type SecretAllowance struct {
	Rule string `json:"rule"` // of the finding, such as "secret-github-pat"
	// Paths are globs of files. Without any, the value is allowed everywhere, in
	// titles, descriptions and messages, too.
	Paths  []string `json:"paths,omitempty"`
	Value  string   `json:"value"` // "scrypt:SALT:HASH", see secrets.HashValue
	Reason string   `json:"reason"`
	// Expires is the last day on which the entry holds, by UTC, as in "2027-01-31";
	// empty for no end.
	Expires string `json:"expires,omitempty"`
}

// Organisation says what an organisation's layer may do.
type Organisation struct {
	Name      string `json:"name"`       // login
	MayWeaken bool   `json:"may_weaken"` // loosen what the server's config says; default false
}

// CommandSettings say who may give slash commands, besides what GitHub's
// permissions allow.
type CommandSettings struct {
	// OverrideTeams are teams, each "org/team-slug", whose members may do what
	// otherwise takes the permission maintain. At most 20, default none.
	OverrideTeams []string `json:"override_teams"`
	// SelfJudgement says who may dismiss, accept and override on their own pull
	// request, one that they opened or pushed to: SelfJudgementMaintainers (default) or
	// SelfJudgementNever.
	SelfJudgement string `json:"self_judgement"`
}

// Who may judge a pull request of their own.
const (
	SelfJudgementMaintainers = "maintainers" // whoever may maintain; the audit log says so
	SelfJudgementNever       = "never"
)

// FixLoopSettings bound how often a pull request is sent back to be fixed.
type FixLoopSettings struct {
	MaxFixIterations int `json:"max_fix_iterations"` // 1 to 5, default 2
	FixTimeoutTurns  int `json:"fix_timeout_turns"`  // 5 to 30, default 10
	// When says which failing reports count: FixLoopAlways (default), FixLoopModels
	// or FixLoopNever.
	When string `json:"when"`
	// Team is asked to review a pull request that is escalated: a login, or a team
	// as "org/team-slug". Default none.
	Team string `json:"team"`
}

// Which failing reports are attempts of the fix loop.
const (
	FixLoopModels = "models" // those in which models took part
	FixLoopAlways = "always"
	FixLoopNever  = "never"
)

// Modes and drafts.
const (
	ModeEnforce  = "enforce"
	ModeAdvisory = "advisory"
	ModeOff      = "off"

	DraftsReview = "review"
	DraftsSkip   = "skip"
)

// ThresholdSettings are what review reports have to reach. A score equal to
// its threshold reaches it.
type ThresholdSettings struct {
	CompletenessScore float64 `json:"completeness_score"`  // default 0.7
	TestabilityScore  float64 `json:"testability_score"`   // default 0.7
	ClarityScore      float64 `json:"clarity_score"`       // default 0.6
	ConfidenceLevel   float64 `json:"confidence_level"`    // default 0.7
	MaxCriticalIssues int     `json:"max_critical_issues"` // reports of severity Critical, default 0
	MaxMajorIssues    int     `json:"max_major_issues"`    // reports of severity Major, default 3
}

// ModelSettings say how the reviews of language models count.
type ModelSettings struct {
	Strategy string `json:"strategy"` // models.StrategyParallel (default) or StrategySingle
	// Reviewers names the models, the weaker first, the stronger last: at most two, each as
	// often as it is to be asked, eight times in all. What a model says several times is one
	// voice. Where none are named, they are the first two of ModelEndpoints; without these,
	// models are taken by name.
	Reviewers []string `json:"reviewers"`
	// Blocking says what proves a model's finding: models.BlockingAgreed
	// (default) or BlockingGrounded.
	Blocking string `json:"model_blocking"`
	// Agreement says how it is told that findings of several models are about one thing:
	// AgreementAsked (default), by asking the first of the reviewers, or AgreementWords, by
	// their words alone, as where the model does not answer.
	Agreement string `json:"agreement"`
	// HoldForPerson says which unproven findings hold the gate until a person
	// decides: models.HoldCritical (default), HoldNever or HoldAlways.
	HoldForPerson string `json:"hold_for_person"`
	// SpeculativeQuality lets the quality stage of a pull request's first review
	// run beside the spec stage. Default true.
	SpeculativeQuality bool `json:"speculative_quality"`
	// AutoApprove and AutoReject let what the table of confidence decides become
	// a review on GitHub. Default false, both.
	AutoApprove bool `json:"auto_approve"`
	AutoReject  bool `json:"auto_reject"`
	// People are asked to review where a person decides: logins, or teams as
	// "org/team-slug". At most 15, default none.
	People []string `json:"people"`
	// GapDetector names the model that looks for what the config misses. Default
	// none.
	GapDetector string `json:"gap_detector"`
	// Verify names the model that is shown what another one alone found, and says whether
	// it is right. Default none.
	Verify string `json:"verify"`
}

// How agreement is told.
const (
	AgreementAsked = "asked"
	AgreementWords = "words"
)

// GateSettings are the gate's conditions, read top to bottom; the first that
// matches decides, and a report that matches none passes.
type GateSettings struct {
	Conditions []policies.GateCondition `json:"conditions"`
}

// SynthesisSettings steer stage 6.
type SynthesisSettings struct {
	ConfidenceGate     float64  `json:"confidence_gate"`     // default 0.50
	ProtectedArtifacts []string `json:"protected_artifacts"` // globs
	// InlineIgnore says which findings a comment "reviewgate:ignore RULE
	// reason" on or above the line takes out of the gate: IgnoreNotCritical
	// (default), IgnoreAll, IgnoreBaseOnly or IgnoreNone. A comment that the
	// change adds counts only once a person accepts it. None takes out what final
	// rules find.
	InlineIgnore string `json:"inline_ignore"`
	// JudgementCategories are categories of findings that a person weighs:
	// such findings are never fixed by themselves. Default scope, out-of-scope and priority.
	JudgementCategories []string `json:"judgement_categories"`
}

// What inline comments may take out of the gate.
const (
	IgnoreNotCritical = "not_critical"
	IgnoreAll         = "all"
	IgnoreBaseOnly    = "base_only" // like not_critical, without those that a change adds
	IgnoreNone        = "none"
)

// CommentSettings steer the comment.
type CommentSettings struct {
	When string `json:"when"` // CommentAlways (default), CommentFindings or CommentNever
}

// When a comment is written.
const (
	CommentAlways   = "always"
	CommentFindings = "findings"
	CommentNever    = "never"
)

// CheckSettings steer the check run.
type CheckSettings struct {
	Name        string `json:"name"`        // default reviewgate
	Annotations bool   `json:"annotations"` // default true
}

// IssueSettings say what becomes an issue when a pull request is merged. Both
// kinds are off by default: the App needs the permission to write issues.
type IssueSettings struct {
	TechDebt bool     `json:"tech_debt"` // warnings that were merged
	Gaps     bool     `json:"gaps"`      // concerns that the config missed
	PerDay   int      `json:"per_day"`   // new issues in any 24 hours, 1 to 100, default 5
	Labels   []string `json:"labels"`    // put on new issues
}

// LabelSettings say which labels a pull request gets.
type LabelSettings struct {
	Risk   bool   `json:"risk"`   // one for its risk level; default false
	Prefix string `json:"prefix"` // before the level, default "risk: "
	// Escalated puts the label review-escalated on pull requests that the fix loop
	// escalated. Default false.
	Escalated bool `json:"escalated"`
}

// LimitSettings bound the work.
type LimitSettings struct {
	AgentTimeoutSeconds int `json:"agent_timeout_seconds"` // 1 to 1800, default 120
	AgentRetries        int `json:"agent_retries"`         // 0 to 5, default 2
	AgentConcurrency    int `json:"agent_concurrency"`     // 1 to 64, default 8
	CommandsPerHour     int `json:"commands_per_hour"`     // reviews by command per PR, 1 to 1000, default 20
}
