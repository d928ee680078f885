package render

import (
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fixloop"
)

// Marker is the first line of reviewgate's comment. The marker and the App's id
// together identify the comment: anybody can write the marker.
const Marker = markerStart + "report -->"

// markerStart begins every marker of reviewgate.
const markerStart = "<!-- reviewgate:"

// View is the input of every format: the review, its run, and the targets of links.
type View struct {
	Review  pipeline.Review
	Record  pipeline.RunRecord
	Links   Links
	Mode    string   // config.ModeEnforce or ModeAdvisory
	Notices []string // stored notices, oldest first, such as why a command was refused
	Shared  []SharedHead
	Details string // URL of the details page, empty if there is none
	// Sections are those of config.CommentSettings.
	Sections []string
	// FixLoop is the state of the fix loop after the review.
	FixLoop fixloop.State
	// Rules holds notes about the rules that have findings, by id. It may be empty. It
	// is part of the digest, so it must be equal each time a review is rendered.
	Rules map[string]RuleNote
	// Backtest is of the config that the change proposes. It is nil until it is known, so it
	// appears only in the comment.
	Backtest *pipeline.ConfigBacktest
	// People are mentioned if a blocker pauses the session: logins, or teams as "org/team-slug".
	People []string
	// Acts appear only in the comment, because the check is written before them.
	Acts Acts
	// Inline are the URLs of our comments on lines, by the fingerprints of their findings. A URL
	// is empty while it is not known. Such a finding has no annotation, and one line in the
	// comment.
	Inline map[string]string
}

// RuleNote holds what a report needs to know about a rule in addition to its findings.
type RuleNote struct {
	Reference string // an https URL; anything else is not shown
	Layer     string // the config layer of the rule; empty for the defaults
	// What the config says of the rule, for formats that describe rules. They may be empty.
	Name, Description, Recommendation string
	Severity                          pipeline.Severity
	SeverityIn                        map[string]pipeline.Severity // raised severities, by domain
	Pattern                           string                       // what the rule matches in an added line, in RE2; empty if it matches none
	Removed                           bool                         // it matches removed lines, and a finding's line is the one beside
}

// Links leads to the code host's web pages. With an empty WebURL, as for a local range,
// there are no links.
type Links struct {
	WebURL     string // such as https://github.com
	Repository string // owner/name that holds the pull request
}

// SharedHead is another open pull request with the same head. The check of the head
// shows the worst of their decisions.
type SharedHead struct {
	Number   int
	Decision pipeline.Decision
}

// Document is a rendered text. Digest covers all of it except the parts that vary from
// run to run, so a text with an equal digest need not be written again.
type Document struct {
	Body   string
	Digest string
}

// Waiting describes a review that waits for memory. Before counts the large changes
// that are under review or ahead in the queue.
type Waiting struct {
	HeadSHA string
	Since   time.Time
	Before  int
}

// Calls describes a review that waits for GitHub's rate limit. Used counts the calls for
// the pull requests of its author, Limit is the number of calls in an hour, and Reset is
// when the hour ends.
type Calls struct {
	HeadSHA     string
	Used, Limit int
	Reset       time.Time
}

// Pending describes a run that starts.
type Pending struct {
	HeadSHA   string
	StartedAt time.Time
	Reason    string // why the run starts
}
