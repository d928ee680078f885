package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/policies/glob"
	"github.com/reviewgate/reviewgate/policies/memory"
)

// The bounds of an import.
const (
	MaxFiles    = 201 // the index, and one for each of 200 services
	maxName     = 200 // characters of a rule's, an agent's or a category's name
	maxExample  = 800 // characters of a place in the code, without its line
	maxPlace    = maxExample + 20
	maxGlobs    = 20
	maxGlob     = 200       // characters of one, which JSON may escape
	maxSeenEver = 1_000_000 // the greatest frequency
	firstYear   = 2000      // of what was seen last. What is after today is refused by check
)

// MaxFile bounds a file, in bytes. One file may have all that a repository may have; a character takes
// at most 4 bytes, escaped or not.
const (
	MaxFile     = 4*(ports.MaxMemoryPatterns*patternSize+ports.MaxMemoryRecords*wrongSize) + 64<<10
	patternSize = maxTitle + maxPlace + 2*maxName + rowSize
	wrongSize   = maxTitle + pipeline.MaxMemoryReason + 3*maxName + maxGlobs*(2*maxGlob+4) + rowSize
	rowSize     = 64 // characters of numbers, words and bars in a row
)

// serviceName is the name of a service in the config.
var serviceName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)

// ParseError is a mistake in a file.
type ParseError struct {
	File    string
	Line    int // 0 means the file as a whole
	Problem string
	Remedy  string
}

func (e *ParseError) Error() string {
	place := e.File
	if e.Line > 0 {
		place = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return fmt.Sprintf("%s: %s; %s", place, e.Problem, e.Remedy)
}

// ServiceOf returns the service that a file of an export is about by its path, "" for the index. ok is
// false for a file that no export has.
func ServiceOf(name string) (service string, ok bool) {
	if name == IndexFile {
		return "", true
	}
	dir, base := path.Split(name)
	service, isMarkdown := strings.CutSuffix(base, markdownFile)
	return service, isMarkdown && dir == ServicesDir+"/" && serviceName.MatchString(service)
}

// Parse reads a file of an export, or one that people wrote in that form, and adds what it says. name is
// its path in the export. The error is a *ParseError.
func (c *Contents) Parse(name, text string) error {
	service, ok := ServiceOf(name)
	switch {
	case !ok:
		return &ParseError{File: name, Problem: "it is neither " + IndexFile + " nor about a service", Remedy: "name it " + ServicesDir + "/SERVICE.md, after a service of the config"}
	case len(text) > MaxFile:
		return &ParseError{File: name, Problem: fmt.Sprintf("it has more than %d bytes", MaxFile), Remedy: "leave out patterns that have not been seen for a long time"}
	case !utf8.ValidString(text):
		return &ParseError{File: name, Problem: "it is not UTF-8", Remedy: "save it as UTF-8"}
	}
	p := parser{Contents: c, file: name, service: service}
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		p.line++
		if err := p.read(strings.TrimRight(line, " \t\r")); err != nil {
			return err
		}
		text = rest
	}
	if !p.titled {
		return p.wrong("it has no title", "begin it with a line such as \"# Review Patterns\"")
	}
	return nil
}

// parser reads one file line by line.
type parser struct {
	*Contents
	file, service string
	line          int
	titled        bool
	section       string
	seen          []string // sections
	columns       int      // of the section's table, 0 before its head
	ruled         bool     // the line below the head was read
}

func (p *parser) wrong(problem, remedy string) error {
	return &ParseError{File: p.file, Line: p.line, Problem: problem, Remedy: remedy}
}

func (p *parser) read(line string) error {
	switch {
	case line == "":
		return nil
	case strings.HasPrefix(line, "# ") && !p.titled:
		p.titled = true
		return nil
	case !p.titled:
		return p.wrong("it has no title", "begin it with a line such as \"# Review Patterns\"")
	case strings.HasPrefix(line, "## "):
		return p.begin(strings.TrimPrefix(line, "## "))
	case p.section == sectionRules && strings.HasPrefix(line, "- "):
		return nil // the config has them
	case strings.HasPrefix(line, "|") && p.section != "" && p.section != sectionRules:
		return p.row(line)
	}
	return p.wrong("this line is neither a heading nor a row of a table", "put it into one of the tables, or leave it out")
}

func (p *parser) begin(section string) error {
	known := []string{sectionIssues, sectionRules, sectionWrong, sectionArchive}
	if p.service == "" {
		known = []string{sectionServices, sectionIssues, sectionWrong, sectionArchive}
	}
	switch {
	case !slices.Contains(known, section):
		return p.wrong(fmt.Sprintf("there is no section %q here", plaintext.Cut(plaintext.Printable(section), maxName)), "use "+strings.Join(known, ", "))
	case slices.Contains(p.seen, section):
		return p.wrong("the section "+section+" appears twice", "put both into one")
	}
	p.section, p.columns, p.ruled = section, 0, false
	p.seen = append(p.seen, section)
	return nil
}

// row reads a row of a table: its head, the line below the head, or a row of cells.
func (p *parser) row(line string) error {
	cells, ok := cellsOf(line)
	if !ok {
		return p.wrong("the row does not end with |", "end it with |")
	}
	columns, least := patternColumns, writtenPatterns
	switch p.section {
	case sectionWrong:
		columns, least = wrongColumns, writtenWrong
	case sectionServices:
		columns, least = servicesColumns, len(servicesColumns)
	}
	switch {
	case p.columns == 0:
		if len(cells) < least || len(cells) > len(columns) || !slices.Equal(cells, columns[:len(cells)]) {
			return p.wrong(p.section+" has other columns", "use "+strings.Join(columns, ", ")+"; those after "+columns[least-1]+" may be left out")
		}
		p.columns = len(cells)
		return nil
	case !p.ruled:
		if strings.Trim(line, "|-: ") != "" || len(cells) != p.columns {
			return p.wrong("the line below the table's header is missing", fmt.Sprintf("write |%s", strings.Repeat("---|", p.columns)))
		}
		p.ruled = true
		return nil
	case len(cells) != p.columns:
		return p.wrong(fmt.Sprintf("the row has %d cells and the table %d", len(cells), p.columns), `write \| for a | in a cell`)
	}
	cells = append(cells, make([]string, len(columns)-len(cells))...)
	switch p.section {
	case sectionServices:
		return nil // the files say more
	case sectionWrong:
		return p.wrongRow(cells)
	}
	return p.patternRow(cells)
}

// cellsOf returns the cells of a row.
func cellsOf(line string) (cells []string, ok bool) {
	rest, begun := strings.CutPrefix(line, "|")
	if !begun {
		return nil, false
	}
	from := 0
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '|':
			cells = append(cells, unescaped(strings.TrimSpace(rest[from:i])))
			from = i + 1
		}
	}
	return cells, from == len(rest) && len(cells) > 0
}

// severities are those of the config, and the words of review workflows for them.
var severities = map[string]pipeline.Severity{
	"critical": pipeline.SeverityCritical, "major": pipeline.SeverityMajor, "warning": pipeline.SeverityWarning, "info": pipeline.SeverityInfo,
	"important": pipeline.SeverityMajor, "minor": pipeline.SeverityWarning,
}

func (p *parser) patternRow(cells []string) error {
	frequency, err := strconv.Atoi(cells[1])
	if err != nil || frequency < 0 || frequency > maxSeenEver {
		return p.wrong("the frequency is not a number", fmt.Sprintf("write how often it was found, from 0 to %d", maxSeenEver))
	}
	seen, err := time.Parse(day, cells[2])
	if err != nil || seen.Year() < firstYear {
		return p.wrong("the day on which it was last seen is not a date", "write it as 2026-02-14")
	}
	severity, ok := severities[strings.ToLower(cells[3])]
	if !ok {
		return p.wrong("the severity is unknown", "use critical, major, warning or info")
	}
	pattern := ports.MemoryPattern{RecurringFinding: pipeline.RecurringFinding{
		Service: p.service, Title: cells[0], Frequency: frequency, LastSeen: seen, Severity: severity, Example: cells[4], Rule: cells[5], Category: cells[6],
	}}
	pattern.Key = patternKey(pattern.Rule, pattern.Category, pattern.Title)
	if problem, remedy := checkPattern(&pattern); problem != "" {
		return p.wrong(problem, remedy)
	}
	if len(p.Patterns) == ports.MaxMemoryPatterns {
		return p.wrong(fmt.Sprintf("there are more than %d patterns", ports.MaxMemoryPatterns), "leave out those not seen for the longest time")
	}
	p.Patterns = append(p.Patterns, pattern)
	return nil
}

func (p *parser) wrongRow(cells []string) error {
	about := pipeline.FalsePositive{Service: p.service, Title: cells[0], Reason: cells[1], Rule: cells[2], Agent: cells[3], Category: cells[4], Blocked: true}
	if cells[5] != "" {
		if err := json.Unmarshal([]byte(cells[5]), &about.Globs); err != nil {
			return p.wrong("the paths are not a list", `write globs as ["src/**", "lib/*.go"]`)
		}
	}
	if problem, remedy := checkWrong(&about); problem != "" {
		return p.wrong(problem, remedy)
	}
	if len(p.Wrong) == ports.MaxMemoryRecords {
		return p.wrong(fmt.Sprintf("there are more than %d false positives", ports.MaxMemoryRecords), "leave some out")
	}
	p.Wrong = append(p.Wrong, about)
	return nil
}

func checkPattern(p *ports.MemoryPattern) (problem, remedy string) {
	switch {
	case !oneLine(p.Title, maxTitle) || p.Title == "":
		return "the pattern is empty or too long", fmt.Sprintf("say in at most %d characters what is found", maxTitle)
	case !oneLine(p.Rule, maxName), !oneLine(p.Category, maxName), !oneLine(p.Example, maxPlace):
		return "a cell is too long, or has control characters", "shorten it"
	case p.Key == "", p.Key != patternKey(p.Rule, p.Category, p.Title):
		return "the pattern has no word that tells it from others", "say what is found, or name the rule"
	case p.Service != "" && !serviceName.MatchString(p.Service):
		return "there is no such service", "use the name of a service of the config"
	case p.Severity.Rank() == 0, p.Frequency < 0, p.Frequency > maxSeenEver:
		return "the severity or the frequency is unknown", "use critical, major, warning or info, and a number"
	}
	return "", ""
}

func checkWrong(a *pipeline.FalsePositive) (problem, remedy string) {
	switch {
	case !oneLine(a.Title, maxTitle) || a.Title == "":
		return "the pattern is empty or too long", fmt.Sprintf("write the title of such findings, in at most %d characters", maxTitle)
	case !oneLine(a.Reason, pipeline.MaxMemoryReason) || a.Reason == "":
		return "the reason is empty or too long", fmt.Sprintf("say in at most %d characters why it is not an issue", pipeline.MaxMemoryReason)
	case !oneLine(a.Rule, maxName), !oneLine(a.Agent, maxName), !oneLine(a.Category, maxName):
		return "a cell is too long, or has control characters", "shorten it"
	case a.Service != "" && !serviceName.MatchString(a.Service):
		return "there is no such service", "use the name of a service of the config"
	case slices.ContainsFunc(a.Globs, func(g string) bool { return !oneLine(g, maxGlob) }):
		return "a path is too long, or has control characters", "use a shorter glob"
	case len(a.Globs) > maxGlobs:
		return fmt.Sprintf("there are more than %d paths", maxGlobs), "use a glob for several"
	case a.Rule == "" && !memory.Like(a, a):
		return "the pattern has too few words to tell such findings from others", "write the title of such findings, or name the rule"
	}
	if _, err := glob.Compile(a.Globs); err != nil {
		return "the paths are not globs: " + plaintext.Printable(err.Error()), `write globs as ["src/**", "lib/*.go"]`
	}
	return "", ""
}

// oneLine reports whether a text has at most most characters, all of which can be shown as they are.
func oneLine(s string, most int) bool {
	return utf8.RuneCountInString(s) <= most && s == plaintext.Line(plaintext.Printable(s))
}

// check refuses contents that Parse would not have read, as another program may have sent them, and
// patterns that were last seen after today.
func (c *Contents) check(now time.Time) error {
	if len(c.Patterns) > ports.MaxMemoryPatterns || len(c.Wrong) > ports.MaxMemoryRecords {
		return errors.New("there is more to import than a repository may have")
	}
	for i := range c.Patterns {
		if problem, remedy := checkPattern(&c.Patterns[i]); problem != "" {
			return fmt.Errorf("pattern %d: %s; %s", i+1, problem, remedy)
		}
		if seen := c.Patterns[i].LastSeen; seen.Year() < firstYear || seen.After(now.AddDate(0, 0, 1)) { // somewhere it is tomorrow already
			return fmt.Errorf("the pattern %q was last seen on %s; write a day on which it was found", c.Patterns[i].Title, seen.UTC().Format(day))
		}
	}
	for i := range c.Wrong {
		if problem, remedy := checkWrong(&c.Wrong[i]); problem != "" {
			return fmt.Errorf("false positive %d: %s; %s", i+1, problem, remedy)
		}
	}
	return nil
}
