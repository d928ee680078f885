package config

import (
	"cmp"
	"crypto/sha256"
	"maps"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies"
)

// These are the five config files. Prompts are beside them, each in a file prompt-NAME.md.
const (
	FileRules       = "review-rules.json"
	FileComposition = "review-composition.json"
	FileAgents      = "review-agents.json"
	FileDomains     = "review-domains.json"
	FileSettings    = "review-settings.json"
)

// RepositoryDir is the directory of a repository's config files.
const RepositoryDir = ".github/reviewgate"

// Config is all layers merged and validated. Every agent, domain and service that an entry refers
// to exists, except domains that only the shipped policies of language models name. Every pattern
// and glob compiles. Config has what is in force. Entries that are switched off are left out. If an
// agent is off, its rules, its signals and its places in policies are left out too, and only Agents
// still lists it, with Enabled false. Entries are in the order in which the layers first name them.
//
// A Config is never changed after Load has returned it.
type Config struct {
	InForce pipeline.ConfigInForce
	// Key identifies the config: it is made from all texts of the layers that are used.
	// InForce.Version is for people. It is too short to be a key, and it is made from blob SHAs
	// that came with the texts.
	Key [sha256.Size]byte

	Rules []Rule
	// Strict are the rules that the profile leaves out: those of ProfileStrict, unless Settings.Profile
	// is ProfileStrict. Final rules are never left out.
	Strict   []Rule
	Policies []Policy
	Agents   []Agent
	Domains  []DomainMapping
	Services []ServiceMapping
	Risk     []RiskFactor
	Signals  []Signal
	Settings Settings
	// Floors are the floors of the layers that made something final, lowest first.
	Floors []Floor
	// Evaluation is the config with everything that is in evaluation enforced. Of the enforced rules it
	// has only those that may find more then. It is nil if nothing is in evaluation. In the other
	// fields, what is in evaluation counts as switched off.
	Evaluation *Config
	// Names are the full names that the reviewed repository had before; see Mode.
	Names []string
	// DomainsForm and CompositionForm are the forms of the repository's review-domains.json and
	// review-composition.json, as Form constants. A patch of these files must fit the form.
	DomainsForm, CompositionForm string

	fileNames map[string]string            // see FileName
	layers    map[string]map[string]string // by file and id: the layer that names the entry first
	modeLayer string                       // the layer that wrote Settings.Mode
	prompts   map[string][]Prompt          // by name, lowest layer first
	heldBy    map[string]string            // by agent: the lowest layer that made the agent final, or something that needs the agent
	wordedBy  map[string]string            // by rule: the highest layer that wrote its name or detection
	ruledBy   map[string]string            // by service mapping: the layer that wrote its rules
	modes     map[string]map[string]string // by file and id: the layer that set the mode of a rule or agent
	unused    map[string]bool              // by agent: whether the defaults switch it off and nobody switched it on
	// These are the layers that made rules and agents final, by id; see FinalIn.
	finalRules, finalAgents map[string]string
	weakened                []pipeline.ConfigProblem             // see Weakened
	places                  map[[2]string]pipeline.ConfigProblem // see stack.places
}

// LayerOf returns the layer that first names an entry of a file. If the repository changes the
// severity of a shipped rule, this is still LayerDefaults. It returns "" if there is no such entry.
func (c *Config) LayerOf(file, id string) string { return c.layers[file][id] }

// Rule says what to look for, which agent looks for it, and how severe it is. A rule with a Match
// is machine-checkable. A rule without one is prose for a model agent's checklist. A new rule needs
// an ID, a Severity, a Description, and a Match, a When or a Detection.
type Rule struct {
	ID       string            `json:"id"`
	Enabled  bool              `json:"enabled"` // default true
	Name     string            `json:"name"`    // default: the first sentence of Description
	Severity pipeline.Severity `json:"severity"`
	// SeverityIn raises the severity in files of a domain, by the domain's name. A file in several
	// domains gets the highest. It never lowers the severity.
	SeverityIn     map[string]pipeline.Severity `json:"severity_in,omitempty"`
	Agent          string                       `json:"agent"`          // default build-reviewer
	Category       string                       `json:"category"`       // default custom
	Description    string                       `json:"description"`    // what is wrong and why it matters
	Detection      string                       `json:"detection"`      // what to look for; default Description
	Recommendation string                       `json:"recommendation"` // how to fix it; may be empty
	Reference      string                       `json:"reference,omitempty"`
	Match          *Match                       `json:"match,omitempty"`
	// When is a CEL expression over the whole change. Without a Match, the rule has one finding if
	// the expression holds. With a Match, the matches count only if it holds.
	When  string `json:"when,omitempty"`
	Mode  string `json:"mode,omitempty"` // ModeEnforce (default) or ModeEvaluate
	Final bool   `json:"final"`          // default false; see the package's documentation
	// Profile is the profile that the rule belongs to, ProfileDefault (default) or ProfileStrict.
	Profile string `json:"profile,omitempty"`
	// Linters are the checks of linters that look for the same, by the linter's name. Where the base
	// asks such a linter to be silent, the rule is silent too, within limits; see the guide.
	Linters map[string][]string `json:"linters,omitempty"`
	// Style says that the rule is about style or a convention. Where the base has enough such places in
	// the same directory, new ones are only for information; see IsStyle. Default false.
	Style bool `json:"style,omitempty"`
}

// These are the profiles. The profile default has what most teams would fix. The profile strict adds
// style and conventions.
const (
	ProfileDefault = "default"
	ProfileStrict  = "strict"
)

// IsStyle reports whether what a directory already has makes the rule's findings there milder. No rule
// is on style that is final, can block, or is about security or correctness.
func (r *Rule) IsStyle() bool { return r.Style && r.notStyle() == "" }

// notStyle is why the rule can't be on style, or "".
func (r *Rule) notStyle() string {
	switch {
	case r.Match == nil || r.Match.On != "" && r.Match.On != OnAdded:
		return "does not look at added lines"
	case r.Final:
		return "is final"
	case r.Highest().Rank() >= pipeline.SeverityMajor.Rank():
		return "can block"
	case IsSecurity(r.Agent, r.Category):
		return "is about security"
	case r.Category == categoryCorrectness:
		return "is about correctness"
	}
	return ""
}

// categoryCorrectness is the category of rules about code that does something else than it should.
const categoryCorrectness = "correctness"

// Highest is the highest severity that the rule's findings can have.
func (r *Rule) Highest() pipeline.Severity {
	return r.SeverityOf(slices.Collect(maps.Keys(r.SeverityIn)))
}

// SeverityOf is the severity of a finding in a file of these domains.
func (r *Rule) SeverityOf(domains []string) pipeline.Severity {
	if len(r.SeverityIn) == 0 {
		return r.Severity
	}
	highest := r.Severity
	for _, d := range domains {
		if s, ok := r.SeverityIn[d]; ok && s.Rank() > highest.Rank() {
			highest = s
		}
	}
	return highest
}

// NotBefore says from which day on lines count. The day is compared with the facts' ObservedAt.
type NotBefore struct {
	Pattern string `json:"pattern"` // RE2
	Day     string `json:"day"`     // in UTC, as in "2027-04-30"
}

// Match makes a rule machine-checkable. Exactly one of Pattern and Literal is set. On says what is
// matched in the files that the other fields select.
type Match struct {
	Pattern    string `json:"pattern,omitempty"` // RE2
	Literal    string `json:"literal,omitempty"`
	NotPattern string `json:"not_pattern,omitempty"` // RE2; a match does not count if its statement matches this
	// NotInFile leaves out the matches in a file if any line of the file at the head that the diff
	// shows matches this RE2. NotInChange does so if a line of any file of the change does.
	NotInFile   string `json:"not_in_file,omitempty"`
	NotInChange string `json:"not_in_change,omitempty"`
	// NotBefore leaves out the matches on a line that one of these patterns matches, until its day.
	NotBefore []NotBefore `json:"not_before,omitempty"`
	// Source matches untrusted data, in RE2. A match does not count if its statement names
	// untrusted data only in calls of the functions in SafeCalls, and these calls are used alone or
	// in calls of the functions in SafeWithin or of the function that the match begins with. Only
	// the code between strings is read. A function is a name such as path.basename, a method of any
	// object such as .getName, a method of a function's result such as File().getName, or [] for an
	// index. It makes its first argument harmless if the others are plain constants. With (_, *)
	// behind its name, it makes all other arguments harmless.
	Source       string   `json:"source,omitempty"`
	SafeCalls    []string `json:"safe_calls,omitempty"`
	SafeWithin   []string `json:"safe_within,omitempty"`
	Paths        []string `json:"paths,omitempty"` // globs; none means every file
	ExcludePaths []string `json:"exclude_paths,omitempty"`
	Languages    []string `json:"languages,omitempty"` // go-enry's names; none means every language
	// On is what is matched: added (default), removed, file (the path of a changed file that is not
	// removed, once for each file), title, body, commit_message, or path (of an added, renamed or
	// copied file).
	On         string `json:"on,omitempty"`
	MaxPerFile int    `json:"max_per_file,omitempty"` // 0: no limit
	// Fix makes the suggested fix: it replaces the matched text in a copy of the line. $1 or
	// ${name} refer to groups.
	Fix string `json:"fix,omitempty"`
	// Net leaves out added lines that match if they replace a removed line of the same block that
	// matches too, and the reverse. So a line that moves or changes its version is not new. On
	// added lines, rules of severity major or critical report each line all the same. Default false.
	Net bool `json:"net,omitempty"`
	// Tests says whether the rule also looks at test files. Default true.
	Tests *bool `json:"tests,omitempty"`
	// Comments says whether the rule also looks at text that is certainly a comment in the file's
	// language. Default true.
	Comments *bool `json:"comments,omitempty"`
	// Moved says whether a removed line counts if the change adds it again elsewhere, in any file but
	// documentation. Indentation, quotation marks and what follows a colon may differ. Default true.
	Moved *bool `json:"moved,omitempty"`
}

// A Match can look at one of these.
const (
	OnAdded         = "added"
	OnRemoved       = "removed"
	OnFile          = "file"
	OnTitle         = "title"
	OnBody          = "body"
	OnCommitMessage = "commit_message"
	OnPath          = "path"
)

// OnlyPaths reports whether the match looks at the paths of files, and not at their text.
func (m *Match) OnlyPaths() bool { return m.On == OnFile || m.On == OnPath }

// Policy says when which agents are dispatched.
type Policy struct {
	ID          string           `json:"id"`
	Enabled     bool             `json:"enabled"` // default true
	Description string           `json:"description"`
	Priority    int              `json:"priority"` // 0 to 100
	Trigger     policies.Trigger `json:"trigger"`
	Dispatch    Dispatch         `json:"dispatch"`
	Mode        string           `json:"mode,omitempty"` // ModeEnforce (default) or ModeEvaluate
	Final       bool             `json:"final"`
}

// Dispatch says what a policy does when its trigger holds.
type Dispatch struct {
	Agents    []string           `json:"agents"`
	Required  bool               `json:"required"`
	OnFailure pipeline.OnFailure `json:"on_failure,omitempty"` // default block
	Scope     string             `json:"scope,omitempty"`      // ScopeAll (default) or ScopeMatched
	Models    []string           `json:"models,omitempty"`
}

// These are the scopes of a dispatch.
const (
	ScopeAll     = "all"
	ScopeMatched = "matched" // the files that made the trigger hold
)

// The items of review-domains.json have a "type": domain, service, risk or signal.

// DomainMapping puts files into a domain. Several mappings may name one
// domain.
type DomainMapping struct {
	ID          string   `json:"id"`
	Enabled     bool     `json:"enabled"` // default true
	Domain      string   `json:"domain"`
	Description string   `json:"description"`
	Globs       []string `json:"globs"`
	Weight      int      `json:"weight"`           // risk points that touching the domain adds, 0 (default) to 100; the greatest of a domain counts
	Covers      string   `json:"covers,omitempty"` // a domain of the same concern: if it is touched, this domain's files add no points
	Final       bool     `json:"final"`
}

// ServiceMapping puts files into a deployable service.
type ServiceMapping struct {
	ID          string   `json:"id"`
	Enabled     bool     `json:"enabled"`
	Service     string   `json:"service"`
	Description string   `json:"description"`
	Globs       []string `json:"globs"`
	Rules       []string `json:"rules,omitempty"` // what language models are told to hold the service's files to
	Final       bool     `json:"final"`
}

// RiskFactor gives points to one property that makes a change risky.
type RiskFactor struct {
	ID          string   `json:"id"`
	Enabled     bool     `json:"enabled"`
	Factor      string   `json:"factor"` // one of the Risk constants
	Description string   `json:"description"`
	Points      int      `json:"points"`           // the most points; RiskSensitivePath counts once for any number of files
	Globs       []string `json:"globs,omitempty"`  // for RiskSensitivePath
	Covers      string   `json:"covers,omitempty"` // as of DomainMapping; for RiskSensitivePath, RiskWorkflow and RiskDependencies
	Final       bool     `json:"final"`
}

// These are the risk factors. Domains have their points in their mappings' weight.
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

// Signal looks for a concern on added lines of files whose domains do not cover the concern, and
// sends an agent to them.
type Signal struct {
	ID          string   `json:"id"`
	Enabled     bool     `json:"enabled"`
	Concern     string   `json:"concern"`        // money-arithmetic, authentication, ...
	Name        string   `json:"name,omitempty"` // the name of the concern for people, such as "SQL building"; see Title
	Description string   `json:"description"`
	Pattern     string   `json:"pattern"`          // RE2 on added lines
	Within      []string `json:"within,omitempty"` // WithinCode and so on: where matches must start; none means anywhere
	Globs       []string `json:"globs,omitempty"`
	Languages   []string `json:"languages,omitempty"`
	Domain      string   `json:"domain"` // files in it are covered; the suggested patch maps the file to it
	Agent       string   `json:"agent"`  // the agent that looks at the concern
	Final       bool     `json:"final"`
}

// Title returns the concern's name for people: Name, or else the concern with spaces for its
// dashes.
func (s *Signal) Title() string {
	return cmp.Or(s.Name, strings.NewReplacer("-", " ", "_", " ").Replace(s.Concern))
}

// A signal can be limited to these parts of a line. Comments and strings are recognised in the most
// common languages. In any other language, every match counts.
const (
	WithinCode     = "code" // including the quotes
	WithinStrings  = "strings"
	WithinComments = "comments"
)

// Settings is review-settings.json.
type Settings struct {
	Mode      string            `json:"mode"`    // ModeEnforce, ModeAdvisory or ModeOff
	Profile   string            `json:"profile"` // ProfileDefault (also if empty) or ProfileStrict
	Drafts    string            `json:"drafts"`  // DraftsReview or DraftsSkip
	Gate      GateSettings      `json:"gate"`
	Synthesis SynthesisSettings `json:"synthesis"`
	Comment   CommentSettings   `json:"comment"`
	Check     CheckSettings     `json:"check"`
	Limits    LimitSettings     `json:"limits"`
	FixLoop   FixLoopSettings   `json:"fix_loop"`

	Thresholds ThresholdSettings `json:"thresholds"`
	Models     ModelSettings     `json:"models"`
	Commands   CommandSettings   `json:"commands"`
	Memory     MemorySettings    `json:"memory"`
	Secrets    SecretSettings    `json:"secrets"`
	// Ignore lists paths whose findings do not count. The lists of all layers are joined.
	Ignore []Ignored `json:"ignore"`

	// Probation says what happens to a rule that people judge wrong too often: ProbationPropose
	// (default) or ProbationAuto. ProbationBar is the precision below which that is the case, 0 to 1,
	// default 0.5; at 0 it is never the case.
	Probation    string  `json:"probation"`
	ProbationBar float64 `json:"probation_bar"`

	Sessions SessionSettings `json:"sessions"`

	Issues IssueSettings `json:"issues"`
	Labels LabelSettings `json:"labels"`

	// The other settings are for the server's layer only.

	// Repositories choose the mode by repository. The first entry that matches counts, unless the
	// repository's own layer sets the mode.
	Repositories []RepositoryMode `json:"repositories,omitempty"`
	// Organisations say what the layers of organisations may do. An organisation without an entry
	// can't loosen anything.
	Organisations []Organisation `json:"organisations,omitempty"`
	// ConfigBranches are globs of base branches that have config of their own. Pull requests into
	// other branches are reviewed with the default branch's config.
	ConfigBranches []string `json:"config_branches,omitempty"`
	// ModelEndpoints are the language models that agents may ask. Without endpoints, agents of kind
	// llm are left out.
	ModelEndpoints []ModelEndpoint `json:"model_endpoints,omitempty"`
	ModelBudget    ModelBudget     `json:"model_budget"`
	// EscalationWebhook is called when a blocker pauses a session. By default nothing is called.
	EscalationWebhook *Receiver `json:"escalation_webhook,omitempty"`
	// Final names settings that later layers can't change: "mode", a section such as "gate", or one
	// field of a section such as "check.name". The organisation's layer may have it too.
	Final []string `json:"final,omitempty"`
	// FinalAuthority lists the teams, each "org/team-slug", and the logins who alone may take a
	// final finding out of the gate. It applies only to what the layer itself made final. At most
	// 20, default none. The organisation's layer may have it too.
	FinalAuthority []string `json:"final_authority,omitempty"`
}

// RepositoryMode sets the mode of the repositories (owner/name) that a glob matches.
type RepositoryMode struct {
	Globs []string `json:"globs"`
	Mode  string   `json:"mode"`
}

// Ignored lists paths whose findings by some agents or rules do not count. The agent for secrets
// can't ignore paths.
type Ignored struct {
	Paths  []string `json:"paths"`
	Agents []string `json:"agents,omitempty"` // none means all agents except the one for secrets
	Rules  []string `json:"rules,omitempty"`  // none means all rules
	Reason string   `json:"reason"`
}

// SecretSettings say which values only look like secrets. The lists of all layers are joined.
type SecretSettings struct {
	Allow []SecretAllowance `json:"allow"` // at most 100 in all layers, default none
}

// SecretAllowance is one value in secrets.allow. The value is still replaced by a placeholder
// everywhere, but gives no finding.
type SecretAllowance struct {
	Rule string `json:"rule"` // the rule of the finding, such as "secret-github-pat"
	// Paths are globs of files. Without any, the value is allowed everywhere, also in titles,
	// descriptions and messages.
	Paths  []string `json:"paths,omitempty"`
	Value  string   `json:"value"` // "scrypt:SALT:HASH", see secrets.HashValue
	Reason string   `json:"reason"`
	// Expires is the last day on which the entry counts, in UTC, as in "2027-01-31". Empty means
	// that it does not expire.
	Expires string `json:"expires,omitempty"`
}

// Organisation says what an organisation's layer may do.
type Organisation struct {
	Name      string `json:"name"`       // login
	MayWeaken bool   `json:"may_weaken"` // whether it may loosen the server's config; default false
}

// CommandSettings say who may give slash commands, in addition to GitHub's permissions.
type CommandSettings struct {
	// OverrideTeams are teams, each "org/team-slug", whose members may do what otherwise needs the
	// permission maintain. At most 20, default none.
	OverrideTeams []string `json:"override_teams"`
	// SelfJudgement says who may dismiss, accept and override on their own pull request, which is
	// one that they opened or pushed to: SelfJudgementMaintainers (default) or SelfJudgementNever.
	SelfJudgement string `json:"self_judgement"`
}

// MemorySettings say who teaches reviewgate, and for how long that holds.
type MemorySettings struct {
	// Approvers may approve and revoke records of memory without the permission maintain: logins, and
	// teams of the repository's organisation as "org/team-slug". At most 20, default none.
	Approvers []string `json:"approvers"`
	// ExpiryDays is how long a record stays active without having an effect. 1 to 3650, default 180.
	ExpiryDays int `json:"expiry_days"`
}

// These people may judge their own pull request.
const (
	SelfJudgementMaintainers = "maintainers" // everyone with the permission maintain; the audit log records it
	SelfJudgementNever       = "never"
)

// FixLoopSettings limit how often a pull request is sent back to be fixed.
type FixLoopSettings struct {
	MaxFixIterations int `json:"max_fix_iterations"` // 1 to 5, default 2
	FixTimeoutTurns  int `json:"fix_timeout_turns"`  // 5 to 30, default 10
	// When says which failing reports count: FixLoopAlways (default), FixLoopModels
	// or FixLoopNever.
	When string `json:"when"`
	// Team is asked to review an escalated pull request: a login, or a team as "org/team-slug".
	// Default none.
	Team string `json:"team"`
}

// These failing reports count as attempts of the fix loop.
const (
	FixLoopModels = "models" // reports in which models took part
	FixLoopAlways = "always"
	FixLoopNever  = "never"
)

// These are the modes, and the ways to treat drafts.
const (
	ModeEnforce  = "enforce"
	ModeAdvisory = "advisory"
	ModeOff      = "off"

	// ModeEvaluate is a mode of rules, policies and agents only.
	ModeEvaluate = "evaluate"

	DraftsReview = "review"
	DraftsSkip   = "skip"
)

// ThresholdSettings are the scores that review reports must reach. A score equal to its threshold
// reaches it.
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
	// Reviewers names the models, the weaker first and the stronger last: at most two, each as
	// often as it is to be asked, up to eight times in all. Several answers of one model count as
	// one voice. The default is the first two of ModelEndpoints. Without endpoints, the order of
	// models is that of their names.
	Reviewers []string `json:"reviewers"`
	// Blocking says what proves a model's finding: models.BlockingAgreed (default) or
	// BlockingGrounded.
	Blocking string `json:"model_blocking"`
	// Agreement says how findings of several models are recognised as the same: AgreementAsked
	// (default) asks the first of the reviewers, and AgreementWords compares their words. If the
	// model does not answer, the words decide too.
	Agreement string `json:"agreement"`
	// HoldForPerson says which unproven findings hold the gate until a person decides:
	// models.HoldCritical (default), HoldNever or HoldAlways.
	HoldForPerson string `json:"hold_for_person"`
	// SpeculativeQuality runs the quality stage of a pull request's first review beside the spec
	// stage. Default true.
	SpeculativeQuality bool `json:"speculative_quality"`
	// AutoApprove and AutoReject submit the decision of the confidence table as a review on GitHub.
	// Default false for both.
	AutoApprove bool `json:"auto_approve"`
	AutoReject  bool `json:"auto_reject"`
	// People are asked to review if a person must decide: logins, or teams as "org/team-slug". At
	// most 15, default none.
	People []string `json:"people"`
	// GapDetector names the model that looks for what the config misses. Default none.
	GapDetector string `json:"gap_detector"`
	// Verify names the model that checks findings of only one other model. Default none.
	Verify string `json:"verify"`
}

// Findings of several models are recognised as the same in one of these ways.
const (
	AgreementAsked = "asked"
	AgreementWords = "words"
)

// GateSettings has the gate's conditions. They are read from top to bottom, and the first that
// holds decides. A report for which none holds passes.
type GateSettings struct {
	Conditions []policies.GateCondition `json:"conditions"`
}

// SynthesisSettings are the settings of stage 6.
type SynthesisSettings struct {
	ConfidenceGate     float64  `json:"confidence_gate"`     // default 0.50
	ProtectedArtifacts []string `json:"protected_artifacts"` // globs
	// InlineIgnore says which findings a comment "reviewgate:ignore RULE reason" on or above the
	// line takes out of the gate: IgnoreNotCritical (default), IgnoreAll, IgnoreBaseOnly or
	// IgnoreNone. A comment that the change adds counts only after a person accepts it. Findings of
	// final rules can't be ignored.
	InlineIgnore string `json:"inline_ignore"`
	// JudgementCategories are categories of findings that a person must weigh. Such findings are
	// never applied automatically. Default scope, out-of-scope and priority.
	JudgementCategories []string `json:"judgement_categories"`
}

// Inline comments may take these findings out of the gate.
const (
	IgnoreNotCritical = "not_critical"
	IgnoreAll         = "all"
	IgnoreBaseOnly    = "base_only" // like not_critical, but comments that a change adds don't count
	IgnoreNone        = "none"
)

// CommentSettings are the settings of the comment.
type CommentSettings struct {
	When     string                `json:"when"`     // CommentAlways, CommentFindings (default) or CommentNever
	Sections pipeline.List[string] `json:"sections"` // that the comment has beside the check: SectionCoverage, SectionGaps, SectionReport
	Inline   string                `json:"inline"`   // InlineNone (default), InlineBlocking or InlineAll
}

// Sections that the check has, and the comment only if the settings say so.
const (
	SectionCoverage = "coverage"
	SectionGaps     = "gaps"
	SectionReport   = "report" // for other tools
)

// The comment is written in these cases.
const (
	CommentAlways   = "always"
	CommentFindings = "findings"
	CommentNever    = "never"
)

// These new findings on lines of the diff get a comment on their lines.
const (
	InlineNone     = "none"
	InlineBlocking = "blocking" // critical and major ones, and those that wait for a person
	InlineAll      = "all"
)

// CheckSettings are the settings of the check run.
type CheckSettings struct {
	Name        string `json:"name"`        // default reviewgate
	Annotations bool   `json:"annotations"` // default true
}

// IssueSettings say what becomes an issue: of a merged pull request, and of what people judge. All
// kinds are off by default, because the App needs the permission to write issues.
type IssueSettings struct {
	TechDebt  bool     `json:"tech_debt"` // warnings in merged changes
	Gaps      bool     `json:"gaps"`      // concerns that the config misses
	Probation bool     `json:"probation"` // rules and agents that people judge wrong too often
	PerDay    int      `json:"per_day"`   // new issues in any 24 hours, 1 to 100, default 5
	Labels    []string `json:"labels"`    // labels of new issues
}

// LabelSettings say which labels a pull request gets.
type LabelSettings struct {
	Risk   bool   `json:"risk"`   // a label for the risk level; default false
	Prefix string `json:"prefix"` // the text before the level, default "risk: "
	// Escalated puts the label review-escalated on pull requests that the fix loop escalated.
	// Default false.
	Escalated bool `json:"escalated"`
}

// LimitSettings limit the work.
type LimitSettings struct {
	AgentTimeoutSeconds int `json:"agent_timeout_seconds"` // 1 to 1800, default 120
	AgentRetries        int `json:"agent_retries"`         // 0 to 5, default 2
	AgentConcurrency    int `json:"agent_concurrency"`     // 1 to 64, default 8
	CommandsPerHour     int `json:"commands_per_hour"`     // reviews by command for one pull request, 1 to 1000, default 20
}
