package pipeline

import (
	"fmt"
	"slices"
	"strings"
)

// Finding is one problem that an agent found (ReviewFinding in the schemas). Agents set the first
// part of the fields, and aggregate the second part.
type Finding struct {
	Title      string   `json:"title"`
	Severity   Severity `json:"severity"`
	Message    string   `json:"message"`
	Confidence float64  `json:"confidence"` // 0 to 1
	Path       string   `json:"path"`       // this or Section
	Section    string   `json:"section"`
	RuleID     string   `json:"rule_id"`
	Category   string   `json:"category"`
	StartLine  int      `json:"start_line"` // on the head's side, 0 for the whole file
	EndLine    int      `json:"end_line"`
	// Also are further places in Path whose lines equal those of the finding, in document order.
	Also           List[OtherPlace] `json:"also,omitempty"`
	WhyItMatters   string           `json:"why_it_matters"`
	Evidence       List[string]     `json:"evidence"`
	Recommendation string           `json:"recommendation"`
	Action         Action           `json:"action"`
	SuggestedFix   string           `json:"suggested_fix"` // text for the lines StartLine to EndLine
	AutofixClass   AutofixClass     `json:"autofix_class"`
	AutoClaim      string           `json:"auto_claim"`
	Citation       string           `json:"citation"`
	FindingType    FindingType      `json:"finding_type"`
	Blocking       bool             `json:"blocking"`

	ID string `json:"id"` // fingerprint
	// Fingerprints are those of all findings that were merged into this one, including ID, sorted.
	// Any of them identifies the finding.
	Fingerprints List[string] `json:"fingerprints"`
	// Surroundings are digests of the code around the finding, one for each of Fingerprints. For a
	// finding outside files they are digests of the text that it is about, or else of its own text,
	// and empty if a model wrote that. A person's decision about a finding holds as long as they
	// stay the same.
	Surroundings List[string] `json:"surroundings"`
	// Flagged are digests of the lines that a model's finding is about, without blank lines. They
	// identify the finding when the model words it differently.
	Flagged List[string] `json:"flagged,omitempty"`
	// Cited is a digest of what the change does to other files that a model's finding names, or
	// empty if the finding names no other changed file.
	Cited string `json:"cited,omitempty"`
	// OriginalPath is the oldest known path of the file if it differs from Path. The fingerprint is
	// made with it.
	OriginalPath string       `json:"original_path"`
	Agent        string       `json:"agent"`
	Model        string       `json:"model"`
	Reviewers    List[string] `json:"reviewers"` // all agents that agree, including Agent
	// FoundBy lists who made the finding, each agent with its model. It is set if a model is among
	// them.
	FoundBy List[Maker] `json:"found_by,omitempty"`
	// Opinions are the answers of models that were asked whether the finding is right.
	Opinions     List[Opinion]     `json:"opinions,omitempty"`
	Reasons      List[Reason]      `json:"reasons"` // what aggregate did, in order
	GateSeverity Severity          `json:"gate_severity"`
	State        FindingState      `json:"state"`
	Perspectives List[Perspective] `json:"perspectives"`
	// Final are the layers of the config that made the finding final. It leaves the gate only with
	// the authority of each of them.
	Final List[FinalIn] `json:"final,omitempty"`
}

// OtherPlace is a further place of a finding. ID is the fingerprint there, one of the finding's
// Fingerprints.
type OtherPlace struct {
	ID        string `json:"id"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
}

// Places returns the finding for each of its places, each with the fingerprint there. The first is
// the finding itself.
func (f *Finding) Places() []*Finding {
	out := []*Finding{f}
	for _, p := range f.Also {
		other := *f
		other.ID, other.StartLine, other.EndLine, other.Also = p.ID, p.StartLine, p.EndLine, nil
		out = append(out, &other)
	}
	return out
}

// Maker is who made a finding. Model is empty for an agent without a model.
type Maker struct {
	Agent string `json:"agent"`
	Model string `json:"model"`
	// Stated is the confidence that the model itself stated, from 0 to 1, before any rule changed
	// it: the highest if it was asked several times. It is 0 if that is unknown, such as in reviews
	// of older versions, and for an agent without a model.
	Stated float64 `json:"stated,omitempty"`
}

// Opinion is what a model says about a finding of another model.
type Opinion struct {
	Model   string         `json:"model"`
	Verdict OpinionVerdict `json:"verdict"`
	Quote   string         `json:"quote"` // the evidence, from what the model was shown
	Why     string         `json:"why"`
}

// OpinionVerdict is whether a model considers a finding right.
type OpinionVerdict string

// The verdicts. OpinionNone is for an answer that does not decide, or can't prove its decision.
const (
	OpinionNone      OpinionVerdict = ""
	OpinionConfirmed OpinionVerdict = "confirmed"
	OpinionRefuted   OpinionVerdict = "refuted"
)

// Attribution says who made a finding that a model took part in: "both models", "haiku only",
// "haiku, confirmed by sonnet", "rule sec-sql-01 and haiku". It is empty for any other finding.
func (f *Finding) Attribution() string {
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
	// Authority are the teams and logins who may take it out of the gate. Without any, it stays
	// until it is fixed or that layer changes.
	Authority List[string] `json:"authority"`
}

// SectionTitle, SectionDescription and SectionChange are the sections of findings about a change's
// title, its description, and the change as a whole.
const (
	SectionTitle       = "title"
	SectionDescription = "description"
	SectionChange      = "change"
)

// SectionCommit is the section of findings about a commit's message.
func SectionCommit(sha string) string { return "commit " + sha[:min(7, len(sha))] }

// Action is what a finding recommends doing to the lines it names.
type Action string

// The actions; none is the default.
const (
	ActionAdd    Action = "add"
	ActionRemove Action = "remove"
	ActionKeep   Action = "keep"
	ActionChange Action = "change"
	ActionNone   Action = "none"
)

// AutofixClass says whether there is one clearly correct fix (auto) or a person should judge
// (present, the default).
type AutofixClass string

// The two classes.
const (
	AutofixAuto    AutofixClass = "auto"
	AutofixPresent AutofixClass = "present"
)

// FindingType distinguishes something wrong (error, the default) from something missing (omission).
type FindingType string

// The two finding types.
const (
	FindingError    FindingType = "error"
	FindingOmission FindingType = "omission"
)

// FindingState is the state of a finding in the history of its pull request.
type FindingState string

// The states of a finding.
const (
	StateNew        FindingState = "new"
	StateOpen       FindingState = "open"
	StateResolved   FindingState = "resolved"
	StateDismissed  FindingState = "dismissed"
	StateSuppressed FindingState = "suppressed"
	// StateNotRaised is the state of a model's finding that did not block, and that no model raised
	// again although nothing about it has changed.
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
	// Voided counts a model's findings that are or may be critical or major, but whose quotes are
	// not in the change. They don't count, but then the model passes nothing.
	Voided int `json:"voided,omitempty"`
	// Documents are the documents that an agent was asked about, if it reviews whole documents. No
	// external answer can contain this field.
	Documents List[DocumentReview] `json:"-"`
}

// DocumentReview says who reviewed a specification or a plan: the agent, or the author of a review
// report in the change that replaces the agent's.
type DocumentReview struct {
	Path   string `json:"path"`
	Report string `json:"report,omitempty"` // the file of the review report that replaces the agent's
}

// AgentStatus is how an agent's run ended.
type AgentStatus string

// The statuses. Only ok and discarded let a required agent count as done. A model's result is
// discarded if a failed spec stage makes it moot.
const (
	AgentOK        AgentStatus = "ok"
	AgentFailed    AgentStatus = "failed"
	AgentTimedOut  AgentStatus = "timed_out"
	AgentMalformed AgentStatus = "malformed"
	AgentSkipped   AgentStatus = "skipped"
	AgentDiscarded AgentStatus = "discarded"
	AgentWaiting   AgentStatus = "waiting"   // a remote reviewer's answer is still to come
	AgentNotAsked  AgentStatus = "not_asked" // a reviewer of sessions that was not asked about this head
)

// AgentResult is what dispatch returns for one agent.
type AgentResult struct {
	Agent  string      `json:"agent"`
	Model  string      `json:"model"`
	Run    int         `json:"run,omitempty"` // which of several runs with the model, from 0
	Stage  string      `json:"stage"`
	Status AgentStatus `json:"status"`
	Note   string      `json:"note"` // for a person: why the status is not ok, or what the agent has not seen
	// CarriedFrom is the head that the agent really reviewed if its result was carried over from
	// another review, or empty.
	CarriedFrom string      `json:"carried_from"`
	Output      AgentOutput `json:"output"`
	// Remote says that a remote reviewer answered. Model is then the agent's id if the findings need
	// proof like a model's, and otherwise empty.
	Remote bool `json:"remote,omitempty"`
	// Dropped counts findings that could not be read, so that they are not in Output.
	Dropped int `json:"dropped"`
	// WithoutRule counts the files in its scope whose text no rule of an agent reads.
	WithoutRule int `json:"without_rule,omitempty"`
	// Unlisted counts the matches that limits of its rules keep out of Output.
	Unlisted int `json:"unlisted,omitempty"`
	// Citations are the citations in the output's findings that dispatch found at the head. An
	// agent can't set them.
	Citations List[string] `json:"citations"`
	// Reports are the outcomes of review reports, from agents of the kind report.
	Reports List[ReviewReportOutcome] `json:"reports"`
	// Documents are the reviewed documents, from agents that review whole documents.
	Documents List[DocumentReview] `json:"documents,omitempty"`
	// Answers are the model's literal answers without secrets, readable or not. Without them nobody
	// could check later what was made of them.
	Answers List[RawAnswer] `json:"answers,omitempty"`
	// Asked are the lines of the change that the questions to the model showed, from agents of the
	// kind llm that review code or intent. They are in order, and ranges don't touch. There are at
	// most MaxAsked; of more, the first are kept.
	Asked List[AskedLines] `json:"asked,omitempty"`
	// Comparisons are a model's answers about pairs of findings, from the Matcher.
	Comparisons List[Comparison] `json:"comparisons,omitempty"`
	// Verifications are a model's answers about single findings, from the Verifier.
	Verifications List[Verification] `json:"verifications,omitempty"`
}

// AskedLines are lines of a changed file at the head, from First to Last, counted from 1.
type AskedLines struct {
	Path  string `json:"path"`
	First int    `json:"first"`
	Last  int    `json:"last"`
}

// MaxAsked is how many ranges of lines a result lists as asked about.
const MaxAsked = 2000

// RawAnswer is an answer of a language model. Text has at most MaxAnswer bytes. SHA256 is the hash
// of the whole answer.
type RawAnswer struct {
	SHA256 string `json:"sha256"`
	Text   string `json:"text"`
	Cut    bool   `json:"cut,omitempty"` // the answer was longer
}

// The bounds of the answers in a result.
const (
	MaxAnswer  = 64 << 10 // bytes
	MaxAnswers = 4        // the last of several attempts
)

// Verification is a model's answer about a finding. A digest of the finding's original content
// identifies it.
type Verification struct {
	Finding string  `json:"finding"`
	Opinion Opinion `json:"opinion"`
}

// Comparison is a model's answer whether two findings at one place are about the same problem.
// Digests of the findings' original content identify them, and One is the lesser digest.
type Comparison struct {
	One   string `json:"one"`
	Other string `json:"other"`
	Same  bool   `json:"same"`
}

// OnlyIn returns the findings that are not among others. Any of its fingerprints identifies a
// finding: its severity and what it is merged with don't matter.
func OnlyIn(findings, others []Finding) (only []Finding) {
	has := map[string]bool{}
	for i := range others {
		for _, id := range others[i].Fingerprints {
			has[id] = true
		}
	}
	for i := range findings {
		if !slices.ContainsFunc(findings[i].Fingerprints, func(id string) bool { return has[id] }) {
			only = append(only, findings[i])
		}
	}
	return only
}
