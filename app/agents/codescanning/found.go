package codescanning

// Run is another App's check run.
type ScanRun struct {
	ID          int64
	Name        string
	App         string // slug
	Completed   bool
	Cut         bool // it was completed, and not by its own end: see CutShort
	Annotations int
}

// Annotation is a remark of a check run on lines of a file. Its texts have at
// most MaxText bytes.
type ScanAnnotation struct {
	Path               string
	StartLine, EndLine int
	Level              string // failure, warning or notice
	Title              string
	Message            string
	RawDetails         string
}

// Alert is an open code scanning alert. Its texts have at most MaxText bytes.
type ScanAlert struct {
	Number             int
	Tool, Rule         string
	Title              string // of the rule
	Severity           string // error, warning, note or none
	SecuritySeverity   string // critical, high, medium, low or empty
	Path               string
	StartLine, EndLine int
	Message            string
	Why                string // what the rule is for
	HelpURL            string
}
