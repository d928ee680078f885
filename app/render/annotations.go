package render

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Limits of annotations. GitHub allows 64 KB for a message and for raw
// details, and 255 characters for a title; a reader wants less. At most 250
// are sent, five requests' worth: GitHub shows no more than a few of them at
// once, and the text has all findings.
const (
	maxAnnotations      = 250
	maxAnnotationTitle  = 250       // runes
	maxAnnotationDetail = 16 * 1024 // bytes
)

// annotations are the findings on changed lines, worst first. GitHub refuses
// all of a request if one stands outside of the diff.
func annotations(v View) []Annotation {
	fs := newFindings(&v.Review, plainPen{}, linker{})
	var out []Annotation
	for _, f := range fs.list {
		if len(out) == maxAnnotations {
			break
		}
		from, to, ok := fs.diff.changed(f.Path, f.StartLine, max(f.StartLine, f.EndLine))
		if !ok {
			continue
		}
		out = append(out, Annotation{
			Path:       f.Path,
			StartLine:  from,
			EndLine:    to,
			Level:      annotationLevel(severityOf(f)),
			Title:      clip(breakMentions(string(annotationTitle(fs, f))), maxAnnotationTitle),
			Message:    breakMentions(string(annotationText(fs, f))),
			RawDetails: rawDetails(fs, f),
		})
	}
	return out
}

func annotationLevel(s pipeline.Severity) string {
	switch s {
	case pipeline.SeverityWarning:
		return "warning"
	case pipeline.SeverityInfo:
		return "notice"
	}
	return "failure"
}

// annotationText is never empty: GitHub demands a message.
func annotationText(fs *findings, f *pipeline.Finding) safe {
	fix := fs.said(f.Recommendation, f.Message, f.WhyItMatters)
	if fix != "" {
		fix = say("recommendation", fix)
	}
	text := blocks([]safe{fs.said(f.Message, f.Title), fs.said(f.WhyItMatters, f.Title, f.Message), fix})
	if text == "" {
		return annotationTitle(fs, f)
	}
	return text
}

func annotationTitle(fs *findings, f *pipeline.Finding) safe {
	if t := fs.p.text(f.Title, maxAnnotationTitle); t != "" {
		return t
	}
	return say("untitled", nil)
}

// rawDetails is the evidence and the suggested fix.
func rawDetails(fs *findings, f *pipeline.Finding) string {
	var b strings.Builder
	add := func(line string) {
		if b.Len()+len(line) < maxAnnotationDetail {
			b.WriteString(line + "\n")
		}
	}
	fix := fixOf(fs.diff, f)
	for _, e := range f.Evidence {
		if shows(fix, strings.TrimSpace(e)) {
			continue
		}
		for _, l := range codeLines(e) {
			add(codeLine(l, maxFixLine))
		}
	}
	for _, l := range visibleFix(fix) {
		add(l)
	}
	return strings.TrimRight(b.String(), "\n")
}
