package inforce

import (
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// maxProposals is how many proposed configs are remembered: more than the pull
// requests that change config at one time.
const maxProposals = 8

// Configs finds the config that is in force. Make one with NewConfigs.
type Configs struct {
	Layers       ports.Layers
	Marks        ports.Marks
	ConfigReader ports.ConfigReader
	Loader       *config.Loader
	Server       config.Layer // the server's, without files if there is none
	Log          zerolog.Logger
	Now          func() time.Time

	// branches are the globs of the base branches that carry config of their own; nil
	// without any.
	branches *glob.Set
	// proposals loads proposed configs. A loader of its own keeps them from pushing the
	// config in force out of Loader.
	proposals *config.Loader
	heeded    *heededNews
}

// NewConfigs completes c. The error says what is wrong with the server's config.
func NewConfigs(c Configs) (*Configs, error) {
	all := &c
	all.heeded = &heededNews{}
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
