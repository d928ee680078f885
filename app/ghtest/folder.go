package ghtest

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// folder is a tree that is being changed. A folder below it is read when a change reaches it.
type folder struct {
	objects *objectStore
	entries map[string]entry   // by name; their Path is the name
	below   map[string]*folder // those that were read
}

// open reads a tree; the name "" is an empty one's.
func (s *objectStore) open(tree string) (*folder, error) {
	f := &folder{objects: s, entries: map[string]entry{}, below: map[string]*folder{}}
	if tree == "" {
		return f, nil
	}
	entries, err := s.tree(tree, false)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		f.entries[e.Path] = e
	}
	return f, nil
}

// child returns a folder in f, or nil if it does not exist and make is false. It replaces a
// file of that name.
func (f *folder) child(name string, make bool) (*folder, error) {
	if sub := f.below[name]; sub != nil {
		return sub, nil
	}
	tree := ""
	e, there := f.entries[name]
	switch {
	case there && e.Type == "tree":
		tree = e.SHA
	case !make:
		return nil, nil
	}
	sub, err := f.objects.open(tree)
	if err != nil {
		return nil, err
	}
	f.entries[name], f.below[name] = entry{Mode: "040000", Type: "tree", Path: name}, sub
	return sub, nil
}

// at returns the folder of a path and the name in it. The folder is nil if it does not exist
// and make is false.
func (f *folder) at(path string, make bool) (*folder, string, error) {
	parts := strings.Split(path, "/")
	for _, part := range parts {
		if part == "" || part == "." || part == ".." || part == ".git" {
			return nil, "", fmt.Errorf("git can't hold the path %q", path)
		}
	}
	last := len(parts) - 1
	for _, part := range parts[:last] {
		sub, err := f.child(part, make)
		if err != nil || sub == nil {
			return nil, "", err
		}
		f = sub
	}
	return f, parts[last], nil
}

// set puts a file at a path.
func (f *folder) set(path string, e entry) error {
	in, name, err := f.at(path, true)
	if err != nil {
		return err
	}
	e.Path = name
	in.entries[name] = e
	delete(in.below, name)
	return nil
}

// remove removes the entry at a path, if it exists.
func (f *folder) remove(path string) error {
	in, name, err := f.at(path, false)
	if err != nil || in == nil {
		return err
	}
	delete(in.entries, name)
	delete(in.below, name)
	return nil
}

// move takes the file or folder at one path to another.
func (f *folder) move(from, to string) error {
	in, name, err := f.at(from, false)
	if err != nil {
		return err
	}
	var e entry
	var there bool
	if in != nil {
		e, there = in.entries[name]
	}
	if !there {
		return fmt.Errorf("move %s: there is nothing", from)
	}
	sub := in.below[name]
	delete(in.entries, name)
	delete(in.below, name)
	if err := f.set(to, e); err != nil || sub == nil {
		return err
	}
	in, name, err = f.at(to, true)
	if err == nil {
		in.below[name] = sub
	}
	return err
}

// save writes the folder and all read folders below it, and returns its SHA. An empty folder
// has none, except for the root.
func (f *folder) save(root bool) (string, error) {
	for name, sub := range f.below {
		sha, err := sub.save(false)
		if err != nil {
			return "", err
		}
		e := f.entries[name]
		e.SHA = sha
		f.entries[name] = e
		if sha == "" {
			delete(f.entries, name)
		}
	}
	if len(f.entries) == 0 && !root {
		return "", nil
	}
	entries := make([]entry, 0, len(f.entries))
	for _, e := range f.entries {
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.order(), b.order()) })
	var data []byte
	for _, e := range entries {
		name, err := hex.DecodeString(e.SHA)
		if err != nil || len(name) != sha1.Size {
			return "", fmt.Errorf("write a tree: %s has the object name %q", e.Path, e.SHA)
		}
		data = fmt.Appendf(data, "%s %s\x00", strings.TrimPrefix(e.Mode, "0"), e.Path)
		data = append(data, name...)
	}
	return f.objects.putTree(entries, data), nil
}

// apply makes a change in the folder. Moves come first, so that files may be written at the old
// places.
func (f *folder) apply(files Files) error {
	paths := slices.Sorted(maps.Keys(files))
	for _, path := range paths {
		if from, ok := strings.CutPrefix(files[path], markMoved); ok {
			if err := f.move(from, path); err != nil {
				return err
			}
		}
	}
	for _, path := range paths {
		if err := f.applyFile(path, files[path]); err != nil {
			return err
		}
	}
	return nil
}

func (f *folder) applyFile(path, content string) error {
	if strings.HasPrefix(content, markMoved) {
		return nil
	}
	if content == Gone {
		return f.remove(path)
	}
	if sha, ok := strings.CutPrefix(content, markSubmodule); ok {
		return f.set(path, entry{Mode: "160000", Type: "commit", SHA: sha})
	}
	mode := "100644"
	for mark, marked := range map[string]string{markExecutable: "100755", markSymlink: "120000"} {
		if rest, ok := strings.CutPrefix(content, mark); ok {
			mode, content = marked, rest
		}
	}
	sha := f.objects.put("blob", []byte(content))
	return f.set(path, entry{Mode: mode, Type: "blob", SHA: sha, Size: len(content)})
}
