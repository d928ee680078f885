package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/policies/memory"
)

// The bounds of what a review sees.
const (
	maxRecords  = 200
	maxPatterns = 20 // of each service
	maxServices = 20 // whose patterns are read
	maxTold     = 80 // characters of the words of a pattern
	maxReads    = 10 // of cited files
	// maxCited is how much of a cited file is read, in bytes.
	maxCited = 1 << 20
	// unseenDays is after how many days a pattern that was not seen is archived.
	unseenDays = 30
)

// ReadFile reads the beginning of a file at a commit, or at the tip of a branch; see ports.Change. found
// is false if there is no such file. Several goroutines use it.
type ReadFile func(ctx context.Context, commit, path string, most int64) (text []byte, found bool, err error)

// View is a review for which memory is read.
type View struct {
	Target         ports.Target
	Config         *config.Config
	Facts          *pipeline.PRFacts
	Classification *pipeline.Classification
	Read           ReadFile
}

// Snapshot returns what a review sees: the active records of the repository and of its organisation
// that hold in the services that the change touches, those used last first, and what keeps being found
// there. A change of no service sees what belongs to no service. Without agents that ask models there
// is nothing to see.
//
// A record that had no effect for a long time expires. A record whose lines are gone is put in
// quarantine. If that can't be checked, the review does not see the record.
func (k *Keeper) Snapshot(ctx context.Context, v View) ([]pipeline.FalsePositive, []pipeline.RecurringFinding, error) {
	if !asksModels(v.Config) {
		return nil, nil, nil
	}
	now := k.Now()
	services := []string{""}
	for _, s := range v.Classification.Services {
		services = append(services, s.ID)
	}
	all, err := k.Memory.MemoryRecords(ctx, ports.MemoryFilter{
		Holding: v.Target, States: []ports.MemoryState{ports.MemoryActive}, Newest: 2 * ports.MaxMemoryRecords,
	})
	if err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(all, func(a, b ports.MemoryRecord) int { return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(b.ID, a.ID)) })
	var ours []*ports.MemoryRecord
	files := newTouched(v)
	for i := range all {
		r := &all[i]
		if !r.Models || !slices.Contains(services, r.About.Service) || !r.HoldsOn(v.Target, v.Facts.Base.Ref) {
			continue
		}
		if r.Used.AddDate(0, 0, v.Config.Settings.Memory.ExpiryDays).Before(now) {
			if err := k.end(ctx, v.Target, r, ports.MemoryExpired, "it had no effect for "+days(v.Config.Settings.Memory.ExpiryDays)); err != nil {
				return nil, nil, err
			}
			continue
		}
		if len(ours) < maxRecords && files.coveredBy(&r.About) {
			ours = append(ours, r)
		}
	}
	if ours, err = k.standing(ctx, v, ours); err != nil {
		return nil, nil, err
	}
	var wrong []pipeline.FalsePositive
	for _, r := range ours {
		about := r.About
		about.Record = r.Name()
		if r.Repository.RepoID != v.Target.RepoID { // the other repository may be private, and this one public
			about.Reason = ""
		}
		wrong = append(wrong, about)
	}
	if len(services) > 1 {
		services = services[1:min(len(services), 1+maxServices)]
	}
	patterns, err := k.Memory.MemoryPatterns(ctx, v.Target.RepoID, ports.PatternFilter{
		Services: services, Since: now.AddDate(0, 0, -unseenDays), Most: maxPatterns, Without: v.Target.Key(),
	})
	if err != nil {
		return nil, nil, err
	}
	var recurring []pipeline.RecurringFinding
	for i := range patterns {
		if r, ok := told(&patterns[i], v.Config); ok {
			recurring = append(recurring, r)
		}
	}
	return wrong, recurring, nil
}

// told returns a pattern in words that no model chose: the name of a rule in the config, or else the
// category, if it is one of ours, and the significant words of the title in alphabetical order. A model's
// sentence could repeat what a change says, and the review of another change must not see that. ok is
// false for patterns of only one or two pull requests, and of rules that the config does not have.
func told(p *ports.MemoryPattern, cfg *config.Config) (r pipeline.RecurringFinding, ok bool) {
	r = p.RecurringFinding
	if p.Frequency < memory.LeastRecurring {
		return r, false
	}
	if p.Rule == "" {
		if r.Category = ""; config.Specific(p.Category) { // any other may be a sentence
			r.Category = p.Category
		}
		r.Title = plaintext.CutLine(strings.Join(significantOf(p.Title), " "), maxTold)
		return r, r.Title != ""
	}
	rule := cfg.Rule(p.Rule)
	if rule == nil {
		return r, false
	}
	r.Title = rule.Name
	return r, true
}

func days(n int) string {
	if n == 1 {
		return "a day"
	}
	return fmt.Sprintf("%d days", n)
}

// asksModels reports whether an agent of the config asks a language model.
func asksModels(cfg *config.Config) bool {
	return len(cfg.Settings.ModelEndpoints) > 0 && slices.ContainsFunc(cfg.Agents, func(a config.Agent) bool { return a.Enabled && a.Kind == config.KindLLM })
}

// end changes the state of an active record of the review's own repository. Those of another one are
// left to its own reviews.
func (k *Keeper) end(ctx context.Context, t ports.Target, r *ports.MemoryRecord, to ports.MemoryState, why string) error {
	if r.Repository.RepoID != t.RepoID {
		return nil
	}
	_, err := k.Memory.ChangeMemory(ctx, []ports.MemoryChange{{ID: r.ID, From: ports.MemoryActive, To: to, By: actor, Why: why}})
	if errors.Is(err, ports.ErrMemoryChanged) || errors.Is(err, ports.ErrNotFound) { // somebody else did something with it
		return nil
	}
	if err == nil {
		k.Log.Info().EmbedObject(t).Str("record", r.Name()).Str("state", string(to)).Str("why", why).Msg("a record of memory no longer has an effect")
	}
	return err
}

// actor is who changes records without a command, in the audit log.
const actor = "reviewgate"

// archived reports whether a pattern has not been seen for too long.
func archived(p *ports.MemoryPattern, now time.Time) bool {
	return p.LastSeen.Before(now.AddDate(0, 0, -unseenDays))
}
