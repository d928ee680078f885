// Package raw holds a change as its source gives it, before stage 1 normalizes it
// into facts. A source is a code host's API or a local git repository.
package raw
