// Package starter writes the first config files of a repository. They are small, change only
// the mode, and show by example what can be changed.
package starter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/reviewgate/reviewgate/config"
)

// schemas is where the schemas of config files are published.
const schemas = "https://raw.githubusercontent.com/reviewgate/reviewgate/main/config/schemas/"

// Write writes the starter into a repository's config directory, which it creates if
// necessary, and returns the names of the files. If a config file or a prompt exists already,
// it writes nothing and returns fs.ErrExist.
func Write(repository string) ([]string, error) {
	dir := filepath.Join(repository, filepath.FromSlash(config.RepositoryDir))
	names := config.FileNames()
	if entries, err := os.ReadDir(dir); err == nil { // the next step reports an unreadable directory
		for _, e := range entries {
			if config.IsFile(e.Name()) { // prompts, too
				names = append(names, e.Name())
			}
		}
	}
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, name), fs.ErrExist)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("look for config files: %w", err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the config directory: %w", err)
	}
	var written []string
	for _, f := range files(services(repository)) {
		name := filepath.Join(dir, f.name)
		text, err := json.MarshalIndent(f.content, "", "  ")
		if err != nil {
			return written, fmt.Errorf("encode %s: %w", f.name, err)
		}
		if err := WriteNew(name, append(text, '\n')); err != nil {
			return written, fmt.Errorf("write the config: %w", err)
		}
		written = append(written, name)
	}
	return written, nil
}

// WriteNew writes a file. It never overwrites a file, and follows no link.
func WriteNew(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

type file struct {
	name    string
	content any
}

type list struct {
	Schema string `json:"$schema"`
	Items  []any  `json:"items"`
}

type settings struct {
	Schema string `json:"$schema"`
	Mode   string `json:"mode"`
}

type override struct {
	ID      string `json:"id"`
	Enabled bool   `json:"enabled"`
}

type rule struct {
	ID          string `json:"id"`
	Enabled     bool   `json:"enabled"`
	Severity    string `json:"severity"`
	Description string `json:"description"`
	Match       match  `json:"match"`
}

type match struct {
	Literal string   `json:"literal"`
	Paths   []string `json:"paths"`
}

type service struct {
	Type        string   `json:"type"`
	ID          string   `json:"id"`
	Service     string   `json:"service"`
	Description string   `json:"description"`
	Globs       []string `json:"globs"`
}

// files are the starter's files. A file of domains is written only if there are services to
// name.
func files(services []service) []file {
	out := []file{
		{config.FileSettings, settings{schemas + config.FileSettings, config.ModeAdvisory}},
		{config.FileRules, list{schemas + config.FileRules, []any{
			override{ID: "test-focused-01", Enabled: true},
			rule{
				ID: "example-legacy-api", Severity: "warning",
				Description: "The legacy API is called. This is an example of a rule of your own, which is switched off: say here why the finding matters, then set enabled to true.",
				Match:       match{Literal: "legacy.example.com", Paths: []string{"**"}},
			},
		}}},
	}
	if len(services) > 0 {
		items := list{Schema: schemas + config.FileDomains}
		for _, s := range services {
			items.Items = append(items.Items, s)
		}
		out = append(out, file{config.FileDomains, items})
	}
	return out
}

// maxServices limits how many services are guessed. More directories than that hold something
// else.
const maxServices = 30

// slug matches names that can be used as an id unchanged.
var slug = regexp.MustCompile(`^[a-z0-9]+(?:-[a-z0-9]+)*$`)

// services guesses the repository's services: the subdirectories of the directories that
// monorepos use for services.
func services(repository string) []service {
	var out []service
	for _, parent := range []string{"services", "apps"} {
		entries, err := os.ReadDir(filepath.Join(repository, parent))
		if err != nil {
			continue // no such directory
		}
		for _, e := range entries {
			known := slices.ContainsFunc(out, func(s service) bool { return s.Service == e.Name() })
			if !e.IsDir() || known || len(e.Name()) > 40 || !slug.MatchString(e.Name()) {
				continue
			}
			out = append(out, service{
				Type: "service", ID: "service-" + e.Name(), Service: e.Name(),
				Description: "What is deployed from " + parent + "/" + e.Name() + ".",
				Globs:       []string{parent + "/" + e.Name() + "/**"},
			})
		}
	}
	if len(out) > maxServices {
		return nil
	}
	return out
}
