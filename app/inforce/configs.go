package inforce

import (
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// maxProposals is how many proposed configs are cached: more than the pull requests that
// change config at the same time.
const maxProposals = 8

// Configs finds the config that is in force. Make one with NewConfigs.
type Configs struct {
	Layers       ports.Layers
	Marks        ports.Marks
	ConfigReader ports.ConfigReader
	// Probations has the rules that people judge wrong too often. Without it none is put in
	// evaluation.
	Probations ports.Probations
	Loader     *config.Loader
	Server     config.Layer // the server's layer; it has no Files if the server has no config
	Log        zerolog.Logger
	Now        func() time.Time

	// branches are the globs of the base branches that have their own config; nil if there
	// are none.
	branches *glob.Set
	// proposals loads proposed configs. It is a separate loader so that they don't evict
	// the config in force from Loader's cache.
	proposals *config.Loader
	seen      *seenChanges
}

// NewConfigs completes c. It returns an error if the server's config is not valid.
func NewConfigs(c Configs) (*Configs, error) {
	all := &c
	all.seen = &seenChanges{}
	all.proposals = config.NewLoader(maxProposals)
	all.proposals.Redact = c.Loader.Redact
	cfg, problems := c.Loader.Load(all.serverLayers()...)
	if len(problems) > 0 {
		return nil, fmt.Errorf("load the server's config: %s", config.FormatProblem(problems[0]))
	}
	if globs := cfg.Settings.ConfigBranches; len(globs) > 0 {
		var err error
		if all.branches, err = glob.Compile(globs); err != nil {
			return nil, fmt.Errorf("compile the server's config_branches: %w", err)
		}
	}
	return all, nil
}
