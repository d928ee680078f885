package memory

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// Contents are what markdown files say: patterns, and which findings of models are wrong.
type Contents struct {
	Patterns []ports.MemoryPattern
	Wrong    []pipeline.FalsePositive // without Record
}

// The files of an export. That of a service is named after it.
const (
	IndexFile    = "MEMORY.md"
	ServicesDir  = "service-patterns"
	markdownFile = ".md"
)

// The sections of a file, and the columns of their tables. The first two columns of wrongColumns and
// the first five of patternColumns are those of review workflows that write such files by hand.
const (
	sectionIssues   = "Common Issues"
	sectionRules    = "Service-Specific Rules"
	sectionWrong    = "False Positives to Avoid"
	sectionArchive  = "Archive"
	sectionServices = "Services"
)

var (
	patternColumns  = []string{"Pattern", "Frequency", "Last Seen", "Severity", "Example", "Rule", "Category"}
	wrongColumns    = []string{"Pattern", "Why It's Not an Issue", "Rule", "Agent", "Category", "Paths", "State"}
	servicesColumns = []string{"Service", "Common Issues", "False Positives to Avoid", "Archive"}
)

const (
	writtenPatterns, writtenWrong = 5, 2 // the columns that every table must have
	day                           = "2006-01-02"
)

// Exported is everything that an export says of a repository.
type Exported struct {
	Repository string // owner/name
	Records    []ports.MemoryRecord
	Patterns   []ports.MemoryPattern
	// Rules are what people wrote in the config about each service.
	Rules map[string][]string
	Now   time.Time
}

// file is one file of an export.
type file struct {
	issues, archive []ports.MemoryPattern
	wrong           []*ports.MemoryRecord
	rules           []string
}

// Markdown returns the files of an export by their paths: an index with what belongs to no service, and
// one file for each service. Records that have ended are left out, and so are those about rules.
func Markdown(x Exported) map[string]string {
	files := map[string]*file{"": {}}
	at := func(service string) *file {
		if files[service] == nil {
			files[service] = &file{}
		}
		return files[service]
	}
	for _, p := range x.Patterns {
		f := at(p.Service)
		if archived(&p, x.Now) {
			f.archive = append(f.archive, p)
		} else {
			f.issues = append(f.issues, p)
		}
	}
	for i := range x.Records {
		if r := &x.Records[i]; r.Models && r.State.Live() {
			f := at(r.About.Service)
			f.wrong = append(f.wrong, r)
		}
	}
	for service, rules := range x.Rules {
		if service != "" && len(rules) > 0 {
			at(service).rules = rules
		}
	}
	var services []string
	for service := range files {
		if service != "" {
			services = append(services, service)
		}
	}
	slices.Sort(services)
	out := map[string]string{}
	var index [][]string
	for _, service := range services {
		f := files[service]
		out[ServicesDir+"/"+service+markdownFile] = "# " + escaped(service) + " Review Patterns\n" + f.markdown(true)
		index = append(index, []string{service, strconv.Itoa(len(f.issues)), strconv.Itoa(len(f.wrong)), strconv.Itoa(len(f.archive))})
	}
	out[IndexFile] = "# Review Memory of " + escaped(x.Repository) + "\n\n## " + sectionServices + "\n" + table(servicesColumns, index) + files[""].markdown(false)
	return out
}

func (f *file) markdown(service bool) string {
	var b strings.Builder
	section := func(name, text string) { fmt.Fprintf(&b, "\n## %s\n%s", name, text) }
	section(sectionIssues, table(patternColumns, patternRows(f.issues)))
	if service {
		rules := "\n"
		for _, r := range f.rules {
			rules += "- " + escaped(plaintext.Line(plaintext.Printable(r))) + "\n"
		}
		section(sectionRules, rules)
	}
	var wrong [][]string
	for _, r := range f.wrong {
		a := &r.About
		paths := ""
		if len(a.Globs) > 0 {
			text, err := json.Marshal(a.Globs)
			if err != nil { // a list of texts
				panic(err)
			}
			paths = string(text)
		}
		wrong = append(wrong, []string{a.Title, a.Reason, a.Rule, a.Agent, a.Category, paths, string(r.State)})
	}
	slices.SortFunc(wrong, slices.Compare)
	section(sectionWrong, table(wrongColumns, wrong))
	section(sectionArchive, table(patternColumns, patternRows(f.archive)))
	return b.String()
}

func patternRows(all []ports.MemoryPattern) (rows [][]string) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b ports.MemoryPattern) int {
		if a.Frequency != b.Frequency {
			return b.Frequency - a.Frequency
		}
		return strings.Compare(a.Key, b.Key)
	})
	for _, p := range all {
		rows = append(rows, []string{
			p.Title, strconv.Itoa(p.Frequency), p.LastSeen.UTC().Format(day), string(p.Severity), p.Example, p.Rule, p.Category,
		})
	}
	return rows
}

// table writes a table. Without rows it has the head alone, so that people see what belongs there.
func table(columns []string, rows [][]string) string {
	var b strings.Builder
	b.WriteString("\n| " + strings.Join(columns, " | ") + " |\n|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, row := range rows {
		b.WriteString("|")
		for _, cell := range row {
			b.WriteString(" " + escaped(plaintext.Line(plaintext.Printable(cell))) + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// markup are the characters that may be markup somewhere in a cell.
const markup = "\\`*_{}[]<>#|~&@!$^=:+-.()'\""

// escaped writes a text on one line so that none of it is markup. unescaped reads it back.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 && strings.ContainsRune(markup, r) && !strings.ContainsRune("-.()'\"", r) || startsMarkup(&b, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// startsMarkup reports whether a character is markup where it stands: a list's bullet or number at the
// beginning, or the dot of an address.
func startsMarkup(before *strings.Builder, r rune) bool {
	was := before.String()
	switch r {
	case '-':
		return was == ""
	case '.', ')':
		return strings.Trim(was, "0123456789") == "" || strings.HasSuffix(strings.ToLower(was), "www")
	}
	return false
}

// unescaped reads what escaped wrote.
func unescaped(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte(markup, s[i+1]) >= 0 {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
