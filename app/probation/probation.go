package probation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// Finder finds the rules and agents for probation.
type Finder struct {
	Configs    *inforce.Configs
	Probations ports.Probations
	Learning   ports.Learning
	Marks      ports.Marks
	Log        zerolog.Logger
	Now        func() time.Time
}

const (
	// period is how far back judgements count: what was wrong two years ago may be right by now.
	period = 365 * 24 * time.Hour
	// allEvery is how often all repositories are looked at, because judgements get too old without any
	// new entry, deliveries arrive late, and settings change.
	allEvery = 24 * time.Hour
)

// The marks of the last look at repositories with news, and of that at all repositories.
const (
	markNews = "probation"
	markAll  = "probation/all"
)

// Work looks at the repositories whose logs have news since the last time, and once a day at all of them. It
// can safely run again. A repository that fails does not keep the others from being looked at: it is
// logged, and looked at again with its next news or the next day.
func (f *Finder) Work(ctx context.Context) error {
	now := f.Now()
	since, err := f.Marks.Mark(ctx, markNews)
	if err != nil {
		return fmt.Errorf("read when probation was looked at: %w", err)
	}
	all, err := f.Marks.Mark(ctx, markAll)
	if err != nil {
		return fmt.Errorf("read when probation was looked at: %w", err)
	}
	marks := []string{markNews}
	if now.Sub(all) >= allEvery {
		since = time.Time{}
		marks = append(marks, markAll)
	}
	repos, err := f.Probations.LoggedRepositories(ctx, since)
	if err != nil {
		return err
	}
	for _, t := range repos {
		err := f.repository(ctx, t, now, since.IsZero())
		switch {
		case ctx.Err() != nil:
			return ctx.Err() // the marks stay, so that the next try checks the same repositories
		case err != nil:
			f.Log.Error().Err(err).Str("repository", t.Owner+"/"+t.Name).Msg("can't check this repository for candidates for probation; the next daily check tries again")
		}
	}
	for _, mark := range marks {
		if err := f.Marks.SetMark(ctx, mark, now); err != nil {
			return fmt.Errorf("record that probation was looked at: %w", err)
		}
	}
	return nil
}

// repository finds and stores the rules and agents for probation in a repository. The daily check also
// reports those that are already known, because the settings may ask for issues by now.
func (f *Finder) repository(ctx context.Context, t ports.Target, now time.Time, daily bool) error {
	cfg, err := f.Configs.Known(ctx, t)
	if err != nil {
		return err
	}
	before, err := f.Probations.OnProbation(ctx, t.RepoID)
	if err != nil {
		return err
	}
	found, err := f.find(ctx, t, cfg, now.Add(-period))
	if err != nil {
		return err
	}
	found = append(unanswered(cfg, before, found), found...) // those already in evaluation come first
	found = found[:min(len(found), ports.MaxProbations)]
	slices.SortFunc(found, compare)
	tell := cfg.Settings.Issues.Probation
	if slices.EqualFunc(before, found, same) && !(daily && tell && len(found) > 0) {
		return nil
	}
	if err := f.Probations.SetProbations(ctx, t, found, tell); err != nil {
		return err
	}
	for i := range found {
		p := &found[i]
		if !slices.ContainsFunc(before, func(b ports.Probation) bool { return compare(b, *p) == 0 }) {
			f.Log.Info().Str("repository", t.Owner+"/"+t.Name).Str(string(p.Kind), p.ID).Int("judged", p.Judged).Float64("precision", p.Precision).
				Msg("people judge this wrong too often; it is proposed for evaluation")
		}
	}
	return nil
}

func compare(a, b ports.Probation) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
}

// same reports whether two rows say the same.
func same(a, b ports.Probation) bool {
	return compare(a, b) == 0 && a.Judged == b.Judged && a.People == b.People && a.Precision == b.Precision && a.High == b.High &&
		a.Blocks == b.Blocks && slices.Equal(a.Samples, b.Samples)
}

// unanswered returns the rules that reviewgate put in evaluation on its own and that are no longer
// found. Nobody judges findings in evaluation, so they stay until a person answers. A person can also
// answer with a bar of 0: then ProbationLayer has none.
func unanswered(cfg *config.Config, before, found []ports.Probation) (kept []ports.Probation) {
	for i := range before {
		p := before[i]
		if slices.ContainsFunc(found, func(x ports.Probation) bool { return compare(x, p) == 0 }) {
			continue
		}
		if rules := inforce.ProbationRules([]ports.Probation{p}); len(cfg.ProbationLayer(rules).Files) > 0 {
			kept = append(kept, p)
		}
	}
	return kept
}

// find returns what is judged wrong too often by findings of the given time or later, at most as many
// as are stored. It leaves out what people have answered about. It reads the logs once.
func (f *Finder) find(ctx context.Context, t ports.Target, cfg *config.Config, since time.Time) ([]ports.Probation, error) {
	if cfg.Settings.ProbationBar <= 0 {
		return nil, nil
	}
	all := judgements{since: since}
	for log, err := range f.Learning.Logs(ctx, ports.LogFilter{RepoID: t.RepoID, Since: since}) {
		if err != nil {
			return nil, err
		}
		h := learning.Replay(log)
		all.add(&h)
	}
	found := all.tooOften(cfg.Settings.ProbationBar, func(rule, agent string) bool {
		file, id := config.FileRules, rule
		if rule == "" {
			file, id = config.FileAgents, agent
		}
		return cfg.Judgeable(rule, agent) && !cfg.Settled(file, id)
	})
	return found[:min(len(found), ports.MaxProbations)], nil
}
