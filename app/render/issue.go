package render

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// The kinds of issue, as in their markers.
const (
	IssueDebt      = "debt"
	IssueGap       = "gap"
	IssueProbation = "probation"
)

// issueEnd ends our part of an issue's body. People can write below it.
const issueEnd = markerStart + "end -->"

// IssueMarker returns the first line of an issue. The marker and the App's id together
// identify the issue. The key has letters and digits.
func IssueMarker(kind, key string) string { return markerStart + kind + " " + key + " -->" }

// IssueText is the part of an issue that does not change when its subject is seen again.
// It is stored.
type IssueText struct {
	Title string // at most 255 bytes
	About string
}

// Issues puts the issues about one review into words.
type Issues struct{ sections }

// IssuesOf returns the Issues of a review.
func IssuesOf(v View) *Issues {
	p := markdownPen{}
	k := newLinker(v.Links, &v.Review.Facts)
	return &Issues{sections{&v.Review, p, k, newFindings(v, p, k), nil}}
}

// issueTitle holds the values for the titles of issues.
type issueTitle struct{ What, Path safe }

// Debt returns the text of an issue about a warning that was merged.
func (is *Issues) Debt(f *pipeline.Finding) IssueText {
	line := is.fs.line(f)
	is.fs.addDetails(&line, f)
	line.State = "" // describes one pull request's history
	what := plainPen{}.text(f.Title, maxTitle)
	if what == "" {
		what = say("untitled", nil)
	}
	return IssueText{
		Title: title(say("issue debt title", issueTitle{what, plainPath(f.Path)})),
		About: string(say("md finding", line)),
	}
}

// Gap returns the text of an issue about a concern that the config missed. The change is merged, so
// reviews show the gap no longer, and the patch is applied from a file.
func (is *Issues) Gap(g *pipeline.GapLogEntry) IssueText {
	own := *g
	own.Suggestion.File = path.Join(config.RepositoryDir, g.Suggestion.File)
	v := is.gap([]*pipeline.GapLogEntry{&own})
	v.YAML, v.Patch = false, is.p.block("json", patchLines(own.Suggestion.Operations))
	v.Saved, v.Apply = true, is.p.code("reviewgate config apply patch.json", maxPath)
	if len(v.Patch) > maxBody/2 {
		v.Patch = "" // too long to copy
	}
	return IssueText{
		Title: title(say("issue gap title", issueTitle{plainPen{}.text(cmp.Or(g.Name, g.Concern), maxName), plainPath(g.Path)})),
		About: string(say("md gap", v)),
	}
}

func plainPath(p string) safe { return plainPen{}.text(clipPath(p, maxPath), maxPath) }

// IssueState is the wanted state of an issue.
type IssueState struct {
	Kind, Key  string
	About      string // from its IssueText
	Seen       int
	Pulls      []int // the last pull requests that merged it, newest last
	ResolvedIn int   // the pull request whose merge resolved it, ports.ResolvedOtherwise, or 0
}

// Issue renders an issue's body.
func Issue(s IssueState) Document {
	before := slices.Clone(s.Pulls)
	slices.Reverse(before)
	data := struct {
		Gap, Probation   bool
		About            safe
		Seen, Last, Gone int
		Before           []int
	}{Gap: s.Kind == IssueGap, Probation: s.Kind == IssueProbation, About: safe(s.About), Seen: s.Seen, Gone: s.ResolvedIn}
	if len(before) > 0 {
		data.Last, data.Before = before[0], before[1:]
	}
	text := say("md issue", data)
	return Document{Body: IssueMarker(s.Kind, s.Key) + "\n" + string(text) + "\n" + issueEnd, Digest: digest(text)}
}

// WithTextBelow returns a new body followed by the text that people wrote below the old
// one. It leaves the text out if there is no room for it.
func WithTextBelow(body, old string) string {
	_, below, _ := strings.Cut(old, issueEnd)
	if strings.TrimSpace(below) == "" || len(body)+len(below) > maxBody {
		return body
	}
	return body + below
}
