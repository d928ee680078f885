package aggregate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// unite makes one finding of those that a rule makes about equal lines of one file: they have one
// cause. The finding keeps the first place and lists the others. It keeps every fingerprint, so a
// person's decision about it does not cover a line that comes later.
//
// Only findings that don't block by their severity, are not about security, and differ in nothing but
// their place are united. A new one stays apart from those that the last report had, so that gates on
// new findings still count it. Findings about redacted text stay apart because equal lines may hide
// different secrets.
func unite(w *work) {
	lines := make([]uniteLine, len(w.findings))
	count := map[uniteLine]int{}
	for i, f := range w.findings {
		if lines[i] = uniteLineOf(w, f); lines[i] != (uniteLine{}) {
			count[lines[i]]++
		}
	}
	equal := map[string][]*item{}
	key := make([]string, len(w.findings))
	for i, f := range w.findings {
		if count[lines[i]] > 1 { // few findings, so that the others don't pay for the comparison
			key[i] = lines[i].flagged + "\x00" + withoutPlace(&f.Finding)
			equal[key[i]] = append(equal[key[i]], f)
		}
	}
	kept := w.findings[:0]
	for i, f := range w.findings {
		same := equal[key[i]]
		switch {
		case len(same) < 2:
			kept = append(kept, f)
		case f == same[0]:
			kept = append(kept, united(same))
			if c, n := &w.report.Changes, len(same)-1; f.State == pipeline.StateNew {
				c.New -= n
			} else {
				c.Open -= n
			}
		}
	}
	w.findings = kept
}

// uniteLine is what findings that unite makes one of are about.
type uniteLine struct{ path, rule, agent, flagged string }

// uniteLineOf returns the zero value for a finding that stays alone.
func uniteLineOf(w *work, f *item) uniteLine {
	if f.GateSeverity.Rank() >= pipeline.SeverityMajor.Rank() || config.IsSecurity(f.Agent, f.Category) || f.HasReason(pipeline.ReasonHeld) {
		return uniteLine{} // each place has to be judged: what follows on the next lines may differ
	}
	if f.Path == "" || f.StartLine == 0 || f.RuleID == "" || f.Model != "" || f.unraised || f.parts != nil || len(f.Perspectives) > 0 ||
		w.in.secrets[f.Agent] || f.maker() != f.source() ||
		slices.ContainsFunc(f.Evidence, func(text string) bool { return strings.Contains(text, pipeline.RedactionMark) }) {
		return uniteLine{}
	}
	flagged := w.texts.flagged(f)
	if strings.TrimSpace(flagged) == "" {
		return uniteLine{}
	}
	return uniteLine{f.Path, f.RuleID, f.Agent, flagged}
}

// withoutPlace returns all of a finding but its place, in a form that can be compared.
func withoutPlace(f *pipeline.Finding) string {
	rest := *f
	rest.ID, rest.Fingerprints, rest.Surroundings, rest.StartLine, rest.EndLine = "", nil, nil, 0, 0
	return fmt.Sprintf("%#v", rest)
}

// united is the first of several findings with the places of the others.
func united(same []*item) *item {
	f := *same[0]
	f.members = nil
	ids := map[string]string{} // the surroundings of each fingerprint
	for i, x := range same {
		if i > 0 {
			f.Also = append(f.Also, pipeline.OtherPlace{ID: x.ID, StartLine: x.StartLine, EndLine: x.EndLine})
		}
		f.members = append(f.members, x.each()...)
		for k, id := range x.Fingerprints {
			ids[id] = x.Surroundings[k]
		}
	}
	f.Fingerprints, f.Surroundings = sortedKeys(ids), nil
	for _, id := range f.Fingerprints {
		f.Surroundings = append(f.Surroundings, ids[id])
	}
	return &f
}
