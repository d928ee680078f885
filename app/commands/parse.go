package commands

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/reviewgate/reviewgate/policies/learning"
)

// Command is what a comment asks for.
type Command struct {
	Kind
	Agents  []string // ids, each once, in the order in which they were typed
	Finding string   // an id in lower case, or how one begins: at least MinFinding characters; or Unread
	Class   learning.DismissalClass
	Reason  string
	Subject string // agent or file to explain, empty for all
	Record  string // the name of a record of memory, such as M-12
	// Anyway confirms a record although it would have hidden findings that were right, and
	// Organisation makes it hold in all of the organisation's repositories.
	Anyway, Organisation bool
}

// Unread stands in place of a finding's id for the files of a head that could not be
// read, which can be accepted and restored.
const Unread = "unread"

// MinFinding is how many characters of a finding's id must be given, so that
// what names one finding now is not likely to name another soon.
const MinFinding = 4

// UnknownError says that there is no such command.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string { return "there is no command " + e.Name }

// UsageError says what is wrong with what follows a command's name.
type UsageError struct {
	Kind  Kind
	Wrong Wrong
	Given string // the word that is wrong, if it is one
}

func (e *UsageError) Error() string { return e.Kind.Usage() + ": " + string(e.Wrong) + " " + e.Given }

// Wrong is what is wrong with what follows a command's name.
type Wrong string

// What can be wrong.
const (
	NoAgent    Wrong = "no agent"
	NoFinding  Wrong = "no finding"
	NoReason   Wrong = "no reason"
	BadFinding Wrong = "not a finding" // Given can't be an id
	NoRecord   Wrong = "no record"
	BadRecord  Wrong = "not a record" // Given can't be a record's name
	TooMuch    Wrong = "too much"     // Given is not understood
)

// Parse reads a command: its first word as typed, "review" for the bare one, and
// the rest of its line. The error is an *UnknownError or a *UsageError.
func Parse(name, rest string) (Command, error) {
	k := find(name)
	if k == nil {
		return Command{}, &UnknownError{name}
	}
	c := Command{Kind: *k}
	if err := k.take(&c, strings.TrimSpace(rest)); err != nil {
		return Command{}, err
	}
	return c, nil
}

func (c *Command) wrong(w Wrong, given string) error {
	return &UsageError{Kind: c.Kind, Wrong: w, Given: given}
}

func anything(*Command, string) error { return nil }

func nothing(c *Command, rest string) error {
	if rest != "" {
		return c.wrong(TooMuch, rest)
	}
	return nil
}

func agents(c *Command, rest string) error {
	for _, word := range strings.Fields(rest) {
		if id := unquoted(word); id != "" && !slices.Contains(c.Agents, id) {
			c.Agents = append(c.Agents, id)
		}
	}
	if len(c.Agents) == 0 {
		return c.wrong(NoAgent, "")
	}
	return nil
}

func subject(c *Command, rest string) error {
	c.Subject = unquoted(rest)
	return nil
}

func reason(c *Command, rest string) error {
	if c.Reason = rest; rest == "" {
		return c.wrong(NoReason, "")
	}
	return nil
}

// id is what a finding's id, or the beginning of one, is made of.
var id = regexp.MustCompile(`^[0-9a-f]{4,64}$`)

func finding(c *Command, rest string) error {
	word, more := cutWord(rest)
	if err := c.name(word); err != nil {
		return err
	}
	if more != "" {
		return c.wrong(TooMuch, more)
	}
	return nil
}

func findingAndReason(c *Command, rest string) error {
	word, more := cutWord(rest)
	if err := c.name(word); err != nil {
		return err
	}
	c.Class = learning.Other
	if m := class.FindStringSubmatch(more); m != nil {
		c.Class, more = classes[strings.ToLower(m[1][:1])], strings.TrimSpace(more[len(m[0]):])
	}
	return reason(c, more)
}

// class matches the class of a dismissal, as people write it, with what separates it from the reason.
var class = regexp.MustCompile(`(?i)^(false[-_ ]positive|won['’]?t[-_ ]fix|duplicate|other)(?:$|[:,.;]|[ \t])\s*`)

// classes are the classes by their first letters.
var classes = map[string]learning.DismissalClass{"f": learning.FalsePositive, "w": learning.WontFix, "d": learning.Duplicate, "o": learning.Other}

// recordName is the name of a record of memory.
var recordName = regexp.MustCompile(`^M-[1-9][0-9]{0,17}$`)

func record(c *Command, rest string) error {
	if err := recordToApprove(c, rest); err != nil {
		return err
	}
	if _, more := cutWord(rest); more != "" {
		return c.wrong(TooMuch, more)
	}
	return nil
}

func recordToApprove(c *Command, rest string) error {
	word, more := cutWord(rest)
	c.Record = strings.ToUpper(unquoted(word))
	switch {
	case c.Record == "":
		return c.wrong(NoRecord, "")
	case !recordName.MatchString(c.Record):
		return c.wrong(BadRecord, word)
	}
	for _, w := range strings.Fields(strings.ToLower(more)) {
		switch {
		case w == "anyway" && !c.Anyway:
			c.Anyway = true
		case (w == "organisation" || w == "organization") && !c.Organisation:
			c.Organisation = true
		default:
			return c.wrong(TooMuch, more)
		}
	}
	return nil
}

// name takes the word that names a finding.
func (c *Command) name(word string) error {
	c.Finding = strings.ToLower(unquoted(word))
	switch {
	case c.Finding == "":
		return c.wrong(NoFinding, "")
	case c.Finding == Unread && c.Kind.Name != Dismiss:
	case !id.MatchString(c.Finding):
		return c.wrong(BadFinding, word)
	}
	return nil
}

func cutWord(s string) (word, rest string) {
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:])
	}
	return s, ""
}

// unquoted takes off the backticks in which ids stand where they are copied
// from.
func unquoted(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r == '`' || unicode.IsSpace(r) })
}
