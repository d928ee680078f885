package review

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/app/agents/model"
	"github.com/reviewgate/reviewgate/app/memory"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/policies/learning"
)

// entryOf returns what a review adds to the log of its pull request, or nil for a merge group.
func entryOf(ctx context.Context, logs ports.Learning, t ports.Target, r *ports.StoredReview, cfg *config.Config) (*learning.Entry, error) {
	if t.Kind == ports.TargetGroup {
		return nil, nil
	}
	log, err := logs.Log(ctx, r.Key)
	if err != nil {
		return nil, fmt.Errorf("read what became of earlier findings: %w", err)
	}
	before := learning.Replay(log)
	e := learning.Observe(learning.Observation{
		Review: &r.Review, Record: &r.Record, Before: &before,
		Rules:  func(agent, rule string) bool { return checks(cfg, agent, rule) },
		Prompt: func(agent string) string { return promptDigest(cfg, agent) }, Checklist: func(agent string) string { return checklistDigest(cfg, agent) },
		Trace: aggregate.NewTracer(&r.Review, cfg).Trace,
	})
	return &e, nil
}

// countsOf returns what a review adds to memory. What was published about the head before does not
// count again. A merge group counts nothing: its pull requests did.
func countsOf(ctx context.Context, h ports.History, t ports.Target, r *ports.StoredReview) (none ports.MemoryCounts, err error) {
	if t.Kind == ports.TargetGroup || len(r.Review.Report.Findings)+len(r.Review.Report.Memory) == 0 {
		return none, nil
	}
	last, err := h.LastPublished(ctx, r.Key)
	if err != nil {
		return none, err
	}
	var again *pipeline.PreviousReport
	if last != nil && last.HeadSHA == r.HeadSHA {
		if again, err = reportOfHead(ctx, h, r.Key, r.HeadSHA); err != nil {
			return none, fmt.Errorf("read the last report on this head: %w", err)
		}
	}
	return memory.CountsOf(&r.Review, again), nil
}

// checks reports whether an agent still makes findings by a rule. Agents of other kinds than rules
// also have rules that no config lists.
func checks(cfg *config.Config, agent, rule string) bool {
	if r := cfg.Rule(rule); r != nil {
		return r.Enabled && r.Mode != config.ModeEvaluate
	}
	return !slices.ContainsFunc(cfg.Agents, func(a config.Agent) bool { return a.ID == agent && a.Kind == config.KindRules })
}

// promptDigest identifies an agent's prompt, or is empty if the agent has none.
func promptDigest(cfg *config.Config, agent string) string {
	for i := range cfg.Agents {
		if a := &cfg.Agents[i]; a.ID == agent {
			if prompt, ok := cfg.Prompt(a); ok {
				return prompt.Version
			}
		}
	}
	return ""
}

// checklistDigest identifies the rules that an agent asks a model about, or is empty if there are
// none.
func checklistDigest(cfg *config.Config, agent string) string {
	for i := range cfg.Agents {
		if a := cfg.Agents[i]; a.ID == agent && a.Kind == config.KindLLM {
			list, err := json.Marshal(model.Checklist(cfg, a))
			if err == nil && len(list) > len("[]") {
				return digest(string(list))
			}
		}
	}
	return ""
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}
