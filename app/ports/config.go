package ports

import (
	"fmt"
	"strings"
)

// OrganisationRepo is the repository that holds its organisation's config, and has no
// config of its own.
const OrganisationRepo = ".github"

// IsOrganisationRepo reports whether a repository is its organisation's OrganisationRepo.
func IsOrganisationRepo(t Target) bool { return strings.EqualFold(t.Name, OrganisationRepo) }

// OrganisationLayer is the name under which the last good layer of an organisation is
// stored. Such layers are stored under the repository ID 0.
func OrganisationLayer(installation int64, owner string) string {
	return fmt.Sprintf("organisation:%d/%s", installation, strings.ToLower(owner))
}

// ConfigBlob is the text of one config file that a review used.
type ConfigBlob struct {
	Layer   string
	Path    string
	BlobSHA string
	Text    []byte
}

// ConfigSource is the files of one layer and where they were read. No files means that
// there is no such layer, unless Unreadable is set: then its repository does not exist, or
// the App may not read it.
type ConfigSource struct {
	Source     string
	Files      []ConfigBlob
	Unreadable bool
}

// ConfigRead is the config of one repository on GitHub. It also has the names of the files
// at the root of the branch, which the same read returns.
type ConfigRead struct {
	Organisation ConfigSource
	Repository   ConfigSource
	RootFiles    []string
	// Attributes and Exceptions are the .gitattributes and the .gitleaks.toml at the root
	// of that branch. They belong to no config layer. The Path is empty if the branch lacks
	// the file.
	Attributes, Exceptions ConfigBlob
}

// GoodLayer is the newest valid version of a config layer.
type GoodLayer struct {
	Source string
	Files  []ConfigBlob
}

// LayerAttributes and LayerExceptions are used in place of a layer's name for the base's
// .gitattributes and .gitleaks.toml.
const (
	LayerAttributes = "attributes"
	LayerExceptions = "exceptions"
)
