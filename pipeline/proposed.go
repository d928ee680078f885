package pipeline

// ProposedConfig says what a change to the repository's config would bring,
// once it is merged: whether it is valid, what of the config it changes, and
// what this very review would have been with it. It never gates.
type ProposedConfig struct {
	Files    List[string]        `json:"files"` // config files that the change touches, sorted
	Problems List[ConfigProblem] `json:"problems"`
	// Note says why the config could not be tried, where that is not for its
	// problems. Decision is empty then, and where there are problems.
	Note      string   `json:"note"`
	Decision  Decision `json:"decision"`
	Condition string   `json:"condition"`
	Counts    Counts   `json:"counts"`
	// Mode is that of the repository, where it would be another than it is: enforce,
	// advisory or off.
	Mode string `json:"mode,omitempty"`
	// Changes are the entries and settings that differ from the config in
	// force, by file, then id: the first MaxConfigChanges of them. ChangesMore
	// counts the others.
	Changes     List[ConfigChange] `json:"changes"`
	ChangesMore int                `json:"changes_more"`
	// AgentsAdded would run on this change and did not, AgentsGone the other
	// way round; both sorted.
	AgentsAdded List[string] `json:"agents_added"`
	AgentsGone  List[string] `json:"agents_gone"`
	// FindingsNew and FindingsGone count this change's findings by rule id (or
	// title) and place.
	FindingsNew  int `json:"findings_new"`
	FindingsGone int `json:"findings_gone"`
	// Exceptions is set if the change edits .gitattributes or .gitleaks.toml. Covered
	// lists what these would newly say about the change's files.
	Exceptions bool          `json:"exceptions,omitempty"`
	Covered    List[Covered] `json:"covered,omitempty"`
}

// Covered are the files of the change that proposed exceptions would take for
// something: the first MaxCovered of them. More counts the others.
type Covered struct {
	As    string       `json:"as"` // CoveredGenerated and so on
	Files List[string] `json:"files"`
	More  int          `json:"more"`
}

// MaxCovered bounds the Files of a Covered.
const MaxCovered = 20

// What proposed exceptions may take a file for.
const (
	CoveredGenerated     = "generated"
	CoveredVendored      = "vendored"
	CoveredDocumentation = "documentation"
	CoveredUnread        = "unread" // binary, so that it need not be read
)

// MaxConfigChanges bounds how many changes of a proposed config are listed, and
// with them a report that is stored. Nobody reads more.
const MaxConfigChanges = 200

// ConfigChange is one entry, or one setting, that a proposed config changes.
type ConfigChange struct {
	File   string       `json:"file"`   // such as review-rules.json
	ID     string       `json:"id"`     // of the entry; of a setting its path, such as gate.conditions; of a prompt its name
	Change string       `json:"change"` // ChangeAdded, ChangeRemoved or ChangeChanged
	Fields List[string] `json:"fields"` // that differ, for ChangeChanged
}

// What a proposed config does to an entry. One that is switched off is
// removed.
const (
	ChangeAdded   = "added"
	ChangeRemoved = "removed"
	ChangeChanged = "changed"
)
