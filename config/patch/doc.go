// Package patch writes a patch of config into the text of a config file, which may be JSON, JSONC or
// YAML. It only inserts: comments, order and formatting of everything else stay as they are, byte for
// byte, except that an empty list or object of YAML gives way to its first entry.
package patch
