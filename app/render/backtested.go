package render

import "github.com/reviewgate/reviewgate/pipeline"

// backtested says what a proposed config would have decided otherwise in stored reviews.
type backtested struct {
	Days, Stored, Reviews   int
	OutOfTime, Organisation bool
	Changed                 int
	Kinds                   []safe // what kinds of changed decisions there are, each with its number
	Unknown                 int
	Why                     []safe
	Items                   []safe // the reviews that are named, and how many are not
}

// backtested puts a backtest into words. The named reviews may take room bytes. It returns nil if
// there is nothing to say.
func (s sections) backtested(b *pipeline.ConfigBacktest, room int) *backtested {
	if b == nil || b.Reviews <= 0 {
		return nil
	}
	out := &backtested{
		Days: b.Days, Stored: b.Stored, Reviews: b.Reviews, OutOfTime: b.OutOfTime, Organisation: b.Organisation, Changed: b.Changed, Unknown: b.Unknown,
	}
	type kind struct {
		Kind          word
		N, Overridden int
	}
	for _, k := range []kind{
		{"newly blocked", b.Blocked, b.BlockedOverridden},
		{"newly passing", b.Passing, b.PassingOverridden},
		{"otherwise", b.Changed - b.Blocked - b.Passing, 0},
	} {
		out.Kinds = append(out.Kinds, say("backtested kind", k))
	}
	out.Why = each(b.Why, func(why *string) safe { return s.p.text(*why, maxReason) }).all()
	out.Items, _ = each(b.Named, s.backtestedReview).take(room)
	unnamed := struct{ Own, Elsewhere int }{b.Changed - b.Elsewhere - len(out.Items), b.Elsewhere}
	if unnamed.Own > 0 {
		out.Items = append(out.Items, say("backtested unlisted", unnamed))
	}
	if unnamed.Elsewhere > 0 {
		out.Items = append(out.Items, say("backtested elsewhere", unnamed))
	}
	return out
}

func (s sections) backtestedReview(r *pipeline.BacktestedReview) safe {
	return say("backtested review", struct {
		Pull, Head, Because safe
		Decision            word
		Blocks, Passes      bool
		People              word
	}{
		s.p.code(r.Pull, maxName), s.p.code(shortSHA(r.HeadSHA), maxName), sentence(s.p.text(r.Because, maxReason)),
		decisionWord(r.To), r.To.Blocks() && !r.From.Blocks(), r.From.Blocks() && !r.To.Blocks(), peopleWord(r.People),
	})
}

// peopleWord returns what people did if it is one of the known texts, and nothing otherwise.
func peopleWord(people string) word {
	switch people {
	case pipeline.PeopleOverrode, pipeline.PeopleDismissed, pipeline.PeopleAccepted, pipeline.PeopleFixed, pipeline.PeopleMerged, pipeline.PeopleClosed, pipeline.PeopleEnded, pipeline.PeopleNothing:
		return word(people)
	}
	return ""
}
