package config

import (
	"crypto/sha1" // #nosec G505 -- git names its objects by SHA-1
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// The layers by name; see LayerNames.
const (
	LayerDefaults     = "defaults"
	LayerProbation    = "probation" // made by reviewgate; see ProbationLayer
	LayerServer       = "server"
	LayerOrganisation = "organisation"
	LayerRepository   = "repository"
)

// LayerNames lists the layers by name, lowest first.
func LayerNames() []string {
	return append([]string{LayerDefaults, LayerProbation}, WrittenLayers()...)
}

// WrittenLayers lists the layers that people write over the defaults, lowest first.
func WrittenLayers() []string { return []string{LayerServer, LayerOrganisation, LayerRepository} }

// LayerRank is greater for a layer that is laid over another.
func LayerRank(layer string) int { return slices.Index(LayerNames(), layer) }

// Layer has the config files of one place. Source says where that is: embedded, a directory, or
// owner/name@sha.
type Layer struct {
	Name   string
	Source string
	Files  []File
	// Organisation is the login of the account whose .github repository holds this layer. What
	// loosens reviews in such a layer counts only if the server lets that account. If Organisation
	// is empty, everything counts.
	Organisation string
}

// MaxFileBytes is the size of the largest config file. A caller that reads files for a layer reads
// one byte more, so that Load sees that a file is larger.
const MaxFileBytes = jsontree.MaxBytes

// File is the text of one config file. Only the last element of Path decides which of the five
// files, or which prompt, it is, and whether it is JSON, JSONC or YAML. Problems show the whole path. BlobSHA is git's name for the text;
// if it is empty, Load computes it.
type File struct {
	Path    string
	BlobSHA string
	Text    []byte
}

// FileNames lists the five config files by their names as JSON, in the order in which they are read.
func FileNames() []string {
	return []string{FileRules, FileComposition, FileAgents, FileDomains, FileSettings}
}

// formats are the extensions of config files.
var formats = []string{".json", ".jsonc", ".yaml", ".yml"}

// FileOf returns which of the five files a file is, by the last element of its path: FileRules for
// review-rules.json and review-rules.yaml. It returns "" for other files.
func FileOf(name string) string {
	name = path.Base(name)
	ext := path.Ext(name)
	file := strings.TrimSuffix(name, ext) + ".json"
	if !slices.Contains(formats, ext) || !slices.Contains(FileNames(), file) {
		return ""
	}
	return file
}

// Parse reads a config file in the format that its name says. The errors are those of
// [jsontree.Parse].
func Parse(doc *jsontree.Document, f File) (*jsontree.Node, []jsontree.Error) {
	switch path.Ext(f.Path) {
	case ".yaml", ".yml":
		return jsontree.ParseYAML(doc, f.Text)
	case ".jsonc":
		return jsontree.ParseJSONC(doc, f.Text)
	}
	return jsontree.Parse(doc, f.Text)
}

// IsFile reports whether a file of a config directory, by its name, is config: one of the five
// files, or a prompt, prompt-NAME.md.
func IsFile(name string) bool { return FileOf(name) != "" || promptName(name) != "" }

// OfLayer returns the names in a config directory that belong to its layer: the five files in their
// order, the prompts by name, and misnamed files. If there are too many prompts, it returns one
// more than a layer may have, so that Load sees it. Of a file in several formats it returns two
// names, for the same reason.
func OfLayer(names []string) []string {
	var files, prompts, wrong []string
	for _, name := range names {
		switch {
		case promptName(name) != "":
			prompts = append(prompts, name)
		case IsFile(name):
			files = append(files, name)
		case misnamed(name):
			wrong = append(wrong, name)
		}
	}
	slices.SortFunc(files, compareNames)
	var few []string
	for _, name := range files {
		if n := len(few); n < 2 || FileOf(few[n-2]) != FileOf(name) {
			few = append(few, name)
		}
	}
	slices.Sort(prompts)
	return slices.Concat(few, prompts[:min(len(prompts), MaxPrompts+1)], wrong)
}

// MaxBytes returns how many bytes of a config file are read: one byte more than a file with this
// name may have.
func MaxBytes(name string) int64 {
	if promptName(path.Base(name)) != "" {
		return MaxPromptBytes + 1
	}
	return MaxFileBytes + 1
}

// BlobSHA returns the name that git gives to a blob with this text, in hex.
func BlobSHA(text []byte) string {
	h := sha1.New() // #nosec G401 -- see the import
	fmt.Fprintf(h, "blob %d\x00", len(text))
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}

// fileRank returns the place of a file in its layer: the five files come first, then prompts, then
// any other files.
func fileRank(file string) int {
	if i := slices.Index(FileNames(), FileOf(file)); i >= 0 {
		return i
	}
	if promptName(path.Base(file)) != "" {
		return len(FileNames())
	}
	return len(FileNames()) + 1
}

// compareFiles compares two files by their order in a layer.
func compareFiles(a, b File) int { return compareNames(path.Base(a.Path), path.Base(b.Path)) }

func compareNames(a, b string) int {
	if n := fileRank(a) - fileRank(b); n != 0 || !IsFile(a) {
		return n
	}
	return strings.Compare(a, b)
}

// normal returns the layer with all blob SHAs filled in and its files in order: the five files,
// then prompts by name, then unknown files.
func (l Layer) normal() Layer {
	l.Files = slices.Clone(l.Files)
	slices.SortStableFunc(l.Files, compareFiles)
	for i, f := range l.Files {
		if f.BlobSHA == "" {
			l.Files[i].BlobSHA = BlobSHA(f.Text)
		}
	}
	return l
}

// inForce describes the layer as facts and reports do.
func (l Layer) inForce(used bool) pipeline.ConfigLayer {
	out := pipeline.ConfigLayer{Name: l.Name, Source: l.Source, Used: used}
	for _, f := range l.Files {
		out.Files = append(out.Files, pipeline.ConfigFile{Path: f.Path, BlobSHA: f.BlobSHA})
	}
	return out
}

// keyOf returns the Key of the config that the used layers make.
func keyOf(layers []Layer, inForce []pipeline.ConfigLayer) [sha256.Size]byte {
	h := sha256.New()
	for i, l := range layers {
		if !inForce[i].Used || len(l.Files) == 0 {
			continue
		}
		fmt.Fprintf(h, "%q %q %d\n", l.Name, strings.ToLower(l.Organisation), len(l.Files))
		for _, f := range l.normal().Files {
			fmt.Fprintf(h, "%q %d\n", path.Base(f.Path), len(f.Text))
			h.Write(f.Text)
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// versionLength is long enough to distinguish the versions of one repository's config, and short
// enough for a comment's footer.
const versionLength = 12

// version returns the name of the config that the used layers make. The places that the layers were
// read from have no effect on it.
func version(layers []pipeline.ConfigLayer) string {
	h := sha256.New()
	for _, l := range layers {
		if !l.Used || len(l.Files) == 0 {
			continue
		}
		fmt.Fprintf(h, "%q\n", l.Name)
		for _, f := range l.Files {
			fmt.Fprintf(h, "%q %q\n", path.Base(f.Path), f.BlobSHA)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:versionLength]
}
