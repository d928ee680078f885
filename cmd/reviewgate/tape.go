package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/app/agents/model"
	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/app/llm/sdk"
	"github.com/reviewgate/reviewgate/app/llm/tape"
	"github.com/reviewgate/reviewgate/config"
)

// tapeFlags name a file of recorded model answers.
type tapeFlags struct{ record, replay string }

func (f *tapeFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.record, "record", "", "`file` to add the models' answers to; a question with an answer in it is not asked again")
	c.Flags().StringVar(&f.replay, "replay", "", "`file` of recorded answers to use instead of asking the models")
}

// modelsOf opens the models of the layers' config, with keys from the environment.
func modelsOf(layers []config.Layer) (*model.Server, error) {
	cfg, problems := config.Load(layers...)
	if len(problems) > 0 {
		return &model.Server{}, nil // the review lists the problems and runs without models
	}
	return model.Open(cfg.Settings.ModelEndpoints, sdk.New, os.Getenv)
}

// models returns the models of the config. With --record their answers are recorded too,
// and with --replay the answers come from a recording. done ends a recording.
func (f *tapeFlags) models(layers []config.Layer) (models *model.Server, done func() error, err error) {
	none := func() error { return nil }
	if f.record != "" && f.replay != "" {
		return nil, none, errors.New("--record asks models, and --replay asks none: leave one of them out")
	}
	cfg, problems := config.Load(layers...)
	if len(problems) > 0 {
		return &model.Server{}, none, nil // the run lists the problems
	}
	switch {
	case f.replay != "":
		t, err := tape.Open(f.replay)
		if err != nil {
			return nil, none, err
		}
		models, err = model.Open(cfg.Settings.ModelEndpoints, func(e config.ModelEndpoint, _ string) (llm.Model, error) {
			return t.Model(e.Name, nil), nil
		}, func(string) string { return "none is needed" })
		return models, none, err
	case f.record != "":
		t, done, err := tape.Record(f.record)
		if err != nil {
			return nil, none, err
		}
		models, err = model.Open(cfg.Settings.ModelEndpoints, func(e config.ModelEndpoint, key string) (llm.Model, error) {
			m, err := sdk.New(e, key)
			if err != nil {
				return nil, err
			}
			return t.Model(e.Name, m), nil
		}, os.Getenv)
		return models, done, err
	}
	models, err = modelsOf(layers)
	return models, none, err
}
