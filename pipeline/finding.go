package pipeline

import (
	"fmt"
	"slices"
	"strings"
)

// Finding is one thing that an agent noticed (ReviewFinding in the schemas).
// Agents fill the first part; the second part is filled by aggregate.
type Finding struct {
	Title          string       `json:"title"`
	Severity       Severity     `json:"severity"`
	Message        string       `json:"message"`
	Confidence     float64      `json:"confidence"` // 0 to 1
	Path           string       `json:"path"`       // this or Section
	Section        string       `json:"section"`
	RuleID         string       `json:"rule_id"`
	Category       string       `json:"category"`
	StartLine      int          `json:"start_line"` // on the head's side, 0 for the whole file
	EndLine        int          `json:"end_line"`
	WhyItMatters   string       `json:"why_it_matters"`
	Evidence       List[string] `json:"evidence"`
	Recommendation string       `json:"recommendation"`
	Action         Action       `json:"action"`
	SuggestedFix   string       `json:"suggested_fix"` // text for the lines StartLine to EndLine
	AutofixClass   AutofixClass `json:"autofix_class"`
	AutoClaim      string       `json:"auto_claim"`
	Citation       string       `json:"citation"`
	FindingType    FindingType  `json:"finding_type"`
	Blocking       bool         `json:"blocking"`

	ID string `json:"id"` // fingerprint
	// Fingerprints are those of all findings that were merged into this one,
	// ID among them, sorted. A finding is known again by any of them.
	Fingerprints List[string] `json:"fingerprints"`
	// Surroundings are digests of the code around what each of Fingerprints is about, in
	// their order. For a finding that is not about a file they are of the text that it is
	// about, or else of what it says, and empty if a model says that. What a person says
	// about a finding holds as long as they stay the same.
	Surroundings List[string] `json:"surroundings"`
	// Flagged are digests of the lines that a model's finding is about, blank ones aside. By
	// them it is known again when the model words it anew.
	Flagged List[string] `json:"flagged,omitempty"`
	// Cited is a digest of what the change does to other files that a model's finding names,
	// or nothing where it names none that the change touches.
	Cited string `json:"cited,omitempty"`
	// OriginalPath is the oldest known path of the file, where it is not Path:
	// the fingerprint is made with it.
	OriginalPath string       `json:"original_path"`
	Agent        string       `json:"agent"`
	Model        string       `json:"model"`
	Reviewers    List[string] `json:"reviewers"` // all that agree, the agent among them
	// FoundBy are those who made the finding, each agent with its model, where a model is
	// among them.
	FoundBy List[Maker] `json:"found_by,omitempty"`
	// Opinions are those of models that were asked whether the finding is right.
	Opinions     List[Opinion]     `json:"opinions,omitempty"`
	Reasons      List[string]      `json:"reasons"` // what aggregate did, in order
	GateSeverity Severity          `json:"gate_severity"`
	State        FindingState      `json:"state"`
	Perspectives List[Perspective] `json:"perspectives"`
	// Final are the layers of the config that made the finding final. It leaves the gate
	// only by the authority of each of them.
	Final List[FinalIn] `json:"final,omitempty"`
}

// Maker is who made a finding. Model is empty for an agent that asks none.
type Maker struct {
	Agent string `json:"agent"`
	Model string `json:"model"`
}

// Opinion is what a model says of a finding of another that it was shown.
type Opinion struct {
	Model   string         `json:"model"`
	Verdict OpinionVerdict `json:"verdict"`
	Quote   string         `json:"quote"` // what shows it: it stands in what was shown
	Why     string         `json:"why"`
}

// OpinionVerdict is whether a model holds a finding to be right.
type OpinionVerdict string

// The verdicts. OpinionNone is that of an answer that does not say, or can't show it.
const (
	OpinionNone      OpinionVerdict = ""
	OpinionConfirmed OpinionVerdict = "confirmed"
	OpinionRefuted   OpinionVerdict = "refuted"
)

// SaidBy says who made a finding that a model made, or nothing of any other: "both models",
// "haiku only", "haiku, confirmed by sonnet", "rule sec-sql-01 and haiku".
func (f *Finding) SaidBy() string {
	var models, others []string
	for _, m := range f.FoundBy {
		switch {
		case m.Model == "" && !slices.Contains(others, m.Agent):
			others = append(others, m.Agent)
		case m.Model != "" && !slices.Contains(models, m.Model):
			models = append(models, m.Model)
		}
	}
	if len(others) == 1 && f.RuleID != "" {
		others[0] = "rule " + f.RuleID
	}
	switch n := len(models); {
	case n == 0:
		return ""
	case n == 1 && len(others) == 0:
		for _, o := range f.Opinions {
			if o.Verdict == OpinionConfirmed && o.Model != models[0] {
				return models[0] + ", confirmed by " + o.Model
			}
		}
		return models[0] + " only"
	case n == 2:
		models = []string{"both models"}
	case n > 2:
		models = []string{fmt.Sprintf("%d models", n)}
	}
	all := slices.Concat(others, models)
	if last := len(all) - 1; last > 0 {
		return strings.Join(all[:last], ", ") + " and " + all[last]
	}
	return all[0]
}

// FinalIn is a layer of the config that made something final.
type FinalIn struct {
	Layer string `json:"layer"`
	// Authority are the teams and logins who may take it out of the gate; without any it
	// stands until it is fixed, or that layer changes.
	Authority List[string] `json:"authority"`
}

// ReasonNotIgnored begins the reason of a finding that a comment in the code
// asks to ignore in vain. What follows says why.
const ReasonNotIgnored = "not ignored: "

// ReasonIgnoreWaits begins the reason of a finding that a comment of the change asks
// to ignore, which counts only once a person accepts it. The reason that the
// comment gives follows.
const ReasonIgnoreWaits = ReasonNotIgnored + "an ignore comment that this change adds waits for acceptance: "

// ReasonIgnoreChanged is ReasonIgnoreWaits where the comment stood in the base, about a
// line that the change makes another.
const ReasonIgnoreChanged = ReasonNotIgnored + "the line that this ignore comment is about has changed, so the comment waits for acceptance: "

// ReasonNotDismissed begins the reason of a finding that counts although a person
// dismissed it. What follows says why.
const ReasonNotDismissed = "not dismissed: "

// ReasonBack begins the reason of a finding that an earlier head of the pull
// request had and a later one had not. What follows names the head that fixed
// it.
const ReasonBack = "back: it was fixed in "

// ReasonHeld is the reason of a finding that only one model made, and that
// holds the gate until a person decides about it.
const ReasonHeld = "holds the gate: a person must decide"

// ReasonNotRaised is the reason of a finding that blocked, and that stays until its lines
// change or a person decides about it: no model raised it again.
const ReasonNotRaised = "not raised again; its lines are unchanged"

// ReasonAsBefore is the reason of a finding that blocked before and that fewer models raised
// this time, or as something milder.
const ReasonAsBefore = "counts as before, since its lines are unchanged"

// ReasonAccepted begins the reason of a finding that a person accepted, whose
// login follows.
const ReasonAccepted = "accepted by "

// SectionTitle and SectionDescription are the sections of findings about a
// change's title and description, SectionChange that of findings about the
// change as a whole.
const (
	SectionTitle       = "title"
	SectionDescription = "description"
	SectionChange      = "change"
)

// SectionCommit is the section of findings about a commit's message.
func SectionCommit(sha string) string { return "commit " + sha[:min(7, len(sha))] }

// Action is what a finding recommends doing to the lines it names.
type Action string

// The closed set of actions; none is the default.
const (
	ActionAdd    Action = "add"
	ActionRemove Action = "remove"
	ActionKeep   Action = "keep"
	ActionChange Action = "change"
	ActionNone   Action = "none"
)

// AutofixClass says whether there is one clear correct fix (auto) or a person
// should judge (present, the default).
type AutofixClass string

// The two classes.
const (
	AutofixAuto    AutofixClass = "auto"
	AutofixPresent AutofixClass = "present"
)

// FindingType tells something wrong (error, the default) from something
// missing (omission).
type FindingType string

// The two finding types.
const (
	FindingError    FindingType = "error"
	FindingOmission FindingType = "omission"
)

// FindingState places a finding in the history of its pull request.
type FindingState string

// The states of a finding.
const (
	StateNew        FindingState = "new"
	StateOpen       FindingState = "open"
	StateResolved   FindingState = "resolved"
	StateDismissed  FindingState = "dismissed"
	StateSuppressed FindingState = "suppressed"
	// StateNotRaised is that of a model's finding that was no reason to block, and that no
	// model raised again although nothing about it has changed.
	StateNotRaised FindingState = "not_raised_again"
)

// Perspective is one side of a contradiction between agents.
type Perspective struct {
	Agent          string   `json:"agent"`
	Model          string   `json:"model"`
	Action         Action   `json:"action"`
	Severity       Severity `json:"severity"`
	Message        string   `json:"message"`
	Recommendation string   `json:"recommendation"`
}

// AgentOutput is the envelope in which an agent's findings arrive.
type AgentOutput struct {
	Agent             string        `json:"agent"`
	Model             string        `json:"model"`
	Stage             string        `json:"stage"`
	Findings          List[Finding] `json:"findings"`
	ResidualConcerns  List[string]  `json:"residual_concerns"`
	DeferredQuestions List[string]  `json:"deferred_questions"`
	// Voided are a model's findings that are or may be critical or major, and count for
	// nothing, since what they quote does not stand in the change. The model passes nothing
	// then.
	Voided int `json:"voided,omitempty"`
	// Documents are those that an agent which reviews documents whole was asked about. No
	// answer from outside has a place for them.
	Documents List[DocumentReview] `json:"-"`
}

// DocumentReview says who reviewed a specification or a plan: the agent, or whoever wrote
// the report in the change that stands before the agent's.
type DocumentReview struct {
	Path   string `json:"path"`
	Report string `json:"report,omitempty"` // the file of the report that stands
}

// AgentStatus is how an agent's run ended.
type AgentStatus string

// The statuses. Only ok (and discarded, for models' findings that a failed
// spec stage made moot) lets a required agent count as done.
const (
	AgentOK        AgentStatus = "ok"
	AgentFailed    AgentStatus = "failed"
	AgentTimedOut  AgentStatus = "timed_out"
	AgentMalformed AgentStatus = "malformed"
	AgentSkipped   AgentStatus = "skipped"
	AgentDiscarded AgentStatus = "discarded"
)

// AgentResult is what dispatch brings back from one agent.
type AgentResult struct {
	Agent  string      `json:"agent"`
	Model  string      `json:"model"`
	Run    int         `json:"run,omitempty"` // of several times that the agent asked the model, from 0
	Stage  string      `json:"stage"`
	Status AgentStatus `json:"status"`
	Note   string      `json:"note"` // for a person: why it is not ok, or what it has not seen
	// CarriedFrom is the head that the agent really looked at, where its result
	// was carried over from the review of that; else empty.
	CarriedFrom string      `json:"carried_from"`
	Output      AgentOutput `json:"output"`
	// Dropped counts findings that could not be read, and are therefore not in
	// Output.
	Dropped int `json:"dropped"`
	// Citations are those of the output's findings that dispatch found to
	// exist at the head. An agent can't claim it.
	Citations List[string] `json:"citations"`
	// Reports are what review reports come to, from agents of the kind report.
	Reports List[ReportOutcome] `json:"reports"`
	// Documents are those that were reviewed, from agents that review them whole.
	Documents List[DocumentReview] `json:"documents,omitempty"`
	// Answers are what the model answered, word for word but for secrets, whether or not it
	// could be read. Without them nobody could ever look again at what was made of it.
	Answers List[RawAnswer] `json:"answers,omitempty"`
	// Comparisons are what a model said of pairs of findings, from the Matcher.
	Comparisons List[Comparison] `json:"comparisons,omitempty"`
	// Verifications are what a model said of single findings, from the Verifier.
	Verifications List[Verification] `json:"verifications,omitempty"`
}

// RawAnswer is an answer of a language model. Text is bounded by MaxAnswer, and SHA256 is that
// of the whole.
type RawAnswer struct {
	SHA256 string `json:"sha256"`
	Text   string `json:"text"`
	Cut    bool   `json:"cut,omitempty"` // it was longer
}

// The bounds of the answers that a result keeps.
const (
	MaxAnswer  = 64 << 10 // bytes
	MaxAnswers = 4        // the last ones, of several attempts
)

// Verification is what a model said of a finding, which is named by a digest of what its
// maker said.
type Verification struct {
	Finding string  `json:"finding"`
	Opinion Opinion `json:"opinion"`
}

// Comparison is what a model said of two findings at one place: whether they are about one
// thing. The findings are named by digests of what their makers said, One being the lesser.
type Comparison struct {
	One   string `json:"one"`
	Other string `json:"other"`
	Same  bool   `json:"same"`
}
