package pipeline

import (
	"encoding/json"
	"fmt"
	"time"
)

// PRFacts is what is known of a pull request at one head SHA. Normalize writes it once, and nothing
// changes it afterwards. Detected secrets are in it only as placeholders (see [Redaction]).
type PRFacts struct {
	SchemaVersion int          `json:"schema_version"`
	Repository    Repository   `json:"repository"`
	Number        int          `json:"number"` // 0 for a local git range
	Title         string       `json:"title"`
	Body          string       `json:"body"`
	Draft         bool         `json:"draft"`
	Author        Author       `json:"author"`
	Base          Base         `json:"base"`
	Head          Head         `json:"head"`
	Labels        List[string] `json:"labels"`
	Milestone     string       `json:"milestone"`
	Commits       List[Commit] `json:"commits"`
	Files         List[File]   `json:"files"` // sorted by path, bytewise
	Totals        Totals       `json:"totals"`
	// RootFiles are the sorted names of the files at the root of the branch from which the config
	// is read. They show whether the repository has a lock file or a changelog. Empty if unknown.
	RootFiles  List[string]         `json:"root_files"`
	Redactions List[Redaction]      `json:"redactions"`
	Incomplete List[Incompleteness] `json:"incomplete"`
	Config     ConfigInForce        `json:"config"`
	// ObservedAt is what dates are compared with: when the change was read, or, in a local review of a
	// commit, when that was committed.
	ObservedAt time.Time `json:"observed_at"`
}

// FactsSchemaVersion is the version written to PRFacts.SchemaVersion.
const FactsSchemaVersion = 1

// Repository names a repository on a code host.
type Repository struct {
	Owner         string `json:"owner"`
	Name          string `json:"name"`
	DefaultBranch string `json:"default_branch"`
	Private       bool   `json:"private"`
}

// PullName is the name of the pull request for people, such as acme/shop#104.
func (f *PRFacts) PullName() string {
	return fmt.Sprintf("%s#%d", f.Repository.FullName(), f.Number)
}

// FullName is "owner/name", or empty if there is no repository.
func (r Repository) FullName() string {
	if r.Owner == "" && r.Name == "" {
		return ""
	}
	return r.Owner + "/" + r.Name
}

// Author is who opened the pull request. Association is GitHub's
// author_association: a hint for triggers, never a proof of authority.
type Author struct {
	Login       string `json:"login"`
	Type        string `json:"type"` // User or Bot
	Association string `json:"association"`
}

// Base is what the change would be merged into.
type Base struct {
	Ref string `json:"ref"`
	SHA string `json:"sha"`
}

// Head is the reviewed commit. Repository is the "owner/name" of the repository that contains it,
// or empty if the fork was deleted.
type Head struct {
	Ref        string `json:"ref"`
	SHA        string `json:"sha"`
	Repository string `json:"repository"`
	Fork       bool   `json:"fork"`
	// WorkTree says that the review is of uncommitted changes on top of SHA. SHA is empty before
	// the first commit.
	WorkTree bool `json:"work_tree,omitempty"`
	// Staged says that these changes are those of the index, and not those of the work tree.
	Staged bool `json:"staged,omitempty"`
}

// Commit is one commit of the change.
type Commit struct {
	SHA      string `json:"sha"`
	Message  string `json:"message"`
	Author   string `json:"author"`
	Verified bool   `json:"verified"`
}

// Totals are the code host's own totals. They are correct even if single files could not be read.
type Totals struct {
	Files     int `json:"files"`
	Additions int `json:"additions"`
	Deletions int `json:"deletions"`
}

// FileStatus is what happened to a file, in GitHub's words.
type FileStatus string

// GitHub's file statuses. A deleted file is "removed".
const (
	FileAdded     FileStatus = "added"
	FileModified  FileStatus = "modified"
	FileRemoved   FileStatus = "removed"
	FileRenamed   FileStatus = "renamed"
	FileCopied    FileStatus = "copied"
	FileChanged   FileStatus = "changed" // mode or type only
	FileUnchanged FileStatus = "unchanged"
)

// File is one changed file. Hunks are empty for binary files, pure renames and mode changes. If
// they are empty because the diff could not be read, the facts' Incomplete names the file.
type File struct {
	Path         string     `json:"path"`
	PreviousPath string     `json:"previous_path"`
	Status       FileStatus `json:"status"`
	Additions    int        `json:"additions"`
	Deletions    int        `json:"deletions"`
	Binary       bool       `json:"binary"`
	Hunks        List[Hunk] `json:"hunks"`
	Language     string     `json:"language"`  // go-enry's name, empty if unknown
	Generated    bool       `json:"generated"` // by its path or its text
	// GeneratedByPath is set if the path or the base suggests that a tool generated the file. It decides
	// what is not reviewed. A file's text can also claim that the file is generated, but that only
	// leaves the file out of the change's size.
	GeneratedByPath bool `json:"generated_by_path"`
	// Bundle is set if the file, or a build before it, was a minified bundle at the base. It is then
	// GeneratedByPath, too.
	Bundle   bool `json:"bundle,omitempty"`
	Vendored bool `json:"vendored"`
	// ByBase is set if the .gitattributes of the base calls the file generated or vendored, and the base
	// has the file. It is looked at for secrets only: the author of the change chose neither.
	ByBase        bool `json:"by_base,omitempty"`
	Test          bool `json:"test"`
	Documentation bool `json:"documentation"`
}

// ChangedLines is additions plus deletions.
func (f File) ChangedLines() int { return f.Additions + f.Deletions }

// Hunk is one hunk of a unified diff.
type Hunk struct {
	OldStart int    `json:"old_start"`
	OldLines int    `json:"old_lines"`
	NewStart int    `json:"new_start"`
	NewLines int    `json:"new_lines"`
	Section  string `json:"section"` // the text after the second @@
	// Returns says that each new line ends in a carriage return, which Lines omit.
	Returns bool       `json:"returns,omitempty"`
	Lines   List[Line] `json:"lines"`
}

// LineOp says what happened to a line.
type LineOp string

// The three kinds of diff line.
const (
	LineContext LineOp = " "
	LineAdded   LineOp = "+"
	LineRemoved LineOp = "-"
)

// Line is one line of a hunk, without its prefix and line ending. Old and New are line numbers from
// 1, or 0 on the side where the line does not exist.
type Line struct {
	Op   LineOp `json:"op"`
	Old  int    `json:"old"`
	New  int    `json:"new"`
	Text string `json:"text"`
}

// Redaction records the place and kind of a secret, but never its value: the text has a placeholder
// instead.
type Redaction struct {
	Source  RedactionSource `json:"source"`
	Path    string          `json:"path"`   // of the file, for Source line
	Commit  string          `json:"commit"` // SHA, for Source commit_message
	Op      LineOp          `json:"op"`     // for Source line
	Line    int             `json:"line"`   // new line number, or the old one of a removed line
	RuleID  string          `json:"rule_id"`
	Title   string          `json:"title"`
	Details string          `json:"details"`
	// Allowed is the reason that the config's secrets.allow, or the base's .gitleaks.toml,
	// gives for this value. It is empty if the value is not allowed.
	Allowed string `json:"allowed,omitempty"`
	// Expired is the last day, such as 2027-01-31, of an expired entry of secrets.allow that names
	// this value, or empty.
	Expired string `json:"expired,omitempty"`
	// Digest tells the value from another one that replaces it later. It is the first eight bytes,
	// in hexadecimal, of a hash with the server's key, which does not reveal the value. It is empty
	// without a key, and if the value is not known.
	Digest string `json:"digest,omitempty"`
}

// RedactionMark begins the placeholder of a secret, as in
// [redacted:aws-access-token].
const RedactionMark = "[redacted:"

// SecretRulePrefix and the rule of a redaction together are the rule id of a finding.
const SecretRulePrefix = "secret-"

// RedactionSource is the kind of place where a secret was.
type RedactionSource string

// The places that are searched for secrets.
const (
	RedactedLine          RedactionSource = "line"
	RedactedTitle         RedactionSource = "title"
	RedactedBody          RedactionSource = "body"
	RedactedCommitMessage RedactionSource = "commit_message"
)

// Incompleteness names something about the change that could not be known. If Gating is true, the
// gate can't pass.
type Incompleteness struct {
	What   string `json:"what"` // files, commits, patch, config, stage, agent, IncompleteAnswer, IncompleteOnly or IncompleteStaged
	Path   string `json:"path"` // of the file, or empty
	Why    string `json:"why"`
	Gating bool   `json:"gating"`
}

// IncompleteAnswer says that the answer of a remote reviewer is still to come.
const IncompleteAnswer = "answer"

// IncompleteOnly says that only some agents and rules were to review the change. It never gates.
const IncompleteOnly = "only"

// IncompleteStaged says that what is staged of a file differs from the work tree, which alone was
// read. It never gates.
const IncompleteStaged = "staged"

// Unread reports whether it is about listed files that could not be read. A person can look at
// those. A list that is cut short, in contrast, may hide any number of files.
func (i *Incompleteness) Unread() bool { return i.What == "patch" }

// AllowedByGitleaks begins Redaction.Allowed if the base's .gitleaks.toml allows a secret.
// The description of the allow list follows.
const AllowedByGitleaks = ".gitleaks.toml: "

// ConfigInForce pins the config of a review.
type ConfigInForce struct {
	Version  string              `json:"version"` // hash of the layers' blobs
	Layers   List[ConfigLayer]   `json:"layers"`  // lowest first
	Problems List[ConfigProblem] `json:"problems"`
}

// ConfigLayer is one layer of config. A broken layer is listed with Used false: the review ran
// without it.
type ConfigLayer struct {
	Name   string           `json:"name"`   // defaults, server, organisation, repository
	Source string           `json:"source"` // embedded, a directory, owner/name, or owner/name@branch
	Used   bool             `json:"used"`
	Files  List[ConfigFile] `json:"files"`
}

// ConfigFile is one file of a layer, pinned by its git blob SHA.
type ConfigFile struct {
	Path    string `json:"path"`
	BlobSHA string `json:"blob_sha"`
}

// ConfigProblem is one problem with a config file, and the remedy.
type ConfigProblem struct {
	Layer   string `json:"layer"`
	File    string `json:"file"`
	Line    int    `json:"line"`    // from 1, or 0 if unknown
	Column  int    `json:"column"`  // from 1, in bytes, or 0 if unknown
	Pointer string `json:"pointer"` // RFC 6901
	Problem string `json:"problem"`
	Remedy  string `json:"remedy"`
}

// LabelsRead says which labels can affect the review of a change.
type LabelsRead int

// The values of LabelsRead. The numbers are stored.
const (
	LabelsNone    LabelsRead = 0
	LabelsAll     LabelsRead = 1
	LabelsOfTypes LabelsRead = 2 // labels that classify reads as a type
)

// List is a slice that is never null in JSON: an empty or nil List is written as []. Everything
// that reviewgate prints or stores relies on that.
type List[T any] []T

// MarshalJSON writes a nil List as [].
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]T(l))
}
