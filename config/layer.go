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
	LayerServer       = "server"
	LayerOrganisation = "organisation"
	LayerRepository   = "repository"
)

// LayerNames lists the layers by name, lowest first.
func LayerNames() []string {
	return []string{LayerDefaults, LayerServer, LayerOrganisation, LayerRepository}
}

// LayerRank is greater for a layer that is laid over another.
func LayerRank(layer string) int { return slices.Index(LayerNames(), layer) }

// Layer is the config files of one place. Source says where that is: embedded,
// a directory, or owner/name@sha.
type Layer struct {
	Name   string
	Source string
	Files  []File
	// Organisation is the login of the account whose layer this is, if the layer was
	// read from its .github. What loosens in such a layer counts only if the server lets
	// that account. If it is empty, everything counts.
	Organisation string
}

// MaxFileBytes is the size of the largest config file that is taken. Who reads
// files for a layer reads one byte more, so that Load sees what is larger.
const MaxFileBytes = jsontree.MaxBytes

// File is the text of one config file. Only the last element of Path decides
// which of the five, or which prompt, it is; the whole of it stands in problems. BlobSHA is
// git's name for the text; where it is empty, Load works it out.
type File struct {
	Path    string
	BlobSHA string
	Text    []byte
}

// FileNames lists the five config files in the order in which they are read.
func FileNames() []string {
	return []string{FileRules, FileComposition, FileAgents, FileDomains, FileSettings}
}

// IsFile reports whether the text of a file of a config directory, by its name,
// is config: one of the five, or a prompt, prompt-NAME.md.
func IsFile(name string) bool { return slices.Contains(FileNames(), name) || promptName(name) != "" }

// OfLayer picks, from the names in a config directory, those that are of its
// layer: the config files in their order, the prompts by name, and what is
// misnamed. Of prompts that are too many it names one more than a layer may have,
// so that Load sees it.
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
	slices.SortFunc(files, func(a, b string) int { return fileRank(a) - fileRank(b) })
	slices.Sort(prompts)
	return slices.Concat(files, prompts[:min(len(prompts), MaxPrompts+1)], wrong)
}

// MaxBytes is how much is read of a config file by its name: one byte more than
// it may have.
func MaxBytes(name string) int64 {
	if promptName(path.Base(name)) != "" {
		return MaxPromptBytes + 1
	}
	return MaxFileBytes + 1
}

// BlobSHA is the name that git gives to a blob of this text, in hex.
func BlobSHA(text []byte) string {
	h := sha1.New() // #nosec G401 -- see the import
	fmt.Fprintf(h, "blob %d\x00", len(text))
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}

// fileRank is the place of a file among the five; prompts come after them, and
// any other last.
func fileRank(file string) int {
	if i := slices.Index(FileNames(), path.Base(file)); i >= 0 {
		return i
	}
	if promptName(path.Base(file)) != "" {
		return len(FileNames())
	}
	return len(FileNames()) + 1
}

// compareFiles puts files into the order of their layer.
func compareFiles(a, b File) int {
	if n := fileRank(a.Path) - fileRank(b.Path); n != 0 || promptName(path.Base(a.Path)) == "" {
		return n
	}
	return strings.Compare(path.Base(a.Path), path.Base(b.Path))
}

// normal returns the layer with its blob SHAs filled in and its files in the
// order of FileNames, then prompts by name, unknown ones last.
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

// inForce is how facts and reports refer to the layer.
func (l Layer) inForce(used bool) pipeline.ConfigLayer {
	out := pipeline.ConfigLayer{Name: l.Name, Source: l.Source, Used: used}
	for _, f := range l.Files {
		out.Files = append(out.Files, pipeline.ConfigFile{Path: f.Path, BlobSHA: f.BlobSHA})
	}
	return out
}

// keyOf is the Key of the config that the used ones among the layers add up to.
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

// versionLength is enough to tell the versions of one repository's config
// apart, and short enough for a comment's footer.
const versionLength = 12

// version names the config that the used layers add up to. Where they were
// read is no part of it.
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
