package fourrules

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// These are the limits of a summary.
const (
	MaxWords = 200 // the limit that review requests state
	// perWord limits texts without spaces, in characters a word. No language has more on average.
	perWord = 10
)

// Cut shortens a summary to the given number of words, and says at its end that it was cut.
func Cut(summary string, words int) string {
	n, end := 0, 0
	inWord := false
	for i, r := range summary {
		space := unicode.IsSpace(r)
		if !space && !inWord {
			n++
		}
		inWord = !space
		if n <= words && !space {
			end = i + utf8.RuneLen(r)
		}
	}
	if n > words {
		summary = fmt.Sprintf("%s … (cut: %d of %d words)", summary[:end], words, n)
	}
	most := perWord * words
	if all := utf8.RuneCountInString(summary); all > most+100 { // the mark is added after this
		summary = fmt.Sprintf("%s… (cut: %d of %d characters)", string([]rune(summary)[:most]), most, all)
	}
	return summary
}

// These are the limits of a clarification prompt. What does not fit is counted.
const (
	MaxClarification = 32 << 10 // characters
	maxReviewers     = 8
	maxPoints        = 12
	maxVoices        = 4    // voices on one point
	maxVoice         = 240  // characters of one voice
	maxSaid          = 1400 // characters of a summary: 200 words have some 1,300
	maxName          = 80   // characters of a name
)

const nobodyAnswered = "There is no result, because no reviewer answered. That does not count as approval. Ask the reviewers again, or ask others, and continue once one has answered."

// clarification returns a prompt that asks the agents to settle the reviewers' issues. It says who
// raised what, who did not answer, and what must be settled. Reviewers with concerns come first.
func clarification(results []Result, issues []RaisedIssue, missing []string) string {
	unanswered := noAnswerFrom(missing)
	if len(results) == 0 && unanswered == "" {
		return nobodyAnswered
	}
	if countOf(results, Concerns) == 0 { // nothing to settle but the missing answers
		return fmt.Sprintf("%s, so work is paused. A missing answer does not count as approval. Ask for a review again, and continue once everybody has answered.\n", unanswered)
	}
	voices := slices.Clone(results)
	slices.SortStableFunc(voices, func(a, b Result) int { return b.Payload.Verdict.rank() - a.Payload.Verdict.rank() })
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d reviewers have concerns, so work is paused until these are settled.", countOf(results, Concerns), len(results)+len(missing))
	if unanswered != "" {
		fmt.Fprintf(&b, " %s, which does not count as approval.", unanswered)
	}
	b.WriteString(" Texts in quotes are the reviewers' own words.\n\nWho says what:\n")
	for i, r := range voices {
		if i == maxReviewers {
			fmt.Fprintf(&b, "- and %d more reviewers\n", len(voices)-i)
			break
		}
		fmt.Fprintf(&b, "- %s (%s): %s\n", oneLine(r.Reviewer, maxName), r.Payload.Verdict, quoted(r.Payload.Summary, maxSaid))
	}
	b.WriteString("\nTo settle:\n")
	points := pointsOf(issues)
	for i, p := range points {
		if i == maxPoints {
			fmt.Fprintf(&b, "- and %d more\n", len(points)-i)
			break
		}
		fmt.Fprintf(&b, "%d. %s\n", i+1, p)
	}
	if approved := countOf(results, Approved); approved > 0 {
		fmt.Fprintf(&b, "\n%d of them approved the same work. If a concern is unfounded, say why.\n", approved)
	}
	b.WriteString("\nFor each point, say what you change, or why nothing has to change. If two points contradict each other, say which one you follow. Then ask for a review.\n")
	return b.String()
}

// noAnswerFrom names the reviewers who did not answer. It returns "" if all did.
func noAnswerFrom(missing []string) string {
	if len(missing) == 0 {
		return ""
	}
	var names []string
	for i, name := range missing {
		if i == maxReviewers {
			names = append(names, fmt.Sprintf("%d more", len(missing)-i))
			break
		}
		names = append(names, oneLine(name, maxName))
	}
	return "No answer from " + strings.Join(names, ", ")
}

func countOf(results []Result, v Verdict) int {
	n := 0
	for i := range results {
		if results[i].Payload.Verdict == v {
			n++
		}
	}
	return n
}

// pointsOf lists what was raised, with one point for each file, and one point for each issue
// without a file. Files that several reviewers name come first, because the reviewers may
// contradict each other there. Otherwise the points are in the order of the issues.
func pointsOf(issues []RaisedIssue) []string {
	var files []string // in order; "" for each issue without a file
	of := map[string][]RaisedIssue{}
	for _, x := range issues {
		if x.File == "" || of[x.File] == nil {
			files = append(files, x.File)
		}
		of[x.File] = append(of[x.File], x)
	}
	several := func(file string) bool {
		return file != "" && slices.ContainsFunc(of[file], func(x RaisedIssue) bool { return x.Reviewer != of[file][0].Reviewer })
	}
	slices.SortStableFunc(files, func(a, b string) int {
		switch {
		case several(a) == several(b):
			return 0
		case several(a):
			return -1
		}
		return 1
	})
	points := make([]string, 0, len(files))
	alone := of[""]
	for _, file := range files {
		if file == "" {
			points = append(points, voice(alone[0]))
			alone = alone[1:]
			continue
		}
		points = append(points, oneLine(file, maxVoice)+": "+voicesOf(of[file]))
	}
	return points
}

func voicesOf(issues []RaisedIssue) string {
	var out []string
	for i, x := range issues {
		if i == maxVoices {
			out = append(out, fmt.Sprintf("and %d more", len(issues)-i))
			break
		}
		out = append(out, voice(x))
	}
	return strings.Join(out, "; ")
}

func voice(x RaisedIssue) string {
	if x.Line > 0 {
		return fmt.Sprintf("%s (%s, line %d): %s", oneLine(x.Reviewer, maxName), x.Severity, x.Line, quoted(x.Description, maxVoice))
	}
	return fmt.Sprintf("%s (%s): %s", oneLine(x.Reviewer, maxName), x.Severity, quoted(x.Description, maxVoice))
}

// quoted returns a text in quotes. The text can't end the quotes.
func quoted(s string, limit int) string {
	return `"` + strings.ReplaceAll(oneLine(s, limit), `"`, "'") + `"`
}

// oneLine puts a text on one line, removes invisible characters, and cuts it to the
// limit. So no reviewer can add a line to the prompt.
func oneLine(s string, limit int) string {
	return plaintext.CutLine(strings.Map(func(r rune) rune {
		if !unicode.IsSpace(r) && (!unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)) {
			return -1
		}
		return r
	}, s), limit)
}
