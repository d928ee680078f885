package render

import (
	"time"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/fixloop"
)

// Marker is the first line of reviewgate's comment. It finds the comment
// again, together with the app's id: a marker alone proves nothing.
const Marker = markerStart + "report -->"

// markerStart begins every marker of reviewgate's.
const markerStart = "<!-- reviewgate:"

// View is what a report is rendered from: the review, what varies from run to
// run, and where links lead.
type View struct {
	Review  pipeline.Review
	Record  pipeline.RunRecord
	Links   Links
	Mode    string   // config.ModeEnforce or ModeAdvisory
	Notices []string // said once, oldest first, such as why a command was refused
	Shared  []SharedHead
	Details string // URL of the details page, empty if there is none
	// FixLoop is where the fix loop of the pull request stands after the review.
	FixLoop fixloop.State
	// Rules tells more of rules that have findings, by id. It may be empty, but
	// must be the same whenever one review is rendered: it is part of the digest.
	Rules map[string]RuleNote
	// Acts are shown in the comment alone: the check is written before them.
	Acts Acts
}

// RuleNote is what a report tells of a rule besides its findings.
type RuleNote struct {
	Reference string // an https URL, else it is not shown
	Layer     string // of config that the rule comes from, empty for the defaults
}

// Links makes URLs into the code host's web pages. With an empty WebURL (a
// local range) nothing is linked.
type Links struct {
	WebURL     string // such as https://github.com
	Repository string // owner/name that holds the pull request
}

// SharedHead is another open pull request with the same head. The check of
// that head carries the worst of their decisions.
type SharedHead struct {
	Number   int
	Decision pipeline.Decision
}

// Document is a rendered text. Digest covers all of it but what varies from
// run to run (run id, timing), so that equal digests need no new write.
type Document struct {
	Body   string
	Digest string
}

// Waiting is what is known of a review that waits for memory. Before is how many large
// changes are under review or come first in line.
type Waiting struct {
	HeadSHA string
	Since   time.Time
	Before  int
}

// Calls is what is known of a review that waits for GitHub's rate limit: how many calls
// the reviews of its author's pull requests used, how many there are in an hour, and when
// that hour ends.
type Calls struct {
	HeadSHA     string
	Used, Limit int
	Reset       time.Time
}

// Pending is what is known when a run starts.
type Pending struct {
	HeadSHA   string
	StartedAt time.Time
	Reason    string // what asked for the run
}
