package aggregate

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// texts finds the text that findings are about.
type texts struct {
	in        *input
	flaggedAt map[flaggedLines]string   // the text of flagged lines, by position
	digests   map[string][]digestedLine // by file, computed when needed
	commits   map[string]string         // commit messages by section, computed when needed
}

// How much of a finding's lines counts: the first lines that aren't blank. The beginning identifies
// a longer finding.
const (
	maxFlagged = 50
	maxSpanned = 4 * maxFlagged // with blank lines
)

// flagged is the text that a finding is about, with white space collapsed, including blank lines
// and line breaks. It leaves out comments that ignore findings, so that writing one does not change
// the finding. Facts hold placeholders for secrets, so it contains no secret. A finding about no
// lines is about its section, or about a commit's message.
func (tx *texts) flagged(f *item) string {
	if f.Path == "" {
		message, _ := tx.commit(f)
		return plaintext.Line(message)
	}
	if f.StartLine == 0 {
		return f.section
	}
	if tx.in.files[f.Path] == nil {
		return ""
	}
	place := flaggedLines{f.Path, f.StartLine, f.EndLine}
	if text, ok := tx.flaggedAt[place]; ok {
		return text // computed once: thousands of findings may be about one line
	}
	lines := tx.in.lines.of(f.Path)
	var text []string
	for n := f.StartLine; n <= f.EndLine && n < f.StartLine+maxSpanned && len(text) < maxFlagged; n++ {
		if l := plaintext.Line(lines[n].text); l != "" {
			text = append(text, l)
		}
	}
	tx.flaggedAt[place] = brief(strings.Join(text, " ") + "\n")
	return tx.flaggedAt[place]
}

// flaggedLines are the lines of a file that a finding is about.
type flaggedLines struct {
	path       string
	start, end int
}

// maxBrief is the length up to which a text itself is part of a finding's identity, in bytes.
const maxBrief = 4 << 10

// brief is a text, or its digest if the text is too long to store for each finding.
func brief(text string) string {
	if len(text) <= maxBrief {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:]) + "\n"
}

// commit returns the commit message that a finding is about, if it is about one.
func (tx *texts) commit(f *item) (message string, known bool) {
	if f.Path != "" || f.Section == "" {
		return "", false
	}
	if tx.commits == nil {
		tx.commits = map[string]string{}
		for _, c := range tx.in.Facts.Commits {
			tx.commits[pipeline.SectionCommit(c.SHA)] = c.Message
		}
	}
	message, known = tx.commits[f.Section]
	return message, known
}

// The bytes of a flagged line's digest, and the digests that a finding keeps.
const (
	flaggedDigest    = 4
	maxFlaggedDigest = 20
)

// setFlagged records the lines that models' findings flag, so that a later review can match them.
func (tx *texts) setFlagged(findings []*item) {
	for _, f := range findings {
		if f.Model == "" {
			continue
		}
		f.Flagged = nil
		switch {
		case f.Path == "":
			if message, known := tx.commit(f); known {
				f.Flagged = pipeline.List[string]{LineDigest(message)}
			}
		case f.StartLine > 0 && tx.in.files[f.Path] != nil:
			lines := tx.in.lines.of(f.Path)
			for n := f.StartLine; n <= f.EndLine && n < f.StartLine+maxSpanned && len(f.Flagged) < maxFlaggedDigest; n++ {
				if l := plaintext.Line(lines[n].text); l != "" {
					f.Flagged = append(f.Flagged, LineDigest(l))
				}
			}
		}
	}
}

// LineDigest identifies a line of code in Finding.Flagged, whatever its white space.
func LineDigest(text string) string {
	sum := sha256.Sum256([]byte(plaintext.Line(text)))
	return hex.EncodeToString(sum[:flaggedDigest])
}

// findLines returns where a file has lines with the digests, ignoring blank lines.
func (tx *texts) findLines(path string, digests []string) (start, end int, ok bool) {
	if len(digests) == 0 {
		return 0, 0, false
	}
	code := tx.digested(path)
	for i := 0; i+len(digests) <= len(code); i++ {
		same := 0
		for same < len(digests) && code[i+same].digest == digests[same] {
			same++
		}
		if same == len(digests) {
			return code[i].number, code[i+same-1].number, true
		}
	}
	return 0, 0, false
}

// digestedLine is a line of the head with its digest.
type digestedLine struct {
	number int
	digest string
}

// digested returns the lines of a file that the diff shows, without blank ones. It computes the
// digests once for all findings.
func (tx *texts) digested(path string) []digestedLine {
	if code, ok := tx.digests[path]; ok {
		return code
	}
	lines := tx.in.lines.of(path)
	var code []digestedLine
	for _, n := range slices.Sorted(maps.Keys(lines)) {
		if l := plaintext.Line(lines[n].text); l != "" {
			code = append(code, digestedLine{n, LineDigest(l)})
		}
	}
	if tx.digests == nil {
		tx.digests = map[string][]digestedLine{}
	}
	tx.digests[path] = code
	return code
}

// commitOf is the section of the commit whose message has the digest.
func (tx *texts) commitOf(digest string) (section string, ok bool) {
	for _, c := range tx.in.Facts.Commits {
		if LineDigest(c.Message) == digest {
			return pipeline.SectionCommit(c.SHA), true
		}
	}
	return "", false
}
