package render

import (
	"strings"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// The conclusions of a check run that reviewgate uses. Success and neutral satisfy a
// required check.
const (
	ConclusionSuccess        = "success"
	ConclusionNeutral        = "neutral"
	ConclusionActionRequired = "action_required"
	ConclusionFailure        = "failure"
	ConclusionCancelled      = "cancelled"
)

// ActionReview is the identifier of the button that asks for another review.
const ActionReview = "review"

// maxCheckTitle bounds a title, in bytes. GitHub shows as many characters.
const maxCheckTitle = 255

// Conclusion maps a decision to a conclusion: pass to success, pass_with_warnings to
// neutral, needs_fixes to action_required, and fail to failure. An unknown decision is a
// failure. If other pull requests have the same head, the worst decision counts. In
// advisory mode the conclusion is always neutral.
func Conclusion(v View) string {
	if v.Mode == config.ModeAdvisory {
		return ConclusionNeutral
	}
	decision := v.Review.Report.Decision
	if w := worstShared(v); w != nil {
		decision = w.Decision
	}
	switch decision {
	case pipeline.DecisionPass:
		return ConclusionSuccess
	case pipeline.DecisionPassWithWarnings:
		return ConclusionNeutral
	case pipeline.DecisionNeedsFixes:
		return ConclusionActionRequired
	}
	return ConclusionFailure
}

// worstShared returns the other pull request on the head with the worst decision. It
// returns nil if no decision is worse than this one's. An unknown decision is the worst.
func worstShared(v View) *SharedHead {
	var worst *SharedHead
	rank := badness(v.Review.Report.Decision)
	for i := range v.Shared {
		if r := badness(v.Shared[i].Decision); r > rank {
			rank, worst = r, &v.Shared[i]
		}
	}
	return worst
}

func badness(d pipeline.Decision) int {
	if r := d.Rank(); r > 0 {
		return r
	}
	return pipeline.DecisionFail.Rank() + 1
}

// Check renders a completed review for a check run. The title has the answer, the summary
// has the reasons and the next step, and the text has all findings. Findings on changed
// lines have annotations.
func Check(v View) ports.CheckOutput {
	v.Acts = Acts{} // acts follow the check, and must not cause it to be written again
	marks, all := annotations(v)
	v.Inline = nil // the check's text has every finding in full
	r := newReport(v, maxBody)
	r.page.Worse = worseOf(v)
	r.check = true
	summary, text := r.summary(), r.text(len(marks), all)
	full := r.run.Replace(string(text))
	out := ports.CheckOutput{
		Title:       checkTitle(v),
		Summary:     r.run.Replace(string(summary)),
		Text:        string(blocks([]safe{safe(full), r.wholeReport(maxBody - len(full) - 2)})),
		Annotations: marks,
		Actions:     actions(),
	}
	out.Digest = checkDigest(out, summary, text)
	return out
}

// summary also says what was set aside or found in evaluation, because a clean pull request may have
// no comment.
func (r *report) summary() safe {
	return blocks(append(r.head(), r.setAside(), r.evaluated(), r.probation(), r.next(), say("md footer", r.page)))
}

// text renders everything that is not in the summary. annotated of all findings on changed
// lines have annotations.
func (r *report) text(annotated, all int) safe {
	var above []safe
	if annotated < all {
		above = append(above, say("annotated", struct{ N, All int }{annotated, all}))
	}
	return r.fitted(above, func() []safe { return append(r.belowFindings(), r.machineReadable()) })
}

func worseOf(v View) *worse {
	w := worstShared(v)
	if w == nil {
		return nil
	}
	return &worse{w.Number, decisionWord(w.Decision)}
}

func checkTitle(v View) string {
	pg := titlePage(v)
	pg.Worse = worseOf(v)
	return title(say("check title", pg))
}

// plainTitle returns the answer in one line of plain text.
func plainTitle(v View) string {
	return string(say("title", titlePage(v)))
}

// titlePage holds the values for a title that stands alone.
func titlePage(v View) page {
	p := plainPen{}
	pg := newPage(v, p, newLinker(Links{}, &v.Review.Facts))
	if pg.ByHand != nil {
		pg.ByHand.Short = p.text(strings.TrimRight(v.Review.Report.ByHand.Reason, ". "), maxTitleReason)
	}
	return pg
}

func title(s safe) string { return clip(breakMentions(string(s)), maxCheckTitle) }

func actions() []ports.CheckAction {
	return []ports.CheckAction{{
		Label:       string(say("action review label", nil)),
		Identifier:  ActionReview,
		Description: string(say("action review description", nil)),
	}}
}

// checkDigest returns the digest of an output. summary and text must not vary from run to
// run.
func checkDigest(out ports.CheckOutput, summary, text safe) string {
	parts := []safe{safe(out.Title), summary, text}
	for _, a := range out.Annotations {
		parts = append(parts, safe(a.Path), safe(grouped(a.StartLine)), safe(grouped(a.EndLine)),
			safe(a.Level), safe(a.Title), safe(a.Message), safe(a.RawDetails))
	}
	return digest(parts...)
}

// notice renders a check without a verdict on the change. Its title is plain text, and
// its summary is markdown. again adds the button that asks for another review.
func notice(name string, again bool, data func(p pen) any) ports.CheckOutput {
	out := ports.CheckOutput{
		Title:   title(say(name+" title", data(plainPen{}))),
		Summary: string(say(name+" summary", data(markdownPen{}))),
	}
	if again {
		out.Actions = actions()
	}
	out.Digest = checkDigest(out, safe(out.Summary), "")
	return out
}

func nothing(pen) any { return nil }

// PendingCheck says that a review is running.
func PendingCheck(pending Pending) ports.CheckOutput {
	return notice("pending", false, func(p pen) any {
		return struct{ Head, Started, Reason safe }{
			p.code(shortSHA(pending.HeadSHA), maxName),
			p.text(pending.StartedAt.UTC().Format("15:04:05")+" UTC", maxName),
			p.text(pending.Reason, maxReason),
		}
	})
}

// WaitingCheck says that a review waits for memory.
func WaitingCheck(w Waiting) ports.CheckOutput {
	return notice("waiting", false, func(p pen) any {
		return struct{ Head, Since, Before safe }{
			p.code(shortSHA(w.HeadSHA), maxName),
			p.text(w.Since.UTC().Format("15:04:05")+" UTC", maxName),
			p.text(count(w.Before, "large change is", "large changes are"), maxReason),
		}
	})
}

// CallsCheck says that a review waits for GitHub's rate limit.
func CallsCheck(c Calls) ports.CheckOutput {
	return notice("calls", false, func(p pen) any {
		return struct{ Head, Used, Limit, Reset safe }{
			p.code(shortSHA(c.HeadSHA), maxName), safe(grouped(c.Used)), safe(grouped(c.Limit)),
			p.text(c.Reset.UTC().Format("15:04")+" UTC", maxName),
		}
	})
}

// DraftSkipped says that the settings leave drafts alone. Its conclusion is
// action_required: with a neutral one the pull request could be merged as soon as it is
// ready for review.
func DraftSkipped() ports.CheckOutput { return notice("draft", false, nothing) }

// CouldNotComplete says why a review ended without an answer, and what to do about it. Its
// conclusion is failure.
func CouldNotComplete(what, remedy string) ports.CheckOutput {
	return notice("could not", true, func(p pen) any {
		return struct{ What, Remedy safe }{
			p.text(strings.TrimRight(what, ". "), maxReason), sentence(p.text(remedy, maxReason)),
		}
	})
}

// Superseded says that a newer head ended the review. newHead is empty if it is not known,
// or if the pull request was closed. The conclusion is cancelled.
func Superseded(newHead string) ports.CheckOutput {
	return notice("superseded", false, func(p pen) any { return p.code(shortSHA(newHead), maxName) })
}

// SwitchedOff says that the repository's settings switched reviewgate off while the head
// was being reviewed. Its conclusion is neutral.
func SwitchedOff() ports.CheckOutput { return notice("off", false, nothing) }
