package render

import "github.com/reviewgate/reviewgate/app/ports"

// MemoryAnswer is what became of a record of memory.
type MemoryAnswer struct {
	Record       string `json:"record,omitempty"` // its name, such as M-12
	Outcome      string `json:"outcome"`          // of app/memory, or one of the constants below
	State        string `json:"state,omitempty"`  // that it had before
	Rule         string `json:"rule,omitempty"`
	Service      string `json:"service,omitempty"`
	Organisation bool   `json:"organisation,omitempty"`
	People       int    `json:"people,omitempty"`  // who have dismissed findings like it
	PerDay       int    `json:"per_day,omitempty"` // how many records a person may propose in a day
	Left         int    `json:"left,omitempty"`    // how many more of them would change something
	// Reviews of the Of newest heads of the last Days were computed.
	Reviews int `json:"reviews,omitempty"`
	Of      int `json:"of,omitempty"`
	Failed  int `json:"failed,omitempty"` // of these could not be computed
	Days    int `json:"days,omitempty"`
	// Stopped says that there was no time for all of them.
	Stopped bool `json:"stopped,omitempty"`
	// Hidden are findings that it would have hidden although they were right. More counts others, and
	// Elsewhere those of other repositories.
	Hidden    []HiddenFinding `json:"hidden,omitempty"`
	More      int             `json:"more,omitempty"`
	Elsewhere int             `json:"elsewhere,omitempty"`
	// Patch is an entry for the config file File. Whole says that it switches a rule off everywhere.
	File  string   `json:"file,omitempty"`
	Patch []string `json:"patch,omitempty"`
	Whole bool     `json:"whole,omitempty"`
}

// Outcomes of a MemoryAnswer besides those of app/memory.
const (
	MemoryForgotten = "forgotten"
	MemoryRevoked   = "revoked" // and so can't be approved
)

// HiddenFinding is a finding that a record would have hidden, with what became of it.
type HiddenFinding struct {
	Named
	Pull    string `json:"pull"` // such as #104
	Outcome string `json:"outcome"`
}

// memory puts the answer about a record into words. hidden counts list items that are left out.
func (nw noticeWords) memory(a *MemoryAnswer) (lead safe, list items, hidden int, code safe) {
	if a == nil {
		a = &MemoryAnswer{}
	}
	lead = say("memory answer", struct {
		Outcome, State               word
		Record, Rule, Service, File  safe
		Remember, Anyway, Forget     safe
		Organisation, Patched, Whole bool
		People, Left, Reviews, Days  int
		Failed, Elsewhere            int
		Stopped                      bool
		PerDay, Most                 int
	}{
		word(a.Outcome), word(a.State), nw.p.code(a.Record, maxName), nw.p.code(a.Rule, maxName), nw.p.text(a.Service, maxName), nw.p.code(a.File, maxName),
		nw.p.code("/review remember "+a.Record, maxName), nw.p.code("/review remember "+a.Record+" anyway", maxName), nw.p.code("/review forget "+a.Record, maxName),
		a.Organisation, len(a.Patch) > 0, a.Whole, a.People, a.Left, a.Reviews, a.Days, a.Failed, a.Elsewhere, a.Stopped,
		a.PerDay, ports.MaxMemoryRecords,
	})
	list = each(a.Hidden, func(h *HiddenFinding) safe {
		return say("memory hidden", struct {
			named
			Pull    safe
			Outcome word
		}{nw.named(h.Named), nw.p.text(h.Pull, maxName), word(h.Outcome)})
	})
	if len(a.Patch) > 0 {
		var lines []string
		for _, l := range a.Patch {
			lines = append(lines, codeLine(l, maxReason))
		}
		code = nw.p.block("json", lines)
	}
	return lead, list, a.More, code
}
