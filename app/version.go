package app

import "runtime/debug"

// built is the version that the linker sets. The image's build sets it, because it sees no
// commits.
var built string

// Version returns the version that the linker set, or else the module's version, or else
// the first seven digits of the commit, or else "devel".
func Version() string {
	if built != "" {
		return built
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 7 {
			return s.Value[:7]
		}
	}
	return "devel"
}
