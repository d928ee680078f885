package render

import (
	"compress/gzip"
	"io"
	"strings"
	"unicode/utf16"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Names in our SARIF. upload-sarif warns about each result whose primaryLocationLineHash is not the
// hash that it computes from the file. GitHub ignores other fingerprints. So we leave that one to
// upload-sarif, and ours serves other tools.
const (
	sarifSchema      = "https://json.schemastore.org/sarif-2.1.0.json"
	toolName         = "reviewgate"
	toolURL          = "https://github.com/reviewgate/reviewgate"
	sarifRoot        = "%SRCROOT%" // the tools' name for the root of the sources
	sarifFingerprint = "reviewgate/v1"
)

// The limits of GitHub's code scanning (docs.github.com, "SARIF support for code scanning"). It
// rejects a file with more, and shows the worst 5,000 results. There are never more rules than
// results, a result has one location, and a rule has two tags, so the limits of 25,000 rules, 1,000
// locations and 20 tags hold as well.
const (
	maxSARIFResults = 25_000
	maxSARIFBytes   = 10_000_000 // of the file after gzip
	maxSARIFName    = 255        // characters of a rule's name
	maxSARIFText    = 1024       // characters of a rule's descriptions
)

// The levels of SARIF.
const (
	sarifError   = "error"
	sarifWarning = "warning"
	sarifNote    = "note"
)

// SARIF renders the report as SARIF 2.1.0 that GitHub's code scanning accepts. It has one run, with a
// result for each finding in a file, worst first, and a rule for each rule id of the results. A
// finding about a whole file is at its first line. Notifications count the findings that are not
// results: those without a file, those that were set aside, for which GitHub would open alerts, and
// the least severe beyond GitHub's limits. An incomplete review is an invocation that failed.
// Problems of the config are its configuration notifications.
func SARIF(v View) ([]byte, error) { return sarifWithin(v, maxSARIFResults, maxSARIFBytes) }

// sarifWithin leaves out the least severe results until at most the given number is left and the file
// has at most size bytes after gzip.
func sarifWithin(v View, results, size int) ([]byte, error) {
	for {
		log := newSARIF(v, results)
		b, err := Indented(log)
		if err != nil {
			return nil, err
		}
		n := len(b)
		if n > size {
			n = gzipped(b)
		}
		shown := len(log.Runs[0].Results)
		if n <= size || shown == 0 {
			return b, nil
		}
		results = int(0.9 * float64(shown) * float64(size) / float64(n))
	}
}

// gzipped returns how many bytes gzip makes of b, at most.
func gzipped(b []byte) int {
	var n counter
	w, err := gzip.NewWriterLevel(&n, gzip.BestSpeed)
	if err == nil {
		_, err = w.Write(b)
	}
	if err != nil || w.Close() != nil {
		return len(b)
	}
	return int(n)
}

// counter counts the bytes that are written to it.
type counter int

var _ io.Writer = (*counter)(nil)

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// sarifBuilder collects the rules of the results.
type sarifBuilder struct {
	rules []sarifRule
	index map[string]int // by id
	plain *findings
}

func newSARIF(v View, limit int) sarifLog {
	s := &sarifBuilder{rules: []sarifRule{}, index: map[string]int{}, plain: newFindings(v, plainPen{}, linker{})}
	results, cut := []sarifResult{}, 0
	for _, f := range s.plain.list {
		switch {
		case !inFile(f):
		case len(results) == limit:
			cut++
		default:
			results = append(results, s.result(f))
		}
	}
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: toolName, Version: oneLine(v.Record.Version, maxName), InformationURI: toolURL, Rules: s.rules,
		}},
		Invocations:        []sarifInvocation{s.invocation(&v.Review, cut)},
		OriginalURIBaseIDs: map[string]sarifArtifact{sarifRoot: {}},
		ColumnKind:         "utf16CodeUnits",
		Results:            results,
	}
	if p, ok := provenance(v); ok {
		run.VersionControlProvenance = []sarifProvenance{p}
	}
	return sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}}
}

func (s *sarifBuilder) result(f *pipeline.Finding) sarifResult {
	id := ruleID(f)
	r := sarifResult{
		RuleID: id, RuleIndex: s.rule(id, f), Level: sarifLevels.of(severityOf(f)),
		Message:   sarifText{Text: passive(message(annotationTitle(s.plain, f), annotationText(s.plain, f)))},
		Locations: []sarifLocation{{sarifPlace{artifact(f.Path), s.region(f)}}},
		Properties: sarifResultBag{
			Severity: string(severityOf(f)), Confidence: f.Confidence, Agent: oneLine(f.Agent, maxName),
			FoundBy: oneLine(f.Attribution(), maxReason),
		},
	}
	if f.ID != "" {
		r.PartialFingerprints = map[string]string{sarifFingerprint: f.ID}
	}
	switch f.State {
	case pipeline.StateNew:
		r.BaselineState = "new"
	case pipeline.StateOpen:
		r.BaselineState = "unchanged"
	}
	if f.SuggestedFix != "" && f.StartLine > 0 {
		r.Fixes = []sarifFix{{[]sarifChange{{artifact(f.Path), []sarifReplacement{{
			DeletedRegion:   sarifRegion{StartLine: f.StartLine, EndLine: max(f.StartLine, f.EndLine)},
			InsertedContent: sarifText{Text: replacement(f)},
		}}}}}}
	}
	return r
}

// replacement returns the suggested fix without the last line's break, because a range of whole lines
// ends before it.
func replacement(f *pipeline.Finding) string {
	return strings.TrimRight(strings.ToValidUTF8(f.SuggestedFix, "\uFFFD"), "\n")
}

// message starts with the title, because some viewers show nothing else.
func message(title, text safe) safe {
	if text == title {
		return title
	}
	return blocks([]safe{sentence(title), text})
}

// passive breaks mentions, and links as messages in SARIF have them: [text](target).
func passive(s safe) string {
	return strings.ReplaceAll(breakMentions(string(s)), "](", "]"+zeroWidthSpace+"(")
}

// ruleID returns the finding's rule. A finding without a rule has its agent and its category instead.
func ruleID(f *pipeline.Finding) string {
	if id := oneLine(f.RuleID, maxName); id != "" {
		return id
	}
	id := "agent/" + oneLine(f.Agent, maxName)
	if c := oneLine(f.Category, maxName); c != "" {
		id += "/" + c
	}
	return id
}

// rule returns the index of a rule. The first finding of the rule, which is its worst, describes it as
// far as the config does not.
func (s *sarifBuilder) rule(id string, f *pipeline.Finding) int {
	if i, ok := s.index[id]; ok {
		return i
	}
	about := s.about(f)
	severity := severityOf(f)
	if note := s.plain.rules[f.RuleID]; f.RuleID != "" && note.Severity.Valid() {
		severity = note.Severity
	}
	rule := sarifRule{
		ID: id, Name: clip(passive(about.name), maxSARIFName), HelpURI: s.plain.reference(f),
		ShortDescription:     sarifText{Text: clip(passive(about.name), maxSARIFText)},
		FullDescription:      sarifText{Text: clip(passive(about.description), maxSARIFText)},
		Help:                 sarifText{Text: passive(about.help(plainPen{})), Markdown: string(about.help(markdownPen{}))},
		DefaultConfiguration: sarifConfiguration{sarifLevels.of(severity)},
		Properties:           sarifRuleBag{Precision: "high", ProblemSeverity: problemSeverities.of(severity)},
	}
	if f.RuleID == "" {
		rule.Properties.Precision = "medium" // an agent's own judgement
	}
	if c := oneLine(f.Category, maxName); c != "" {
		rule.Properties.Tags = []string{c}
	}
	if config.IsSecurity(f.Agent, f.Category) {
		rule.Properties.SecuritySeverity = securityScores.of(severity)
		rule.Properties.Tags = append(rule.Properties.Tags, "security")
	}
	s.index[id] = len(s.rules)
	s.rules = append(s.rules, rule)
	return s.index[id]
}

// ruleText describes a rule. name and description are plain text that is never empty.
type ruleText struct {
	name, description safe
	raw, fix          string // description and fix for any pen
	reference         string // a URL, or empty
}

// about returns the config's words about the finding's rule, or else the finding's own. A finding without
// a rule is described by its category.
func (s *sarifBuilder) about(f *pipeline.Finding) ruleText {
	p, note := s.plain.p, s.plain.rules[f.RuleID]
	out := ruleText{raw: f.Message, fix: f.Recommendation, reference: s.plain.reference(f), name: annotationTitle(s.plain, f)}
	switch {
	case f.RuleID == "":
		out.name = say("agent's rule", struct{ Agent, Category safe }{p.text(f.Agent, maxName), p.text(f.Category, maxName)})
		out.raw, out.fix = categoryText(f.Category), ""
	case note.Name != "":
		out.name, out.raw, out.fix = p.text(note.Name, maxTitle), note.Description, note.Recommendation
	}
	if out.description = p.text(out.raw, maxSARIFText); out.description == "" {
		out.raw, out.description = string(out.name), out.name
	}
	return out
}

// help returns what is wrong, how to fix it, and where to read more.
func (t *ruleText) help(p pen) safe {
	parts := []safe{p.para(t.raw, maxMessage)}
	if fix := p.para(t.fix, maxMessage); fix != "" {
		parts = append(parts, say("recommendation", fix))
	}
	if t.reference != "" {
		parts = append(parts, say("reference", p.link(p.code(t.reference, maxReference), t.reference)))
	}
	return blocks(parts)
}

// categoryText describes a category of models' findings, or returns "".
func categoryText(id string) string {
	for _, c := range config.Categories() {
		if c.ID == id {
			return c.Description
		}
	}
	return ""
}

var (
	sarifLevels = levels{sarifError, sarifError, sarifWarning, sarifNote}
	// problemSeverities are for GitHub's property problem.severity.
	problemSeverities = levels{"error", "error", "warning", "recommendation"}
	// securityScores are for GitHub's property security-severity of security rules. GitHub reads a score
	// as critical (above 9.0), high (from 7.0), medium (from 4.0) or low.
	securityScores = levels{"9.5", "8.0", "5.5", "2.5"}
)

// region returns the finding's lines. GitHub requires columns: the last one is behind the last line's
// end if the diff shows that line, and otherwise the first. A finding about a whole file is at the start
// of the file.
func (s *sarifBuilder) region(f *pipeline.Finding) *sarifRegion {
	start := max(1, f.StartLine)
	r := &sarifRegion{StartLine: start, StartColumn: 1, EndLine: max(start, f.EndLine), EndColumn: 1}
	if lines, ok := s.plain.diff.text(f.Path, f.StartLine, r.EndLine); ok {
		if last := lines[len(lines)-1]; !strings.Contains(last, pipeline.RedactionMark) { // a placeholder has another length
			r.EndColumn += len(utf16.Encode([]rune(last)))
		}
	}
	return r
}

// inFile reports whether a finding is in a file. Otherwise it is about the change as a whole, its title or
// its description.
func inFile(f *pipeline.Finding) bool { return strings.Trim(f.Path, "/") != "" }

func artifact(path string) sarifArtifact {
	// A colon in the first segment, or a slash before it, would make the
	// relative reference something else.
	uri := strings.ReplaceAll(escapePath(strings.TrimLeft(path, "/")), ":", "%3A")
	return sarifArtifact{uri, sarifRoot}
}

// invocation says whether the review is complete, what is missing, and which problems
// the config has. cut counts the results beyond GitHub's limits.
func (s *sarifBuilder) invocation(r *pipeline.Review, cut int) sarifInvocation {
	inv := sarifInvocation{ExecutionSuccessful: !isIncomplete(&r.Report)}
	for _, i := range r.Report.Incomplete {
		n := sarifNotification{Level: sarifWarning, Message: sarifText{Text: passive(safe(oneLine(i.Why, maxReason)))}}
		if i.Gating {
			n.Level = sarifError
		}
		if i.Path != "" {
			n.Locations = []sarifLocation{{sarifPlace{ArtifactLocation: artifact(i.Path)}}}
		}
		inv.ToolExecutionNotifications = append(inv.ToolExecutionNotifications, n)
	}
	note := func(level string, text safe) {
		if text != "" {
			inv.ToolExecutionNotifications = append(inv.ToolExecutionNotifications, sarifNotification{Level: level, Message: sarifText{Text: passive(text)}})
		}
	}
	note(sarifWarning, withoutFile(s.plain))
	note(sarifNote, say("sarif aside", len(r.Report.Suppressed)))
	note(sarifWarning, say("sarif cut", cut))
	for _, p := range r.Facts.Config.Problems {
		inv.ToolConfigurationNotifications = append(inv.ToolConfigurationNotifications, configNotification(&p, organisation(&r.Facts)))
	}
	return inv
}

// withoutFile names the findings about the change as a whole, which a format for findings in files can't
// hold. It returns "" if there are none.
func withoutFile(plain *findings) safe {
	const maxTitles = 10
	var whole []*pipeline.Finding
	for _, f := range plain.list {
		if !inFile(f) {
			whole = append(whole, f)
		}
	}
	return say("without file", struct {
		N      int
		Titles []safe
	}{len(whole), first(whole, maxTitles, func(f *pipeline.Finding) safe {
		return say("without file one", struct {
			Title    safe
			Severity word
		}{annotationTitle(plain, f), word(severityOf(f))})
	})})
}

// configNotification describes a problem of the config. It has no location if the
// problem is in the organisation's repository, because locations are relative to the
// change's own.
func configNotification(p *pipeline.ConfigProblem, organisation string) sarifNotification {
	text, elsewhere := config.FormatProblem(*p), p.Layer == config.LayerOrganisation && organisation != ""
	if elsewhere && p.File != "" {
		text = organisation + ": " + text
	}
	n := sarifNotification{Level: sarifError, Message: sarifText{Text: passive(safe(oneLine(text, 2*maxReason)))}}
	if p.File == "" || elsewhere {
		return n
	}
	at := sarifPlace{ArtifactLocation: artifact(p.File)}
	if p.Line > 0 {
		at.Region = &sarifRegion{StartLine: p.Line, EndLine: p.Line}
	}
	n.Locations = []sarifLocation{{at}}
	return n
}

func provenance(v View) (sarifProvenance, bool) {
	k := newLinker(v.Links, &v.Review.Facts)
	if k.web == "" || k.head == "" || !isSHA(k.headSHA) {
		return sarifProvenance{}, false
	}
	return sarifProvenance{k.web + "/" + escapePath(k.head), k.headSHA}, true
}
