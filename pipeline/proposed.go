package pipeline

// ProposedConfig says what a change to the repository's config would do once it is merged: whether
// the config is valid, what changes in it, and what the result of this same review would be with
// it. It never gates.
type ProposedConfig struct {
	Files    List[string]        `json:"files"` // config files that the change touches, sorted
	Problems List[ConfigProblem] `json:"problems"`
	// Note says why the config could not be tried, if its problems are not the reason. Decision is
	// empty then, and if there are problems.
	Note      string   `json:"note"`
	Decision  Decision `json:"decision"`
	Condition string   `json:"condition"`
	Counts    Counts   `json:"counts"`
	// Mode is the repository's new mode if it changes: enforce, advisory or off.
	Mode string `json:"mode,omitempty"`
	// Changes are the first MaxConfigChanges entries and settings that differ from the config in
	// force, by file and then id. ChangesMore counts the others.
	Changes     List[ConfigChange] `json:"changes"`
	ChangesMore int                `json:"changes_more"`
	// AgentsAdded would run on this change and did not, and AgentsGone ran and would not. Both are
	// sorted.
	AgentsAdded List[string] `json:"agents_added"`
	AgentsGone  List[string] `json:"agents_gone"`
	// FindingsNew and FindingsGone count the findings of this change that only one of the configs
	// makes.
	FindingsNew  int `json:"findings_new"`
	FindingsGone int `json:"findings_gone"`
	// Findings are the first MaxConfigFindings of them, those that are new before those that are gone.
	Findings List[ConfigFinding] `json:"findings,omitempty"`
	// Exceptions is set if the change edits .gitattributes or .gitleaks.toml. Covered lists what
	// these would newly say about the change's files.
	Exceptions bool          `json:"exceptions,omitempty"`
	Covered    List[Covered] `json:"covered,omitempty"`
	// Tests says what came of the policy tests under the proposed config. It is nil if the config has
	// no tests or could not be tried.
	Tests *PolicyTests `json:"tests,omitempty"`
}

// ConfigFinding is a finding of a change that only one of two configs makes.
type ConfigFinding struct {
	Gone     bool     `json:"gone"` // the proposed config does not make it
	Severity Severity `json:"severity"`
	Title    string   `json:"title"`
	Path     string   `json:"path"` // empty if it is about the change as a whole
	Line     int      `json:"line"` // 0 if it is about the whole file
	RuleID   string   `json:"rule_id"`
}

// MaxConfigFindings bounds how many findings a proposed config lists.
const MaxConfigFindings = 10

// Covered are the first MaxCovered files of the change that proposed exceptions would classify in
// one way. More counts the others.
type Covered struct {
	As    string       `json:"as"` // CoveredGenerated and so on
	Files List[string] `json:"files"`
	More  int          `json:"more"`
}

// MaxCovered bounds the Files of a Covered.
const MaxCovered = 20

// The classifications of files by proposed exceptions.
const (
	CoveredGenerated     = "generated"
	CoveredVendored      = "vendored"
	CoveredDocumentation = "documentation"
	CoveredUnread        = "unread" // binary, so that the file need not be read
)

// MaxConfigChanges bounds how many changes of a proposed config are listed, and so the size of a
// stored report. Nobody reads more.
const MaxConfigChanges = 200

// ConfigChange is one entry, or one setting, that a proposed config changes.
type ConfigChange struct {
	File   string       `json:"file"`   // such as review-rules.json
	ID     string       `json:"id"`     // the entry's id, a setting's path such as gate.conditions, or a prompt's name
	Change string       `json:"change"` // ChangeAdded, ChangeRemoved or ChangeChanged
	Fields List[string] `json:"fields"` // the differing fields, for ChangeChanged
}

// What a proposed config does to an entry. A disabled entry counts as removed.
const (
	ChangeAdded   = "added"
	ChangeRemoved = "removed"
	ChangeChanged = "changed"
)

// PolicyTests is what came of the policy tests of a proposed config.
type PolicyTests struct {
	Cases  int `json:"cases"` // that can be read
	Failed int `json:"failed"`
	NotRun int `json:"not_run"` // within their time
	// Failures are the first MaxTestFailures cases that fail, and Problems the first
	// MaxTestProblems reasons why cases can't be read. ProblemsMore counts the others.
	Failures     List[TestFailure]   `json:"failures"`
	Problems     List[ConfigProblem] `json:"problems"`
	ProblemsMore int                 `json:"problems_more"`
	Note         string              `json:"note"` // why the tests could not be run, or empty
}

// TestFailure is a policy test that fails.
type TestFailure struct {
	Name string `json:"name"`
	Why  string `json:"why"` // the first difference, and how many more there are
}

// MaxTestFailures and MaxTestProblems bound what is listed of policy tests.
const (
	MaxTestFailures = 3
	MaxTestProblems = 2
)
