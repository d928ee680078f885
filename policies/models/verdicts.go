package models

import (
	"cmp"
	"slices"

	"github.com/reviewgate/reviewgate/pipeline"
)

// Review is one model's review of one stage.
type Review struct {
	Model    string
	Stage    string // pipeline.ReviewStageSpec; anything else counts as pipeline.ReviewStageQuality
	Finished bool
	Fails    bool // it has a critical or major finding
}

// Order sorts models, the weaker first, by their place among the reviewers in the settings, of
// which the last is the strongest. Models that are not named there stand between the first and the
// last, by name. A model that is named several times stays so.
func Order(names, reviewers []string) []string {
	place := func(name string) int {
		others := slices.ContainsFunc(reviewers, func(r string) bool { return r != name })
		switch i := slices.Index(reviewers, name); {
		case i < 0:
			return len(reviewers) // after the first, before the last
		case others && name == reviewers[len(reviewers)-1]:
			return len(reviewers) + 1
		default:
			return i
		}
	}
	out := slices.Clone(names)
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b)) })
	return out
}

// Verdicts combines the reviews of each model, in the order of the models. A model has the verdict
// UNKNOWN if it did not finish a stage, or did not review a stage that others reviewed, unless its
// verdict is FAIL. If the spec stage failed, the quality stage does not count.
func Verdicts(names []string, reviews []Review, specFailed bool) []pipeline.ModelVerdict {
	asked := map[string]bool{}
	stages := map[[2]string]pipeline.Verdict{}
	for _, r := range reviews {
		at := [2]string{r.Model, stageOf(r)}
		asked[at[1]] = true
		stages[at] = worse(stages[at], verdict(r))
	}
	out := make([]pipeline.ModelVerdict, 0, len(names))
	for _, name := range names {
		v := pipeline.ModelVerdict{
			Model: name,
			Spec:  stages[[2]string{name, pipeline.ReviewStageSpec}], Quality: stages[[2]string{name, pipeline.ReviewStageQuality}],
		}
		v.Verdict = counted(v.Spec, asked[pipeline.ReviewStageSpec])
		if !specFailed {
			v.Verdict = worse(v.Verdict, counted(v.Quality, asked[pipeline.ReviewStageQuality]))
		}
		if v.Verdict == pipeline.VerdictNone {
			v.Verdict = pipeline.VerdictUnknown
		}
		out = append(out, v)
	}
	return out
}

func stageOf(r Review) string {
	if r.Stage == pipeline.ReviewStageSpec {
		return pipeline.ReviewStageSpec
	}
	return pipeline.ReviewStageQuality
}

func verdict(r Review) pipeline.Verdict {
	switch {
	case r.Fails:
		return pipeline.VerdictFail
	case !r.Finished:
		return pipeline.VerdictUnknown
	}
	return pipeline.VerdictPass
}

func counted(v pipeline.Verdict, asked bool) pipeline.Verdict {
	if v == pipeline.VerdictNone && asked {
		return pipeline.VerdictUnknown
	}
	return v
}

// worse returns the worse of two verdicts, in the order FAIL, UNKNOWN, PASS, none.
func worse(a, b pipeline.Verdict) pipeline.Verdict {
	order := []pipeline.Verdict{pipeline.VerdictFail, pipeline.VerdictUnknown, pipeline.VerdictPass, pipeline.VerdictNone}
	if slices.Index(order, b) < slices.Index(order, a) {
		return b
	}
	return a
}
