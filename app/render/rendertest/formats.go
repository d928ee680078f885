package rendertest

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// GitLabAccepts returns what is wrong with a Code Quality report, by
// https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format.
func GitLabAccepts(b []byte) error {
	var issues []struct {
		Description string `json:"description"`
		CheckName   string `json:"check_name"`
		Fingerprint string `json:"fingerprint"`
		Severity    string `json:"severity"`
		Location    struct {
			Path  string `json:"path"`
			Lines struct {
				Begin int `json:"begin"`
				End   int `json:"end"`
			} `json:"lines"`
		} `json:"location"`
	}
	if err := strictJSON(b, &issues); err != nil {
		return err
	}
	if issues == nil {
		return errors.New("no list of issues")
	}
	seen := map[string]bool{}
	for _, i := range issues {
		if i.Description == "" || i.CheckName == "" || i.Fingerprint == "" || i.Location.Path == "" || i.Location.Lines.Begin < 1 ||
			!oneOf(i.Severity, "info", "minor", "major", "critical", "blocker") || seen[i.Fingerprint] {
			return fmt.Errorf("issue %+v", i)
		}
		seen[i.Fingerprint] = true
	}
	return nil
}

// ReviewdogAccepts returns what is wrong with a result in the Reviewdog Diagnostic Format, by
// https://github.com/reviewdog/reviewdog/blob/master/proto/rdf/reviewdog.proto.
func ReviewdogAccepts(b []byte) error {
	type position struct {
		Line   int `json:"line"`
		Column int `json:"column"`
	}
	type lines struct {
		Start position `json:"start"`
		End   position `json:"end"`
	}
	var result struct {
		Source struct {
			Name string `json:"name"`
			URL  string `json:"url"`
		} `json:"source"`
		Diagnostics []struct {
			Message  string `json:"message"`
			Location struct {
				Path  string `json:"path"`
				Range *lines `json:"range"`
			} `json:"location"`
			Severity string `json:"severity"`
			Code     struct {
				Value string `json:"value"`
				URL   string `json:"url"`
			} `json:"code"`
			Suggestions []struct {
				Range lines  `json:"range"`
				Text  string `json:"text"`
			} `json:"suggestions"`
		} `json:"diagnostics"`
	}
	if err := strictJSON(b, &result); err != nil {
		return err
	}
	if result.Source.Name == "" || result.Diagnostics == nil {
		return fmt.Errorf("source %+v, or no list of diagnostics", result.Source)
	}
	for _, d := range result.Diagnostics {
		ranges := []*lines{d.Location.Range}
		for _, s := range d.Suggestions {
			ranges = append(ranges, &s.Range)
		}
		bad := func(r *lines) bool { return r != nil && (r.Start.Line < 1 || r.End.Line < r.Start.Line) }
		if d.Message == "" || d.Location.Path == "" || d.Code.Value == "" || !oneOf(d.Severity, "ERROR", "WARNING", "INFO") || slices.ContainsFunc(ranges, bad) {
			return fmt.Errorf("diagnostic %+v", d)
		}
	}
	return nil
}

func strictJSON(b []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}

// CheckstyleAccepts returns what is wrong with a report of Checkstyle: each file is there once, and each
// of its errors has a line, a severity, a message and a source.
func CheckstyleAccepts(b []byte) error {
	files := map[string]bool{}
	return walkXML(b, map[string]element{
		"checkstyle": {in: "", attrs: []string{"version"}},
		"file": {in: "checkstyle", attrs: []string{"name"}, check: func(a map[string]string) error {
			if a["name"] == "" || files[a["name"]] {
				return fmt.Errorf("file %q has no name or is there twice", a["name"])
			}
			files[a["name"]] = true
			return nil
		}},
		"error": {in: "file", attrs: []string{"line", "severity", "message", "source"}, check: func(a map[string]string) error {
			if n, err := strconv.Atoi(a["line"]); err != nil || n < 1 || a["message"] == "" || a["source"] == "" || !oneOf(a["severity"], "error", "warning", "info") {
				return fmt.Errorf("error %v", a)
			}
			return nil
		}},
	})
}

// JUnitAccepts returns what is wrong with a report of JUnit: its counts must be right, and the names of
// its tests unique.
func JUnitAccepts(b []byte) error {
	counted := map[string]int{}
	var said []map[string]string
	count := func(kind string) func(map[string]string) error {
		return func(a map[string]string) error {
			counted[kind]++
			if a["message"] == "" || a["type"] == "" {
				return fmt.Errorf("%s %v", kind, a)
			}
			return nil
		}
	}
	counts := []string{"name", "tests", "failures", "errors", "time"}
	say := func(a map[string]string) error {
		said = append(said, a)
		return nil
	}
	names := map[string]bool{}
	err := walkXML(b, map[string]element{
		"testsuites": {in: "", attrs: counts, check: say},
		"testsuite":  {in: "testsuites", attrs: counts, check: say},
		"testcase": {in: "testsuite", attrs: []string{"name", "classname"}, optional: []string{"file"}, check: func(a map[string]string) error {
			counted["tests"]++
			if a["name"] == "" || a["classname"] == "" || names[a["name"]] {
				return fmt.Errorf("test %v has no name, or one that is there twice", a)
			}
			names[a["name"]] = true
			return nil
		}},
		"failure":    {in: "testcase", attrs: []string{"message", "type"}, text: true, check: count("failures")},
		"error":      {in: "testcase", attrs: []string{"message", "type"}, text: true, check: count("errors")},
		"system-out": {in: "testcase", text: true},
	})
	if err != nil {
		return err
	}
	for _, a := range said {
		for _, kind := range []string{"tests", "failures", "errors"} {
			if a[kind] != strconv.Itoa(counted[kind]) {
				return fmt.Errorf("%s says %s=%q of %d", a["name"], kind, a[kind], counted[kind])
			}
		}
	}
	if len(said) != 2 || counted["tests"] == 0 {
		return fmt.Errorf("%d suites, %d tests", len(said), counted["tests"])
	}
	return nil
}

// element is what an element may have: the parent in, all of attrs, and some of optional.
type element struct {
	in              string
	attrs, optional []string
	text            bool
	check           func(attrs map[string]string) error
}

// walkXML checks a document of known elements.
func walkXML(b []byte, known map[string]element) error {
	if !bytes.HasPrefix(b, []byte(xml.Header)) {
		return errors.New("no XML header")
	}
	dec := xml.NewDecoder(bytes.NewReader(b[len(xml.Header):]))
	path := []string{""}
	roots := 0
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			if roots != 1 {
				return fmt.Errorf("%d root elements", roots)
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}
		parent := path[len(path)-1]
		switch t := token.(type) {
		case xml.StartElement:
			e, ok := known[t.Name.Local]
			if !ok || e.in != parent || t.Name.Space != "" {
				return fmt.Errorf("element %s in %q", t.Name.Local, parent)
			}
			if err := e.accepts(t.Attr); err != nil {
				return fmt.Errorf("element %s: %w", t.Name.Local, err)
			}
			if parent == "" {
				roots++
			}
			path = append(path, t.Name.Local)
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			if !known[parent].text && len(bytes.TrimSpace(t)) > 0 {
				return fmt.Errorf("text %q in %q", t, parent)
			}
		default:
			return fmt.Errorf("%T in %q", t, parent)
		}
	}
}

func (e *element) accepts(attrs []xml.Attr) error {
	got := map[string]string{}
	for _, a := range attrs {
		if _, twice := got[a.Name.Local]; twice || a.Name.Space != "" || !slices.Contains(e.attrs, a.Name.Local) && !slices.Contains(e.optional, a.Name.Local) {
			return fmt.Errorf("attribute %v", a.Name)
		}
		got[a.Name.Local] = a.Value
	}
	for _, name := range e.attrs {
		if _, ok := got[name]; !ok {
			return fmt.Errorf("no attribute %s in %v", name, slices.Sorted(maps.Keys(got)))
		}
	}
	if e.check == nil {
		return nil
	}
	return e.check(got)
}

// Command is a workflow command as a runner of GitHub Actions reads it.
type Command struct {
	Level, File, Title, Message string
	Line, EndLine               int
}

// ReadLog reads the workflow commands in a log as a runner does, and returns all other lines as well. It
// fails if the log has a command that is no annotation, one that GitHub would cut or leave out, or a line
// in another form of command.
func ReadLog(log string) (commands []Command, others []string, err error) {
	made := map[string]int{}
	for line := range strings.Lines(log) {
		line = strings.TrimSuffix(line, "\n")
		if strings.ContainsAny(line, "\r\v\f\u0085\u2028\u2029") {
			return nil, nil, fmt.Errorf("%q has a line break", line)
		}
		start := strings.TrimSpace(line) // a runner ignores all white space before a command
		if !strings.HasPrefix(start, "::") {
			if strings.Contains(line, "##[") {
				return nil, nil, fmt.Errorf("%q has a command in the old form", line)
			}
			others = append(others, line)
			continue
		}
		c, err := readCommand(start)
		if err != nil {
			return nil, nil, err
		}
		if made[c.Level]++; made[c.Level] > 10 {
			return nil, nil, fmt.Errorf("more than 10 commands of the kind %s", c.Level)
		}
		commands = append(commands, c)
	}
	return commands, others, nil
}

var commandForm = regexp.MustCompile(`^::(error|warning|notice) ((?:[a-zA-Z]+=[^,:]*,?)*)::(.*)$`)

func readCommand(line string) (Command, error) {
	m := commandForm.FindStringSubmatch(line)
	if m == nil {
		return Command{}, fmt.Errorf("command %q", line)
	}
	c := Command{Level: m[1], Message: unescaped(m[3])}
	for _, p := range strings.Split(m[2], ",") {
		name, value, _ := strings.Cut(p, "=")
		value = unescaped(strings.NewReplacer("%3A", ":", "%2C", ",").Replace(value))
		var err error
		switch name {
		case "file":
			c.File = value
		case "title":
			c.Title = value
		case "line":
			c.Line, err = strconv.Atoi(value)
		case "endLine":
			c.EndLine, err = strconv.Atoi(value)
		default:
			err = errors.New("not a property of annotations")
		}
		if err != nil {
			return Command{}, fmt.Errorf("property %q of %q: %w", p, line, err)
		}
	}
	switch {
	case c.Title == "" || c.Message == "" || len(c.Title) > 255 || len(c.Message) > 4096 || strings.Contains(c.Title, "\n"):
		return Command{}, fmt.Errorf("title %q, message of %d bytes: %q", c.Title, len(c.Message), line)
	case c.EndLine < c.Line || c.Line > 0 && c.File == "" || c.Line < 0:
		return Command{}, fmt.Errorf("file %q, lines %d to %d: %q", c.File, c.Line, c.EndLine, line)
	case strings.Contains(c.Title+c.Message, "##["):
		return Command{}, fmt.Errorf("the log would have a command in the old form: %q", line)
	}
	return c, nil
}

func unescaped(s string) string {
	return strings.NewReplacer("%25", "%", "%0D", "\r", "%0A", "\n").Replace(s)
}
