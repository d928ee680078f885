package app

import "runtime/debug"

// built is the version that the linker was told, as for the image, whose build
// sees no commits.
var built string

// Version is the version that the binary was built as, or its module's, or the
// first seven digits of the commit, or "devel".
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
