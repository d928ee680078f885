package pipeline

// Memory is what people taught reviewgate about a repository, as it stood when
// the review began. It is an input of the review like the facts are.
type Memory struct {
	Dismissed      List[Dismissal]     `json:"dismissed"`       // of this pull request
	FalsePositives List[FalsePositive] `json:"false_positives"` // of the repository
}

// Dismissal takes one finding of a pull request out of the gate. One that was
// merged of several has a Dismissal for each of its fingerprints.
type Dismissal struct {
	Fingerprint string `json:"fingerprint"`
	Path        string `json:"path"` // of the finding when it was dismissed
	Reason      string `json:"reason"`
	By          string `json:"by"` // login
	// Override says that the person had the right to set a critical finding
	// aside.
	Override bool `json:"override"`
}

// FalsePositive is a pattern that models are known to be wrong about.
type FalsePositive struct {
	Pattern string       `json:"pattern"` // a rule id, or a normalised title
	Reason  string       `json:"reason"`
	Globs   List[string] `json:"globs"` // where it holds; none means everywhere
}
