package pipeline

// ConfigBacktest is what a proposed config would have decided otherwise in stored reviews of other
// pull requests. It never gates.
type ConfigBacktest struct {
	Days   int `json:"days"`   // how far back the reviews go
	Stored int `json:"stored"` // reviews of that time, the newest one of each head
	// Reviews is how many of the Stored ones were computed, the newest first. OutOfTime says that
	// time ran out before the others.
	Reviews   int  `json:"reviews"`
	OutOfTime bool `json:"out_of_time,omitempty"`
	// Organisation says that reviews of all of an organisation's repositories count. Then Named and
	// Why are about the repository of the proposal alone: others may be private.
	Organisation bool `json:"organisation,omitempty"`
	// Changed counts the decisions that would differ, and Blocked and Passing those of them that newly
	// block and that newly pass. People had overridden the gate in some of these.
	Changed           int `json:"changed"`
	Blocked           int `json:"blocked"`
	BlockedOverridden int `json:"blocked_overridden"`
	Passing           int `json:"passing"`
	PassingOverridden int `json:"passing_overridden"`
	// Elsewhere counts those of Changed in other repositories than the proposal's.
	Elsewhere int `json:"elsewhere,omitempty"`
	// Unknown counts the decisions that can't be known, and Why lists the first reasons. None of them
	// counts as changed.
	Unknown int                    `json:"unknown"`
	Why     List[string]           `json:"why"`
	Named   List[BacktestedReview] `json:"named"` // the first of Changed
}

// BacktestedReview is a review that a proposed config would have decided otherwise.
type BacktestedReview struct {
	Pull    string   `json:"pull"` // such as #104
	HeadSHA string   `json:"head_sha"`
	From    Decision `json:"from"`
	To      Decision `json:"to"`
	Because string   `json:"because"` // the finding or the condition that decides
	People  string   `json:"people"`  // what people did then, one of the constants below, or empty if unknown
}

// What people did with a head after its review, as far as later reviews and events say so.
const (
	PeopleOverrode  = "overrode"
	PeopleDismissed = "dismissed it"
	PeopleAccepted  = "accepted it"
	PeopleFixed     = "fixed it"
	PeopleMerged    = "merged as it was"
	PeopleClosed    = "closed without merging"
	PeopleEnded     = "closed or merged as it was"
	PeopleNothing   = "still open"
)
