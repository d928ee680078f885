package render

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// maxReference bounds a rule's reference, in bytes. A longer one is not shown.
const maxReference = 300

// reference returns the URL of the page about the finding's rule, or "". It must be a
// plain https URL. Pages on which a code host lists the links to them are left out,
// because each comment would add an entry there.
func (fs *findings) reference(f *pipeline.Finding) string {
	ref := fs.rules[f.RuleID].Reference
	if f.RuleID == "" || len(ref) > maxReference || !referenceURL.MatchString(ref) {
		return ""
	}
	plain, err := url.PathUnescape(ref) // as the code host reads it
	if err != nil || backlinkPath.MatchString(plain) {
		return ""
	}
	return ref
}

// referenceLink links to the reference. Its label is the host, so that a rule's id
// cannot pretend to be another host. It is empty in formats without links.
func (fs *findings) referenceLink(f *pipeline.Finding) safe {
	ref := fs.reference(f)
	if ref == "" {
		return ""
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(ref, "https://"), "/")
	label := fs.p.code(host, maxReference)
	if link := fs.p.link(label, ref); link != label {
		return link
	}
	return ""
}

// referenceURL matches URLs with a host, without a user and without markup.
var referenceURL = regexp.MustCompile(`^https://[A-Za-z0-9.-]+(?::[0-9]+)?(?:/[A-Za-z0-9%/._?=#&:+,;-]*)?$`)

// backlinkPath matches the paths of issues, pull requests, discussions and commits. GitHub
// lists there which pages link to them.
var backlinkPath = regexp.MustCompile(`(?i)/(?:issues|pulls?|discussions|commits?)/`)

// layer names the config layer of the finding's rule, or returns "".
func (fs *findings) layer(f *pipeline.Finding) safe {
	if f.RuleID == "" {
		return ""
	}
	layer := fs.p.text(fs.rules[f.RuleID].Layer, maxName)
	if layer == "" {
		return ""
	}
	return say("rule's layer", layer)
}

// raisedIn names the domains that raised the severity of the finding's rule to the finding's, or
// returns "".
func (fs *findings) raisedIn(f *pipeline.Finding) safe {
	note, known := fs.rules[f.RuleID]
	if !known || len(note.SeverityIn) == 0 || f.Severity.Rank() <= note.Severity.Rank() {
		return ""
	}
	const maxDomains = 3
	var domains []string
	for _, d := range fs.domains {
		in := slices.ContainsFunc(d.Files, func(file pipeline.DomainFile) bool { return file.Path == f.Path })
		if in && note.SeverityIn[d.ID] == f.Severity {
			domains = append(domains, d.ID)
		}
	}
	names, _ := list(", ", first(domains, maxDomains, func(id string) safe { return fs.p.text(id, maxName) }))
	return names
}

// RuleNotes returns what the config says about the rules that have findings.
func RuleNotes(r *pipeline.Report, cfg *config.Config) map[string]RuleNote {
	ids := map[string]bool{}
	for i := range r.Findings {
		ids[r.Findings[i].RuleID] = true
	}
	out := map[string]RuleNote{}
	for i := range cfg.Rules {
		rule := &cfg.Rules[i]
		if !ids[rule.ID] {
			continue
		}
		note := RuleNote{
			Reference: rule.Reference, Layer: cfg.LayerOf(config.FileRules, rule.ID),
			Name: rule.Name, Description: rule.Description, Recommendation: rule.Recommendation, Severity: rule.Severity, SeverityIn: rule.SeverityIn, Pattern: linePattern(rule.Match),
			Removed: rule.Match != nil && rule.Match.On == config.OnRemoved,
		}
		if note.Layer == config.LayerDefaults {
			note.Layer = ""
		}
		out[rule.ID] = note
	}
	return out
}

// linePattern returns the pattern of a rule that matches added lines, or "".
func linePattern(m *config.Match) string {
	if m == nil || m.On != "" && m.On != config.OnAdded {
		return ""
	}
	return cmp.Or(m.Pattern, regexp.QuoteMeta(m.Literal))
}
