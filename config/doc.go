// Package config reads reviewgate's five JSON files, layer over layer, and
// hands out one validated [Config].
//
//	embedded defaults < server < organisation < repository
//
// Layers are merged as JSON, entry by entry: lists by id, where a later layer
// may override single fields of an entry or switch it off, and settings field
// by field. Only then are they decoded, so that a field that was left out can
// be told from one that was set to its zero value. Every merged value still
// knows the file, line and layer it came from, which is what a problem is
// reported with.
//
// A layer with a problem is left out whole and the others are used: [Load]
// always returns a valid Config, and lists what was wrong beside it. A caller
// that keeps the last good version of a layer passes it in the broken one's
// stead.
//
// Config comes from repositories that nobody vouches for. It is decoded
// strictly, and sizes, nesting, numbers of entries and the cost of patterns are
// bounded.
//
// The JSON Schemas in schemas/ describe the five files and the data that flows
// through the pipeline; [ValidateData] checks JSON against them.
package config
