package normalize

import (
	"context"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// Source is where a change is read from: a code host's API, or a local git range. Its methods run
// side by side, each once. A method's result says what the method could not find out. An error
// means that the whole read failed.
type Source interface {
	PullRequest(ctx context.Context) (raw.PullRequest, error)
	Files(ctx context.Context) (raw.Files, error)
	Commits(ctx context.Context) (raw.Commits, error)
	Config(ctx context.Context) (ConfigRead, error)
}

// ConfigRead is the config in force. From the same branch it also has the names of the files at the
// root, if they are known, and the text of AttributesFile, up to one byte more than MaxAttributes.
type ConfigRead struct {
	Config     *config.Config
	RootFiles  []string
	Attributes []byte
	// Exceptions is the text of the base's .gitleaks.toml; see secrets.ReadExceptions.
	Exceptions []byte
}
