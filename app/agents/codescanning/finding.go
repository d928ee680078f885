package codescanning

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// confidence is that of every finding: see the package comment.
const confidence = 0.80

// What a finding shows of the texts, in characters.
const (
	maxTitle   = 200
	maxMessage = 2000
	maxDetails = 1000
	maxRule    = 200
)

// collector makes findings of what others found.
type collector struct {
	places   *places
	byKey    map[string]int // place in list
	list     []pipeline.Finding
	notShown int // findings on lines that do not count
	bytes    int // of all texts
}

func newCollector(task dispatch.Task, filter string) *collector {
	return &collector{places: newPlaces(task.Facts, task.Entry.Scope, filter), byKey: map[string]int{}}
}

// annotation takes in one of a check run.
func (c *collector) annotation(r ports.ScanRun, a *ports.ScanAnnotation) {
	severity := pipeline.SeverityWarning
	switch a.Level {
	case "failure":
		severity = pipeline.SeverityMajor
	case "notice":
		severity = pipeline.SeverityInfo
	}
	c.add(pipeline.Finding{
		Title: title(a.Title, a.Message), Message: words(a.Message, a.Title), Severity: severity,
		RuleID: rule(r.App, cmp.Or(a.Title, r.Name)), Category: category,
		Path: a.Path, StartLine: a.StartLine, EndLine: a.EndLine,
		Evidence: details(a.RawDetails, fmt.Sprintf("annotated by the check %s of the App %s", plaintext.Printable(r.Name), plaintext.Printable(r.App))),
	})
}

// category is that of all findings: what kind of mistakes other tools look for
// is not known.
const category = "other-checks"

// alert takes in one of code scanning. A rule of severity none is not a finding.
func (c *collector) alert(a *ports.ScanAlert) {
	severity, ok := alertSeverity(a)
	if !ok {
		return
	}
	f := pipeline.Finding{
		Title: title(words(a.Title, a.Rule), a.Message), Message: words(a.Message, a.Title, a.Rule), Severity: severity,
		RuleID: rule(a.Tool, a.Rule), Category: category, WhyItMatters: a.Why,
		Path: a.Path, StartLine: a.StartLine, EndLine: a.EndLine,
		Evidence: details("", fmt.Sprintf("code scanning alert %d of %s", a.Number, plaintext.Printable(a.Tool))),
	}
	if u, err := url.Parse(a.HelpURL); err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil {
		f.Recommendation = "See " + u.String()
	}
	c.add(f)
}

// alertSeverity is that of the rule: its security severity, if it has one.
func alertSeverity(a *ports.ScanAlert) (pipeline.Severity, bool) {
	switch a.SecuritySeverity {
	case "critical":
		return pipeline.SeverityCritical, true
	case "high":
		return pipeline.SeverityMajor, true
	case "medium":
		return pipeline.SeverityWarning, true
	case "low":
		return pipeline.SeverityInfo, true
	}
	switch a.Severity {
	case "error":
		return pipeline.SeverityMajor, true
	case "note":
		return pipeline.SeverityInfo, true
	case "none":
		return "", false
	}
	return pipeline.SeverityWarning, true
}

// add keeps a finding where it is shown. Equal ones at one place are one: a
// workflow that runs for the push and for the pull request annotates twice, and
// code scanning annotates what it alerts of.
func (c *collector) add(f pipeline.Finding) {
	path := strings.TrimPrefix(f.Path, "./")
	from, to, inFile, ok := c.places.of(path, f.StartLine, f.EndLine)
	if !ok {
		c.notShown++
		return
	}
	if !inFile {
		f.Message = fmt.Sprintf("In %s, line %d: %s", plaintext.Printable(path), f.StartLine, f.Message)
		path, f.Section = "", pipeline.SectionChange
	}
	f.Path, f.StartLine, f.EndLine, f.Confidence = path, from, to, confidence
	key := fmt.Sprintf("%q %d %q %q", f.Path, f.StartLine, strings.ToLower(f.Title), f.Message)
	if at, there := c.byKey[key]; there {
		if known := &c.list[at]; f.Severity.Rank() > known.Severity.Rank() {
			known.Severity = f.Severity
		}
		return
	}
	c.byKey[key] = len(c.list)
	c.list = append(c.list, f)
	c.bytes += len(f.Title) + 2*len(f.Message) + len(f.WhyItMatters) // the key has it again
	for _, e := range f.Evidence {
		c.bytes += len(e)
	}
}

// unread makes a finding of an error that says that not all was read, unless the
// agent is required: who floods a change must not have what others found go with
// it. It returns all other errors.
func (c *collector) unread(err error, required bool) error {
	var much *ports.TooMuchError
	if required || !errors.As(err, &much) {
		return err
	}
	c.list = append(c.list, pipeline.Finding{
		Title: "Not all that other checks annotated was read", Message: much.Error(), Severity: pipeline.SeverityMajor,
		RuleID: "annotations/unread", Category: category, Section: pipeline.SectionChange, Confidence: confidence,
		Evidence: details("", "counted on this head"),
	})
	return nil
}

// findings are the worst of them, fit to be shown, and how many more there are.
func (c *collector) findings(redact func(string) string) (list []pipeline.Finding, more int) {
	slices.SortStableFunc(c.list, func(a, b pipeline.Finding) int { return compare(&a, &b) })
	list = c.list[:min(len(c.list), maxFindings)]
	for i := range list {
		f := &list[i]
		f.Title = plaintext.Printable(shown(redact, f.Title, maxTitle))
		f.Message = shown(redact, f.Message, maxMessage)
		f.WhyItMatters = shown(redact, f.WhyItMatters, maxDetails)
		f.RuleID = shown(redact, f.RuleID, maxRule)
		for j := range f.Evidence {
			f.Evidence[j] = shown(redact, f.Evidence[j], maxDetails)
		}
	}
	return list, len(c.list) - len(list)
}

// notes say what is not shown.
func (c *collector) notes(more int) (notes []string) {
	if c.notShown > 0 {
		notes = append(notes, fmt.Sprintf("%d not shown, since they are on no line that counts", c.notShown))
	}
	if more > 0 {
		notes = append(notes, fmt.Sprintf("%d more that are no worse than those shown", more))
	}
	return notes
}

// margin is how much of the end of a text that was cut is not shown, in bytes: a
// secret that the cut went through is not known for one. Private keys of 4,096
// bits take 3,300.
const margin = 4 << 10

// shown is what is shown of a text: without secrets, and at most so many
// characters.
func shown(redact func(string) string, text string, most int) string {
	cut := len(text) >= ports.MaxScanText-utf8Max
	text = redact(text)
	if cut {
		text = strings.ToValidUTF8(text[:max(0, len(text)-margin)], "") + "…"
	}
	return plaintext.Cut(text, most)
}

// utf8Max is how much shorter than MaxScanText a text may be that was cut between
// two characters.
const utf8Max = 4

// title returns the title of a finding. Many tools use the rule's name as the title, so
// that findings on neighbouring lines have the same one. The first line of the message
// tells them apart.
func title(name, message string) string {
	name, line := plaintext.Printable(name), firstLine(message)
	if name == "" || line == "" || strings.EqualFold(name, line) {
		return cmp.Or(name, line, noText)
	}
	return name + ": " + line
}

// noText stands for a text that says nothing: GitHub takes blanks.
const noText = "No text"

// words is the first of some texts that says something.
func words(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return noText + "."
}

func details(raw, source string) pipeline.List[string] {
	if strings.TrimSpace(raw) == "" {
		return pipeline.List[string]{source}
	}
	return pipeline.List[string]{source, raw}
}

// rule is the id of a tool's rule. It has a slash, which ids of reviewgate's own
// rules have not.
func rule(tool, id string) string { return plaintext.Printable(tool) + "/" + plaintext.Printable(id) }

// firstLine is the first line that says something.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = plaintext.Printable(line); line != "" {
			return line
		}
	}
	return ""
}
