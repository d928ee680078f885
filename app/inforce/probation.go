package inforce

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// onProbation lists the rules that people of a repository judge wrong too often. It leaves out rules
// with a finding that blocked: those do not give only warnings and infos, whatever their severity.
func (c *Configs) onProbation(ctx context.Context, repoID int64) (rules []string, err error) {
	if c.Probations == nil {
		return nil, nil
	}
	all, err := c.Probations.OnProbation(ctx, repoID)
	if err != nil {
		return nil, fmt.Errorf("look for rules on probation: %w", err)
	}
	return ProbationRules(all), nil
}

// ProbationRules lists the rules of these rows that may be put in evaluation, as far as the rows say.
func ProbationRules(all []ports.Probation) (rules []string) {
	for i := range all {
		if p := &all[i]; p.Kind == ports.ProbationRule && !p.Blocks {
			rules = append(rules, p.ID)
		}
	}
	return rules
}

// PatchToEvaluate returns the patch by which the repository's own config puts an entry in evaluation.
// ok is false if the layers below do not allow that. The config is the one known last.
func (c *Configs) PatchToEvaluate(ctx context.Context, t ports.Target, file, id string) (patch pipeline.ConfigPatch, ok bool, err error) {
	layers, err := c.knownLayers(ctx, t, "")
	if err != nil {
		return patch, false, err
	}
	own := config.Layer{Name: config.LayerRepository}
	if ports.IsOrganisationRepo(t) {
		own.Name = config.LayerOrganisation
	}
	if i := slices.IndexFunc(layers, func(l config.Layer) bool { return l.Name == own.Name }); i >= 0 {
		own = layers[i]
	}
	patch = config.EvaluatePatch(own.Files, file, id)
	text, _ := json.Marshal([]any{map[string]string{"id": id, "mode": config.ModeEvaluate}}) // strings: this can't fail
	tried := own
	tried.Files = []config.File{{Path: file, Text: text}}
	cfg, problems := c.proposals.Load(append(layers, tried)...)
	return patch, len(problems) == 0 && slices.Contains(cfg.Evaluated(), id), nil
}
