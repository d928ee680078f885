package render

// CheckOutput is what a check run shows. Title, Summary and Text obey
// GitHub's limits: 255 characters, 65,535 bytes and 65,535 bytes.
type CheckOutput struct {
	Title       string
	Summary     string
	Text        string
	Annotations []Annotation // worst first
	Actions     []CheckAction
	Digest      string
}

// Annotation stands on lines of the diff at the head. Level is notice,
// warning or failure.
type Annotation struct {
	Path       string
	StartLine  int
	EndLine    int
	Level      string
	Title      string
	Message    string
	RawDetails string
}

// CheckAction is a button on the check run: label <= 20 characters,
// identifier <= 20, description <= 40.
type CheckAction struct {
	Label       string
	Identifier  string
	Description string
}
