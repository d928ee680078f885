package render

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// The kinds of issue, as their markers name them.
const (
	IssueDebt = "debt"
	IssueGap  = "gap"
)

// issueEnd ends what is ours of an issue's body. What people write below it is
// kept.
const issueEnd = markerStart + "end -->"

// IssueMarker is the first line of an issue. It finds the issue again, together
// with the app's id. The key is of letters and digits.
func IssueMarker(kind, key string) string { return markerStart + kind + " " + key + " -->" }

// IssueText is what of an issue stays the same, however often its subject is
// seen: made by this package, and kept.
type IssueText struct {
	Title string // at most 255 bytes
	About string
}

// Issues words the issues about one review.
type Issues struct{ sections }

// IssuesOf makes the Issues of a review.
func IssuesOf(v View) *Issues {
	p := markdownPen{}
	k := newLinker(v.Links, &v.Review.Facts)
	return &Issues{sections{&v.Review, p, k, newFindings(v, p, k), nil}}
}

// issueTitle is what the titles of issues are made from.
type issueTitle struct{ What, Path safe }

// Debt words the issue about a warning that was merged.
func (is *Issues) Debt(f *pipeline.Finding) IssueText {
	line := is.fs.line(f)
	is.fs.addDetails(&line, f)
	line.State = "" // is about a pull request's history
	what := plainPen{}.text(f.Title, maxTitle)
	if what == "" {
		what = say("untitled", nil)
	}
	return IssueText{
		Title: title(say("issue debt title", issueTitle{what, plainPath(f.Path)})),
		About: string(say("md finding", line)),
	}
}

// Gap words the issue about a concern that the config missed. The entry's patch
// must fit the file as it is.
func (is *Issues) Gap(g *pipeline.GapLogEntry) IssueText {
	own := *g
	own.Suggestion.File = path.Join(config.RepositoryDir, g.Suggestion.File)
	v := is.gap([]*pipeline.GapLogEntry{&own})
	if len(v.Patch) > maxBody/2 {
		v.Patch = "" // nobody would copy it
	}
	return IssueText{
		Title: title(say("issue gap title", issueTitle{plainPen{}.text(cmp.Or(g.Name, g.Concern), maxName), plainPath(g.Path)})),
		About: string(say("md issue gap", v)),
	}
}

func plainPath(p string) safe { return plainPen{}.text(clipPath(p, maxPath), maxPath) }

// IssueState is an issue as it is to be.
type IssueState struct {
	Kind, Key  string
	About      string // of its IssueText
	Seen       int
	Pulls      []int // the last pull requests that it was merged with, newest last
	ResolvedIn int   // the pull request at whose merge it was found resolved, or 0
}

// Issue renders an issue's body.
func Issue(s IssueState) Document {
	before := slices.Clone(s.Pulls)
	slices.Reverse(before)
	data := struct {
		Gap              bool
		About            safe
		Seen, Last, Gone int
		Before           []int
	}{Gap: s.Kind == IssueGap, About: safe(s.About), Seen: s.Seen, Gone: s.ResolvedIn}
	if len(before) > 0 {
		data.Last, data.Before = before[0], before[1:]
	}
	text := say("md issue", data)
	return Document{Body: IssueMarker(s.Kind, s.Key) + "\n" + string(text) + "\n" + issueEnd, Digest: digest(text)}
}

// KeepBelow is a new body with what people wrote below the old one, as far as
// there is room for it.
func WithTextBelow(body, old string) string {
	_, below, _ := strings.Cut(old, issueEnd)
	if strings.TrimSpace(below) == "" || len(body)+len(below) > maxBody {
		return body
	}
	return body + below
}
