package normalize

import (
	"cmp"
	"path"
	"regexp"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// minBundleLine is how long a line of a minified bundle is, in bytes. People don't write such lines.
const minBundleLine = 2000

// hashed matches the name of a bundle with a hash of its content, such as app-Cw8PvgLj.
var hashed = regexp.MustCompile(`^(.+?)[-.]([\w-]{8,})$`)

// bundleName identifies a bundle over its builds: its folder, its name without the hash, and its
// ending. It returns "" if the file can't be one.
func bundleName(file string) string {
	ending := path.Ext(file)
	switch ending {
	case ".js", ".mjs", ".cjs", ".css", ".map":
	default:
		return ""
	}
	dir, base := path.Split(file)
	stem := base[:len(base)-len(ending)]
	if m := hashed.FindStringSubmatch(stem); m != nil && isHash(m[2]) {
		stem = m[1] + "-"
	}
	return dir + stem + ending
}

// isHash reports whether part of a name is a hash rather than a word.
func isHash(s string) bool {
	return strings.ContainsAny(s, "0123456789") || strings.ToLower(s) != s && strings.ToUpper(s) != s
}

// markBundles finds the files that were minified bundles at the base, and still are: the change removes
// very long lines of them, or of a file that had the same name but for the hash. An author can't forge
// the base.
func markBundles(files []pipeline.File) {
	names := map[string]bool{}
	for i := range files {
		f := &files[i]
		if name := bundleName(cmp.Or(f.PreviousPath, f.Path)); name != "" && isMinified(f, pipeline.LineRemoved) {
			names[name] = true
		}
	}
	for i := range files {
		if f := &files[i]; names[bundleName(f.Path)] && isMinified(f, pipeline.LineAdded) {
			f.Bundle = true
			setFlags(f)
		}
	}
}

// maxBesideBundle is how many bytes a bundle has besides very long lines, such as a reference to its
// map.
const maxBesideBundle = 200

// isMinified reports whether all that the change adds to a file, or removes from it, is in very long
// lines, but for a few bytes.
func isMinified(f *pipeline.File, op pipeline.LineOp) bool {
	long, all := 0, 0
	for i := range f.Hunks {
		for j := range f.Hunks[i].Lines {
			l := &f.Hunks[i].Lines[j]
			if l.Op != op {
				continue
			}
			if all += len(l.Text); len(l.Text) >= minBundleLine {
				long += len(l.Text)
			}
		}
	}
	return long > 0 && all-long <= maxBesideBundle
}
