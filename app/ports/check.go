package ports

import (
	"time"
)

// CheckOutput is the content of a check run. Title, Summary and Text obey GitHub's limits:
// 255 characters, 65,535 bytes and 65,535 bytes.
type CheckOutput struct {
	Title       string
	Summary     string
	Text        string
	Annotations []Annotation // worst first
	Actions     []CheckAction
	Digest      string
}

// Annotation is a remark on lines of the diff at the head. Level is notice, warning or
// failure.
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

// CheckWrite is a check run to write. Conclusion is empty while it is in
// progress.
type CheckWrite struct {
	Name        string
	HeadSHA     string
	ExternalID  string
	DetailsURL  string
	Conclusion  string
	Output      CheckOutput
	StartedAt   time.Time
	CompletedAt time.Time
	// Repeat means that this write may have been tried before. Annotations that already
	// exist are not sent again.
	Repeat bool
}

// CheckRun is one of our check runs as GitHub has it.
type CheckRun struct {
	ID         int64
	ExternalID string
	Completed  bool
	Conclusion string
}
