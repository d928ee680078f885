package render

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

type checkstyleReport struct {
	XMLName xml.Name         `xml:"checkstyle"`
	Version string           `xml:"version,attr"`
	Files   []checkstyleFile `xml:"file"`
}

type checkstyleFile struct {
	Name   string            `xml:"name,attr"`
	Errors []checkstyleError `xml:"error"`
}

type checkstyleError struct {
	Line     int    `xml:"line,attr"`
	Severity string `xml:"severity,attr"` // error, warning or info
	Message  string `xml:"message,attr"`
	Source   string `xml:"source,attr"`
}

var checkstyleLevels = levels{"error", "error", "warning", "info"}

// Checkstyle renders the review as XML in the form of Checkstyle, by file. What is about a whole file is
// at its first line. The format has no place for what [Unplaced] names.
func Checkstyle(v View) ([]byte, error) {
	out := checkstyleReport{Version: "4.3"} // the version that other tools write
	list := slices.DeleteFunc(remarks(v), func(r remark) bool { return r.path == "" })
	slices.SortStableFunc(list, func(a, b remark) int { return cmp.Compare(a.path, b.path) })
	for i, r := range list {
		if i == 0 || list[i-1].path != r.path {
			out.Files = append(out.Files, checkstyleFile{Name: literal(r.path, unlimited)})
		}
		file := &out.Files[len(out.Files)-1]
		file.Errors = append(file.Errors, checkstyleError{max(1, r.start), checkstyleLevels.of(r.severity), oneLine(string(r.whole()), 2*maxMessage), r.rule})
	}
	return indentedXML(out)
}

type junitReport struct {
	XMLName xml.Name `xml:"testsuites"`
	junitCounts
	Suite junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	junitCounts
	Cases []junitCase `xml:"testcase"`
}

type junitCounts struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Time     string `xml:"time,attr"` // seconds
}

type junitCase struct {
	Name      string      `xml:"name,attr"`
	ClassName string      `xml:"classname,attr"`
	File      string      `xml:"file,attr,omitempty"`
	Failure   *junitWrong `xml:"failure"`
	Error     *junitWrong `xml:"error"`
	Out       string      `xml:"system-out,omitempty"`
}

type junitWrong struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"` // the severity, or gate
	Text    string `xml:",chardata"`
}

// JUnit renders the review as XML in the form of JUnit. The first test fails if the gate blocks in the
// mode enforce. Each finding is a test: it fails if the finding is critical or major, and otherwise
// passes with the finding as its output. What keeps the review from being complete is a test with an
// error. No two tests have one name, because GitLab would ignore the second.
func JUnit(v View) ([]byte, error) {
	answer := plainTitle(v)
	gate := junitCase{Name: string(say("junit gate", nil)), ClassName: toolName, Out: answer}
	if v.Mode == config.ModeEnforce && v.Review.Report.Decision.Blocks() {
		gate.Failure, gate.Out = &junitWrong{answer, "gate", answer}, ""
	}
	cases := []junitCase{gate}
	names := map[string]bool{gate.Name: true}
	for _, r := range remarks(v) {
		c := r.junit()
		c.Name = unused(names, c.Name)
		cases = append(cases, c)
	}
	n := junitCounts{Name: toolName, Tests: len(cases), Time: fmt.Sprintf("%.3f", v.Record.Duration().Seconds())}
	for _, c := range cases {
		if c.Failure != nil {
			n.Failures++
		}
		if c.Error != nil {
			n.Errors++
		}
	}
	return indentedXML(junitReport{junitCounts: n, Suite: junitSuite{n, cases}})
}

func (r *remark) junit() junitCase {
	at, text := string(r.place()), string(blocks([]safe{r.whole(), say("junit rule", struct{ Place, Rule safe }{r.place(), safe(r.rule)})}))
	c := junitCase{Name: string(r.line()), ClassName: toolName}
	if at != "" {
		c.Name += " (" + at + ")"
		c.File = literal(r.path, unlimited)
		c.ClassName = c.File
	}
	wrong := &junitWrong{string(r.line()), string(r.severity), text}
	switch {
	case r.severity.Rank() < pipeline.SeverityMajor.Rank():
		c.Out = text
	case r.finding == nil:
		c.Error = wrong
	default:
		c.Failure = wrong
	}
	return c
}

// indentedXML returns an XML document. It writes what a runner of GitHub Actions would take for the start
// of a command with a character reference, so that the document may be printed to a log.
func indentedXML(v any) ([]byte, error) {
	b, err := xml.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the review as XML: %w", err)
	}
	text := commandStart.ReplaceAllStringFunc(string(b), func(start string) string {
		last := len(start) - 1
		return fmt.Sprintf("%s&#%d;", start[:last], start[last])
	})
	return []byte(xml.Header + text + "\n"), nil
}
