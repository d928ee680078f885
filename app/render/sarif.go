package render

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Names in our SARIF.
const (
	sarifTool        = "reviewgate"
	sarifRoot        = "%SRCROOT%" // the tools' name for the root of the sources
	sarifFingerprint = "reviewgate/v1"
)

// SARIF renders the report as SARIF 2.1.0. It has one run, with a rule for each rule id
// of the findings and a result for each finding. Suppressed findings are suppressed
// results. Regions have lines and no columns. An incomplete review is an invocation that
// failed. Problems of the config are its configuration notifications.
func SARIF(v View) ([]byte, error) {
	var out bytes.Buffer
	if err := sarifReport(v).PrettyWrite(&out); err != nil {
		return nil, fmt.Errorf("encode the report as SARIF: %w", err)
	}
	return append(escaped(out.Bytes()), '\n'), nil
}

func sarifReport(v View) *sarif.Report {
	s := &sarifRun{
		driver: sarif.NewToolComponent().WithName(sarifTool),
		rules:  map[string]int{},
		plain:  newFindings(v, plainPen{}, linker{}),
	}
	if version := oneLine(v.Record.Version, maxName); version != "" {
		s.driver.WithVersion(version)
	}
	run := sarif.NewRun().WithTool(sarif.NewTool().WithDriver(s.driver)).
		WithOriginalUriBaseIds(map[string]sarif.ArtifactLocation{sarifRoot: *sarif.NewArtifactLocation()})
	run.AddInvocation(invocation(&v.Review))
	if c := provenance(v); c != nil {
		run.AddVersionControlProvenance(c)
	}
	for _, f := range s.plain.list {
		run.AddResult(s.result(f))
	}
	for i := range v.Review.Report.Suppressed {
		x := &v.Review.Report.Suppressed[i]
		run.AddResult(s.result(&x.Finding).WithSuppressions([]*sarif.Suppression{
			sarif.NewSuppression().WithKind("external").WithJustification(oneLine(x.Reason, maxReason)),
		}))
	}
	return sarif.NewReport().AddRun(run)
}

// sarifRun collects the rules of the results.
type sarifRun struct {
	driver *sarif.ToolComponent
	rules  map[string]int
	plain  *findings
}

func (s *sarifRun) result(f *pipeline.Finding) *sarif.Result {
	level := sarifLevel(severityOf(f))
	id := ruleID(f)
	r := sarif.NewRuleResult(id).
		WithRuleIndex(s.rule(id, level, f)).
		WithLevel(level).
		WithMessage(sarif.NewTextMessage(s.message(f))).
		AddLocation(sarifLocation(f)).
		WithProperties(sarif.NewPropertyBag().
			Add("severity", string(severityOf(f))).
			Add("confidence", f.Confidence).
			Add("agent", oneLine(f.Agent, maxName)))
	if makers := f.Attribution(); makers != "" {
		r.Properties.Add("found_by", oneLine(makers, maxReason))
	}
	if f.ID != "" {
		r.WithPartialFingerprints(map[string]string{sarifFingerprint: f.ID})
	}
	switch f.State {
	case pipeline.StateNew:
		r.WithBaselineState("new")
	case pipeline.StateOpen:
		r.WithBaselineState("unchanged")
	}
	if fix := sarifFix(f); fix != nil {
		r.WithFixes([]*sarif.Fix{fix})
	}
	return r
}

// message starts with the title, because some viewers show nothing else.
func (s *sarifRun) message(f *pipeline.Finding) string {
	title, text := annotationTitle(s.plain, f), annotationText(s.plain, f)
	if text == title {
		return string(title)
	}
	return string(blocks([]safe{sentence(title), text}))
}

// ruleID returns the finding's rule. A finding without a rule has its agent instead.
func ruleID(f *pipeline.Finding) string {
	if id := oneLine(f.RuleID, maxName); id != "" {
		return id
	}
	return "agent/" + oneLine(f.Agent, maxName)
}

// rule returns the index of a rule's description. The first finding of the rule adds the
// description.
func (s *sarifRun) rule(id, level string, f *pipeline.Finding) int {
	if i, ok := s.rules[id]; ok {
		return i
	}
	i := len(s.driver.Rules)
	s.rules[id] = i
	rule := sarif.NewRule(id).WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(level))
	if f.RuleID != "" {
		rule.WithShortDescription(multiformat(string(annotationTitle(s.plain, f))))
		if help := oneLine(f.Recommendation, maxMessage); help != "" {
			rule.WithHelp(multiformat(help))
		}
		if ref := s.plain.reference(f); ref != "" {
			rule.WithHelpURI(ref)
		}
	}
	if c := oneLine(f.Category, maxName); c != "" {
		rule.WithProperties(sarif.NewPropertyBag().AddTag(c))
	}
	s.driver.AddRule(rule)
	return i
}

func multiformat(text string) *sarif.MultiformatMessageString {
	return sarif.NewMultiformatMessageString().WithText(text)
}

func sarifLevel(s pipeline.Severity) string {
	switch s {
	case pipeline.SeverityWarning:
		return sarif.LevelWarning
	case pipeline.SeverityInfo:
		return sarif.LevelNote
	}
	return sarif.LevelError
}

// sarifLocation returns the finding's place in a file, or the section of the change that
// the finding is about.
func sarifLocation(f *pipeline.Finding) *sarif.Location {
	if f.Path == "" {
		return sarif.NewLocation().WithLogicalLocations([]*sarif.LogicalLocation{
			sarif.NewLogicalLocation().WithName(string(plainPen{}.text(f.Section, maxName))),
		})
	}
	at := sarif.NewPhysicalLocation().WithArtifactLocation(artifact(f.Path))
	if f.StartLine > 0 {
		at.WithRegion(sarif.NewSimpleRegion(f.StartLine, max(f.StartLine, f.EndLine)))
	}
	return sarif.NewLocationWithPhysicalLocation(at)
}

func artifact(path string) *sarif.ArtifactLocation {
	// A colon in the first segment, or a slash before it, would make the
	// relative reference something else.
	uri := strings.ReplaceAll(escapePath(strings.TrimLeft(path, "/")), ":", "%3A")
	return sarif.NewSimpleArtifactLocation(uri).WithURIBaseID(sarifRoot)
}

func sarifFix(f *pipeline.Finding) *sarif.Fix {
	if f.SuggestedFix == "" || f.Path == "" || f.StartLine <= 0 {
		return nil
	}
	// A region without columns ends before its last line's break.
	text := strings.TrimRight(strings.ToValidUTF8(f.SuggestedFix, "\uFFFD"), "\n")
	region := sarif.NewSimpleRegion(f.StartLine, max(f.StartLine, f.EndLine))
	return sarif.NewFix().AddArtifactChange(sarif.NewArtifactChange().
		WithArtifactLocation(artifact(f.Path)).
		AddReplacement(sarif.NewReplacement().
			WithDeletedRegion(region).
			WithInsertedContent(sarif.NewArtifactContent().WithText(text))))
}

// invocation says whether the review is complete, what is missing, and which problems
// the config has.
func invocation(r *pipeline.Review) *sarif.Invocation {
	inv := sarif.NewInvocation().WithExecutionSuccessful(!isIncomplete(&r.Report))
	for _, i := range r.Report.Incomplete {
		n := sarif.NewNotification().WithMessage(sarif.NewTextMessage(oneLine(i.Why, maxReason)))
		if i.Gating {
			n.WithLevel(sarif.LevelError)
		}
		if i.Path != "" {
			n.AddLocation(sarif.NewLocationWithPhysicalLocation(
				sarif.NewPhysicalLocation().WithArtifactLocation(artifact(i.Path))))
		}
		inv.AddToolExecutionNotification(n)
	}
	for _, p := range r.Facts.Config.Problems {
		inv.AddToolConfigurationNotification(configNotification(&p, organisation(&r.Facts)))
	}
	return inv
}

// configNotification describes a problem of the config. It has no location if the
// problem is in the organisation's repository, because locations are relative to the
// change's own.
func configNotification(p *pipeline.ConfigProblem, organisation string) *sarif.Notification {
	text, elsewhere := config.FormatProblem(*p), p.Layer == config.LayerOrganisation && organisation != ""
	if elsewhere && p.File != "" {
		text = organisation + ": " + text
	}
	n := sarif.NewNotification().WithLevel(sarif.LevelError).WithMessage(sarif.NewTextMessage(oneLine(text, 2*maxReason)))
	if p.File == "" || elsewhere {
		return n
	}
	at := sarif.NewPhysicalLocation().WithArtifactLocation(artifact(p.File))
	if p.Line > 0 {
		at.WithRegion(sarif.NewSimpleRegion(p.Line, p.Line))
	}
	return n.AddLocation(sarif.NewLocationWithPhysicalLocation(at))
}

func provenance(v View) *sarif.VersionControlDetails {
	k := newLinker(v.Links, &v.Review.Facts)
	if k.web == "" || k.head == "" || !isSHA(k.headSHA) {
		return nil
	}
	return sarif.NewVersionControlDetails().
		WithRepositoryURI(k.web + "/" + escapePath(k.head)).
		WithRevisionID(k.headSHA)
}
