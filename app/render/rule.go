package render

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// maxReference is how much of a rule's reference is shown, in runes.
const maxReference = 300

// reference is the page that explains the finding's rule, or "". It must be a
// plain https URL. Pages on which a code host notes who links to them are left
// out: each comment would leave a trace there.
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

// referenceLink leads to the reference and is called like its host, so that
// no rule's id can pretend another. It is empty in formats without links.
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

// referenceURL has a host and no user, and nothing that markup could be made of.
var referenceURL = regexp.MustCompile(`^https://[A-Za-z0-9.-]+(?::[0-9]+)?(?:/[A-Za-z0-9%/._?=#&:+,;-]*)?$`)

// traced finds the paths of issues, pull requests, discussions and commits.
var backlinkPath = regexp.MustCompile(`(?i)/(?:issues|pulls?|discussions|commits?)/`)

// layer names the layer of config that made the finding's rule what it is.
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

// RuleNotes tells of the rules of findings what the config says besides.
func RuleNotes(r *pipeline.Report, cfg *config.Config) map[string]RuleNote {
	found := map[string]bool{}
	for i := range r.Findings {
		found[r.Findings[i].RuleID] = true
	}
	out := map[string]RuleNote{}
	for i := range cfg.Rules {
		rule := &cfg.Rules[i]
		if !found[rule.ID] {
			continue
		}
		note := RuleNote{Reference: rule.Reference, Layer: cfg.LayerOf(config.FileRules, rule.ID)}
		if note.Layer == config.LayerDefaults {
			note.Layer = ""
		}
		out[rule.ID] = note
	}
	return out
}
