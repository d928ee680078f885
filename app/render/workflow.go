package render

import (
	"fmt"
	"regexp"
	"strings"
)

// The limits of GitHub Actions. The runner keeps 10 errors, 10 warnings and 10 notices of a step, and
// the first 4,096 characters of a message; GitHub shows 50 annotations of a job, and a title of 255
// characters. A summary has at most 1 MiB.
const (
	maxCommands       = 10
	maxCommandMessage = 4000        // bytes
	MaxJobSummary     = 1024 * 1024 // bytes of a step's summary file
)

var commandLevels = levels{"error", "error", "warning", "notice"}

// Workflow renders the review for the log of a GitHub Actions job. Each finding has a line. The worst of
// each kind also have a workflow command, which GitHub shows as an annotation in the change. The last
// line counts those that have none.
func Workflow(v View) string {
	var b strings.Builder
	line := func(s safe) { b.WriteString(LogText(string(s)) + "\n") }
	pg := newPage(v, plainPen{}, newLinker(Links{}, &v.Review.Facts))
	line(say("icon", pg) + " " + say("title", pg))
	made, left := map[string]int{}, 0
	for _, r := range remarks(v) {
		line(say("log line", struct {
			Severity           word
			Title, Place, Rule safe
		}{word(r.severity), r.line(), r.place(), safe(r.rule)}))
		level := commandLevels.of(r.severity)
		if made[level] == maxCommands {
			left++
			continue
		}
		made[level]++
		b.WriteString(r.command(level) + "\n")
	}
	if left > 0 {
		line(say("log left", left))
	}
	return b.String()
}

// The characters that a runner turns back, in a command's message and in its properties.
var (
	commandData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// command returns the workflow command for a remark.
func (r *remark) command(level string) string {
	var properties []string
	add := func(name, value string) {
		properties = append(properties, name+"="+commandProperty.Replace(value))
	}
	if r.path != "" {
		add("file", literal(r.path, unlimited))
		if r.start > 0 {
			add("line", fmt.Sprint(r.start))
			add("endLine", fmt.Sprint(r.end))
		}
	}
	add("title", LogText(clip(breakMentions(string(r.title)), maxAnnotationTitle)))
	message := LogText(clip(breakMentions(string(r.text)), maxCommandMessage))
	return "::" + level + " " + strings.Join(properties, ",") + "::" + commandData.Replace(message)
}

// commandStart matches what a runner of GitHub Actions takes for the start of a command: two colons at
// the start of a line, or two number signs and a bracket anywhere.
var commandStart = regexp.MustCompile(`##\[|(?m:^[\s\p{Z}]*::)`)

// LogText keeps a runner of GitHub Actions from taking text in its log for commands. It puts a zero-width
// space into what it would take for one.
func LogText(s string) string {
	return commandStart.ReplaceAllStringFunc(s, func(start string) string {
		return start[:len(start)-1] + zeroWidthSpace + start[len(start)-1:]
	})
}

// JobSummary renders the review for the summary of a GitHub Actions job: in markdown, with at most room
// bytes. If there is room for very little, it is the headline or empty.
func JobSummary(v View, room int) string {
	r := newReport(v, room-1)
	whole := r.fitted(r.head(), func() []safe { return append(r.belowFindings(), r.next(), say("md footer", r.page)) })
	for _, text := range []safe{whole, say("md headline", r.page)} {
		if out := r.run.Replace(string(text)) + "\n"; len(out) <= room {
			return out
		}
	}
	return ""
}
