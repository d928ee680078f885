package commands

import "strings"

// Name tells the commands apart.
type Name string

// The commands. Review is the bare one.
const (
	Review   Name = "review"
	Agent    Name = "agent"
	Full     Name = "full"
	Dismiss  Name = "dismiss"
	Restore  Name = "restore"
	Accept   Name = "accept"
	Override Name = "override"
	Reject   Name = "reject"
	Remember Name = "remember"
	Forget   Name = "forget"
	Resume   Name = "resume"
	Explain  Name = "explain"
	Status   Name = "status"
	Help     Name = "help"
)

// Who says who may give a command. What it does may need more than that: see
// app/commandrun.
type Who int

// The groups of people. Each of the first three includes those with more rights.
const (
	Authors     Who = iota // the pull request's author, and whoever may write
	Writers                // whoever may write
	Maintainers            // whoever may maintain, and the teams that the settings name
	Approvers              // whoever may maintain, and the people and teams that may approve records of memory
)

// Kind is a command as the help lists it.
type Kind struct {
	Name Name
	// Follows is the text after the name: <needed>, [optional], and ... for
	// several.
	Follows string
	Who     Who
	// Own says that it needs Maintainers on one's own pull request, and
	// Critical that it does on a critical finding.
	Own, Critical bool
	// Accepted says that both hold only where the finding was accepted.
	Accepted bool
	take     func(c *Command, rest string) error
}

// Usage is how the command is written, such as "/review accept <finding>|unread".
func (k *Kind) Usage() string {
	words := []string{"/review"}
	if k.Name != Review {
		words = append(words, string(k.Name))
	}
	if k.Follows != "" {
		words = append(words, k.Follows)
	}
	return strings.Join(words, " ")
}

// All lists the commands as the help does.
func All() []Kind {
	return []Kind{
		{Name: Review, Who: Authors, take: nothing},
		{Name: Agent, Follows: "<id>...", Who: Writers, take: agents},
		{Name: Full, Who: Writers, take: nothing},
		{Name: Dismiss, Follows: "<finding> [false_positive|wont_fix|duplicate|other] <reason>", Who: Writers, Own: true, Critical: true, take: findingAndReason},
		{Name: Restore, Follows: "<finding>|unread", Who: Writers, Own: true, Critical: true, Accepted: true, take: finding},
		{Name: Accept, Follows: "<finding>|unread", Who: Writers, Own: true, take: finding},
		{Name: Override, Follows: "<reason>", Who: Maintainers, take: reason},
		{Name: Reject, Follows: "<reason>", Who: Maintainers, take: reason},
		{Name: Remember, Follows: "<M-id> [anyway] [organisation]", Who: Approvers, take: recordToApprove},
		{Name: Forget, Follows: "<M-id>", Who: Approvers, take: record},
		{Name: Resume, Who: Writers, take: nothing},
		{Name: Explain, Follows: "[agent|file]", Who: Authors, take: subject},
		{Name: Status, Who: Authors, take: nothing},
		{Name: Help, Who: Authors, take: anything},
	}
}

// find returns the command of a name, or nil. Phones begin lines with capitals.
func find(name string) *Kind {
	all := All()
	for i := range all {
		if strings.EqualFold(name, string(all[i].Name)) {
			return &all[i]
		}
	}
	return nil
}
