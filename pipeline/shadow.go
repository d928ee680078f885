package pipeline

// Shadow is how a review would have differed under the server's shadow config. It affects nothing.
type Shadow struct {
	Version   string   `json:"version"`  // of the whole config, as in a report
	Decision  Decision `json:"decision"` // of the gate, without a person's
	Condition string   `json:"condition"`
	// New are findings that only the shadow config makes, and Gone the IDs of those that it does not
	// make. There are at most MaxShadow of each; NewMore and GoneMore count the others. Regraded are
	// the first MaxShadow findings that the gate weighs otherwise.
	New      List[Finding]  `json:"new"`
	NewMore  int            `json:"new_more,omitempty"`
	Gone     List[string]   `json:"gone"`
	GoneMore int            `json:"gone_more,omitempty"`
	Regraded List[Regraded] `json:"regraded"`
	// Unknown says what can't be known without asking others. Agents are those whose findings are
	// unknown. If Either is set, these may also make the decision milder.
	Unknown List[string] `json:"unknown"`
	Agents  List[string] `json:"agents"`
	Either  bool         `json:"either,omitempty"`
	Note    string       `json:"note,omitempty"` // why there is nothing, if something went wrong
}

// Regraded is a finding with another severity in the gate.
type Regraded struct {
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
}

// MaxShadow bounds the lists of a Shadow.
const MaxShadow = 200
