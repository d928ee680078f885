package render

import (
	"strings"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline"
)

// The limits of annotations. GitHub allows 64 KB for a message and for raw details, and
// 255 characters for a title; readers want less. We send at most 250 annotations, in five
// requests: GitHub shows only a few of them at once. The check's text says how many
// findings there are.
const (
	maxAnnotations      = 250
	maxAnnotationTitle  = 250       // bytes
	maxAnnotationDetail = 16 * 1024 // bytes
)

// annotations returns annotations for the findings on changed lines, worst first. Lines
// with a comment on them have none. all counts these findings without the limit. GitHub
// refuses a whole request if one annotation is outside the diff, and it takes only paths in
// UTF-8.
func annotations(v View) (out []ports.Annotation, all int) {
	fs := newFindings(v, plainPen{}, linker{})
	for _, f := range fs.list {
		from, to, ok := fs.diff.changed(f.Path, f.StartLine, max(f.StartLine, f.EndLine))
		if !ok || !utf8.ValidString(f.Path) || fs.isInline(f) && !fs.further[f] {
			continue
		}
		if all++; all > maxAnnotations {
			continue
		}
		out = append(out, ports.Annotation{
			Path:       f.Path,
			StartLine:  from,
			EndLine:    to,
			Level:      annotationLevel(severityOf(f)),
			Title:      clip(breakMentions(string(annotationTitle(fs, f))), maxAnnotationTitle),
			Message:    breakMentions(string(annotationText(fs, f))),
			RawDetails: rawDetails(fs, f),
		})
	}
	return out, all
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

// annotationText is never empty, because GitHub requires a message.
func annotationText(fs *findings, f *pipeline.Finding) safe {
	if len(f.Perspectives) > 0 {
		return lines(append(bullets(fs.sides(f)), "- "+say("bearing", fs.bearing(f))))
	}
	fix := fs.unlessRepeated(f.Recommendation, f.Message, f.WhyItMatters)
	if fix != "" {
		fix = say("recommendation", fix)
	}
	text := blocks([]safe{fs.unlessRepeated(f.Message, f.Title), fs.unlessRepeated(f.WhyItMatters, f.Title, f.Message), lines(fs.opinions(f)), fix})
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

// rawDetails returns the evidence and the suggested fix.
func rawDetails(fs *findings, f *pipeline.Finding) string {
	fix := fixOf(fs.diff, f)
	var list []string
	for _, e := range f.Evidence {
		if !shows(fix, strings.TrimSpace(e)) {
			list = append(list, codeLines(e)...)
		}
	}
	for _, l := range fix {
		list = append(list, string(l.op)+l.text)
	}
	var b strings.Builder
	for i, l := range list {
		l = codeLine(l, maxFixLine)
		if b.Len()+len(l) > maxAnnotationDetail {
			b.WriteString(string(moreOf(len(list) - i)))
			break
		}
		b.WriteString(l + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
