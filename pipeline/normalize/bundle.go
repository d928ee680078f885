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
// ending. It returns "" if the file can't be one, and whether the name has a hash.
func bundleName(file string) (name string, hash bool) {
	ending := path.Ext(file)
	switch ending {
	case ".js", ".mjs", ".cjs", ".css", ".map":
	default:
		return "", false
	}
	dir, base := path.Split(file)
	stem := base[:len(base)-len(ending)]
	if m := hashed.FindStringSubmatch(stem); m != nil && isHash(m[2]) {
		stem, hash = m[1]+"-", true
	}
	return dir + stem + ending, hash
}

// isHash reports whether part of a name is a hash rather than a word.
func isHash(s string) bool {
	return strings.ContainsAny(s, "0123456789") || strings.ToLower(s) != s && strings.ToUpper(s) != s
}

// output is a folder of bundles with hashes in their names, and the ending of these bundles.
type output struct{ dir, ending string }

// markBundles finds the files that were minified bundles at the base, and still are: the change removes
// very long lines of them, or of a file that had the same name but for the hash. A bundle with a hash is
// also one if the change removes another such bundle of its folder, since bundlers move code between
// their files. An author can't forge the base.
func markBundles(files []pipeline.File) {
	names, outputs := map[string]bool{}, map[output]bool{}
	for i := range files {
		f := &files[i]
		if !WasBundle(f) {
			continue
		}
		old := cmp.Or(f.PreviousPath, f.Path)
		name, hash := bundleName(old)
		names[name] = true
		if hash {
			outputs[output{path.Dir(old), path.Ext(old)}] = true
		}
	}
	for i := range files {
		f := &files[i]
		name, hash := bundleName(f.Path)
		known := names[name] || hash && outputs[output{path.Dir(f.Path), path.Ext(f.Path)}]
		if known && isMinified(f, pipeline.LineAdded, hash) {
			f.Bundle = true
			setFlags(f)
		}
	}
}

// WasBundle reports whether a file was a minified bundle at the base: the change removes very long lines of
// it, and the diff shows next to nothing else.
func WasBundle(f *pipeline.File) bool {
	name, hash := bundleName(cmp.Or(f.PreviousPath, f.Path))
	return name != "" && isMinified(f, pipeline.LineRemoved, hash)
}

// What a bundle has besides very long lines, such as a reference to its map, in bytes. Strings over
// several lines and licences make up a small share of a large bundle. The name of a file that people
// write has no hash of its content, so the share counts only beside one. In a file that has neither a hash
// nor a name such as shop.min.js, the other lines are comments.
const (
	maxBesideBundle = 200
	besideShare     = 20 // one of so many bytes
)

// isMinified reports whether nearly all that the change adds to a file, or removes from it, is in very
// long lines, and shows hardly any other line around them.
func isMinified(f *pipeline.File, op pipeline.LineOp, hash bool) bool {
	anyLines := hash || strings.Contains(path.Base(cmp.Or(f.PreviousPath, f.Path)), ".min.")
	long, all := 0, 0
	for i := range f.Hunks {
		for j := range f.Hunks[i].Lines {
			l := &f.Hunks[i].Lines[j]
			isLong := len(l.Text) >= minBundleLine
			if l.Op != op && (l.Op != pipeline.LineContext || isLong) {
				continue
			}
			if all += len(l.Text); isLong {
				long += len(l.Text)
			} else if !anyLines && !isComment(l.Text) {
				return false
			}
		}
	}
	beside := maxBesideBundle
	if hash {
		beside = max(beside, all/besideShare)
	}
	return long > 0 && all-long <= beside
}

// isComment reports whether a line of JavaScript or CSS is blank or looks like part of a comment.
func isComment(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || strings.HasPrefix(line, "//") || strings.HasPrefix(line, "/*") || strings.HasPrefix(line, "*")
}
