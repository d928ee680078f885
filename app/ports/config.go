package ports

import (
	"fmt"
	"strings"
)

// OrganisationRepo is the repository whose config is its organisation's, and
// which has no other.
const OrganisationRepo = ".github"

// IsOrganisationRepo reports whether a repository is its organisation's OrganisationRepo.
func IsOrganisationRepo(t Target) bool { return strings.EqualFold(t.Name, OrganisationRepo) }

// OrganisationLayer names the good layer of an organisation. Those of organisations are
// kept under the repository 0.
func OrganisationLayer(installation int64, owner string) string {
	return fmt.Sprintf("organisation:%d/%s", installation, strings.ToLower(owner))
}

// ConfigBlob is the text of one config file that a review was done with.
type ConfigBlob struct {
	Layer   string
	Path    string
	BlobSHA string
	Text    []byte
}

// ConfigSource is the files of one layer and where they were read. No files
// means that there is no such layer, unless Unreadable says that its repository
// can't be seen: that there is none, or that the App may not read it.
type ConfigSource struct {
	Source     string
	Files      []ConfigBlob
	Unreadable bool
}

// ConfigRead is what GitHub holds of the config of one repository, and the
// names of the files at the root of the branch it was read from, which come
// with it.
type ConfigRead struct {
	Organisation ConfigSource
	Repository   ConfigSource
	RootFiles    []string
	// Attributes and Exceptions are the .gitattributes and the .gitleaks.toml at the root
	// of that branch, which belong to no config layer. The Path is empty if the branch
	// lacks the file.
	Attributes, Exceptions ConfigBlob
}

// GoodLayer is the newest version of a config layer that was valid.
type GoodLayer struct {
	Source string
	Files  []ConfigBlob
}

// LayerAttributes and LayerExceptions stand in place of a layer's name for the base's
// .gitattributes and .gitleaks.toml.
const (
	LayerAttributes = "attributes"
	LayerExceptions = "exceptions"
)
