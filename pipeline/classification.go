package pipeline

import "slices"

// Classification is what the files and words of a change say about it.
type Classification struct {
	Domains      List[Domain]  `json:"domains"`      // sorted by id
	Unclassified List[string]  `json:"unclassified"` // paths in no domain
	Services     List[Service] `json:"services"`     // sorted by id
	Type         string        `json:"type"`         // one of ChangeTypes
	TypeSource   string        `json:"type_source"`  // the evidence that decided the type, in words
	Scope        Scope         `json:"scope"`
	Risk         Risk          `json:"risk"`
}

// ChangeTypes are the types of a change. The last one is the type of a change of which nothing says
// more.
func ChangeTypes() []string {
	return []string{"feature", "fix", "docs", "test", "ci", "deps", "refactor", "perf", "chore", "build", "style", "revert", "release", "change"}
}

// HasDomain reports whether the change touches the domain.
func (c Classification) HasDomain(id string) bool {
	return slices.ContainsFunc(c.Domains, func(d Domain) bool { return d.ID == id })
}

// Domain is one area of the code base that the change touches.
type Domain struct {
	ID    string           `json:"id"`
	Files List[DomainFile] `json:"files"` // sorted by path
}

// DomainFile is a file with the mappings that put it into its domain.
type DomainFile struct {
	Path     string       `json:"path"`
	Mappings List[string] `json:"mappings"` // globs, sorted
}

// Service is one deployable part that the change touches.
type Service struct {
	ID    string       `json:"id"`
	Files List[string] `json:"files"`
}

// Size grades a change by its changed lines, without generated and vendored files: XS <= 10, S <=
// 50, M <= 250, L <= 1000, XL above.
type Size string

// The five sizes.
const (
	SizeXS Size = "XS"
	SizeS  Size = "S"
	SizeM  Size = "M"
	SizeL  Size = "L"
	SizeXL Size = "XL"
)

// Rank is 1 for XS to 5 for XL, and 0 for anything else.
func (s Size) Rank() int {
	return 1 + slices.Index([]Size{SizeXS, SizeS, SizeM, SizeL, SizeXL}, s)
}

// Scope is how large and how broad a change is.
type Scope struct {
	Size         Size   `json:"size"`
	ChangedLines int    `json:"changed_lines"` // without generated and vendored files
	Breadth      string `json:"breadth"`       // none, single, several
}

// RiskLevel grades a risk score: low < 25 <= medium < 50 <= high < 75 <= critical.
type RiskLevel string

// The four risk levels.
const (
	RiskLow      RiskLevel = "low"
	RiskMedium   RiskLevel = "medium"
	RiskHigh     RiskLevel = "high"
	RiskCritical RiskLevel = "critical"
)

// Rank is 1 for low to 4 for critical, and 0 for anything else.
func (r RiskLevel) Rank() int {
	return 1 + slices.Index([]RiskLevel{RiskLow, RiskMedium, RiskHigh, RiskCritical}, r)
}

// Risk is a score of 0 to 100, with the reasons that add up to it. The sum is capped at 100.
type Risk struct {
	Score   int              `json:"score"`
	Level   RiskLevel        `json:"level"`
	Reasons List[RiskReason] `json:"reasons"`
}

// RiskReason is what one factor added to the score.
type RiskReason struct {
	Factor string `json:"factor"`
	Points int    `json:"points"`
	Reason string `json:"reason"`
}
