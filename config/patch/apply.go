package patch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/config/convert"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// Step is what became of one addition.
type Step struct {
	File string // its path
	Name string // the id of the entry, or the JSON Pointer of the value
	New  bool   // the file did not exist
	// Present says that the file had the value already, so nothing changed.
	Present bool
}

// MaxAdditions bounds the entries and fields of one patch, since each is checked against the whole file.
const MaxAdditions = 100

// Apply returns the files of a directory after a patch, and what became of each of its additions. The
// operations append entries to lists, or add fields to objects. A missing file, list or object is
// made. If the file has the entry or field with the same value, nothing changes. With another value,
// or if the patch or the file can't be used, there is an error, which names the place.
func Apply(dir string, files []config.File, p pipeline.ConfigPatch) ([]config.File, []Step, error) {
	file := config.FileOf(p.File)
	if file == "" || path.Base(p.File) != p.File {
		return nil, nil, fmt.Errorf("%q is not a config file: use one of %s", p.File, strings.Join(config.FileNames(), ", "))
	}
	if len(p.Operations) == 0 {
		return nil, nil, fmt.Errorf("the patch of %s has no operations: copy it whole", p.File)
	}
	files = slices.Clone(files)
	at := slices.IndexFunc(files, func(f config.File) bool { return config.FileOf(f.Path) == file })
	isNew := at < 0
	var steps []Step
	for _, op := range p.Operations {
		additions, err := additionsOf(op, file != config.FileSettings)
		if err != nil {
			return nil, nil, fmt.Errorf("the patch of %s: %w", p.File, err)
		}
		if len(steps)+len(additions) > MaxAdditions {
			return nil, nil, fmt.Errorf("the patch of %s adds more than %d entries: apply it in parts", p.File, MaxAdditions)
		}
		for _, a := range additions {
			if at < 0 {
				f, err := created(dir, files, file, a)
				if err != nil {
					return nil, nil, err
				}
				at, files = len(files), append(files, f)
				steps = append(steps, Step{File: f.Path, Name: a.name(), New: true})
				continue
			}
			text, err := a.into(files[at])
			if err != nil {
				return nil, nil, err
			}
			steps = append(steps, Step{File: files[at].Path, Name: a.name(), New: isNew, Present: text == nil})
			if text != nil {
				files[at] = config.File{Path: files[at].Path, Text: text}
			}
		}
	}
	return files, steps, nil
}

// addition is one value to add.
type addition struct {
	path  []string // to the value; the last step is - for a new entry of a list
	value []byte   // JSON
}

// additionsOf reads an operation. A file of entries has them in a list, or in the list items of an
// object, so a path to one stands for the other. Patches that give the whole list add each entry.
func additionsOf(op pipeline.PatchOperation, isList bool) ([]addition, error) {
	if op.Op != "add" {
		return nil, fmt.Errorf("the operation %q is not supported: only add is, so make the change by hand", op.Op)
	}
	if op.Path != "" && op.Path[0] != '/' {
		return nil, fmt.Errorf("the path %q is not a JSON Pointer: it must begin with a slash", op.Path)
	}
	var steps []string
	if op.Path != "" {
		for s := range strings.SplitSeq(op.Path[1:], "/") {
			steps = append(steps, strings.NewReplacer("~1", "/", "~0", "~").Replace(s))
		}
	}
	if !isList && len(steps) > 0 {
		return []addition{{steps, encoded(op.Value)}}, nil
	}
	if len(steps) > 0 && steps[0] == "items" {
		steps = steps[1:]
	}
	entries := []any{op.Value}
	if len(steps) == 0 {
		if whole, ok := op.Value.(map[string]any); ok && isList && op.Path == "" && len(whole) == 1 {
			op.Value = whole["items"]
		}
		var ok bool
		if entries, ok = op.Value.([]any); !ok || !isList {
			return nil, fmt.Errorf(`the operation at the path %q would replace the file: name the field, or append to a list with a path that ends in /-`, op.Path)
		}
		steps = []string{"-"}
	}
	var out []addition
	for _, e := range entries {
		if _, ok := e.(map[string]any); !ok && len(steps) == 1 {
			return nil, errors.New("an entry is not an object: copy the patch whole")
		}
		out = append(out, addition{steps, encoded(e)})
	}
	return out, nil
}

// name is the id of the entry, or the path.
func (a *addition) name() string {
	var entry struct{ ID string }
	if json.Unmarshal(a.value, &entry) == nil && entry.ID != "" {
		return entry.ID
	}
	return "/" + strings.Join(a.path, "/")
}

// created returns the new file with an addition: in the format of the files that are there, if they
// have the same, and otherwise as JSON.
func created(dir string, files []config.File, file string, a addition) (config.File, error) {
	format, extension := convert.JSON, ""
	for _, f := range files {
		switch {
		case config.FileOf(f.Path) == "":
		case extension == "" || extension == path.Ext(f.Path):
			extension = path.Ext(f.Path)
		default:
			extension = ".json"
		}
	}
	switch extension {
	case "", ".json":
		extension = ".json"
	case ".yaml", ".yml":
		format = convert.YAML
	}
	steps := a.path
	if file != config.FileSettings {
		steps = append([]string{"items"}, steps...)
	}
	if i := slices.IndexFunc(steps, isIndex); i >= 0 {
		return config.File{}, fmt.Errorf("there is no %s, and the patch changes an entry of it: take a patch that was made for your config", path.Join(dir, file))
	}
	whole := nested(steps, a.value)
	whole = append([]byte(`{"$schema": `+string(encoded(config.SchemaURL(strings.TrimSuffix(file, ".json"))))+`, `), whole[1:]...)
	text, err := written(whole, format)
	return config.File{Path: path.Join(dir, strings.TrimSuffix(file, ".json")+extension), Text: []byte(text + "\n")}, err
}

func isIndex(step string) bool { _, err := strconv.Atoi(step); return err == nil }

// nested returns the value that must be at the start of a path, so that a value is at its end.
func nested(steps []string, value []byte) []byte {
	for _, s := range slices.Backward(steps) {
		if s == "-" {
			value = slices.Concat([]byte("["), value, []byte("]"))
			continue
		}
		value = slices.Concat([]byte("{"), encoded(s), []byte(":"), value, []byte("}"))
	}
	return value
}

// into returns the text of a file with the addition, or nil if the file has it already.
func (a *addition) into(f config.File) ([]byte, error) {
	root, err := parsed(f)
	if err != nil {
		return nil, err
	}
	steps := a.path
	if config.FileOf(f.Path) != config.FileSettings && root.Kind == jsontree.Object {
		steps = append([]string{"items"}, steps...)
	}
	in := root
	for i, step := range steps {
		last := i == len(steps)-1
		switch {
		case in.Kind == jsontree.Array && step == "-" && last:
			if present, err := a.among(in); present || err != nil {
				return nil, err
			}
			return insert(f, in, "", a.value)
		case in.Kind == jsontree.Array:
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n >= len(in.Elems) || last {
				return nil, in.Error(fmt.Sprintf("the patch changes entry %s, which is not in this list of %d", step, len(in.Elems)), "take a patch that was made for this file")
			}
			in = in.Elems[n]
		case in.Kind == jsontree.Object:
			value := in.Get(step)
			if value == nil {
				return insert(f, in, step, nested(steps[i+1:], a.value))
			}
			if last {
				return nil, a.differs(value)
			}
			in = value
		default:
			return nil, in.Error("the patch needs a list or an object here", "take a patch that was made for this file")
		}
	}
	return nil, root.Error("the patch would replace the whole file", "take a patch that adds to it")
}

// among reports whether a list has the entry. The error says that it has another one of its id.
func (a *addition) among(list *jsontree.Node) (bool, error) {
	var entry struct{ ID any }
	if err := json.Unmarshal(a.value, &entry); err != nil {
		return false, fmt.Errorf("read the patch's entry: %w", err)
	}
	if _, isText := entry.ID.(string); !isText && entry.ID != nil {
		return false, fmt.Errorf("the patch's entry has the id %v, which is not text: write it in quotation marks", entry.ID)
	}
	for _, e := range list.Elems {
		if a.same(e) {
			return true, nil
		}
		if id := e.Get("id"); id != nil && id.Kind == jsontree.String && id.Text == entry.ID {
			return false, e.Error("this entry has the id of the patch's, but is not the same", "change it by hand, or remove it and apply the patch again")
		}
	}
	return false, nil
}

// differs returns an error if a field has another value than the patch gives it.
func (a *addition) differs(value *jsontree.Node) error {
	if a.same(value) {
		return nil
	}
	return value.Error("the patch gives this field another value", "change it by hand to "+string(a.value))
}

func (a *addition) same(n *jsontree.Node) bool {
	other, errs := jsontree.Parse(&jsontree.Document{Name: "the patch"}, a.value)
	return len(errs) == 0 && reflect.DeepEqual(n.Value(), other.Value())
}

func parsed(f config.File) (*jsontree.Node, error) {
	root, errs := config.Parse(&jsontree.Document{Name: f.Path}, f)
	var all []error
	for _, e := range errs {
		all = append(all, e)
	}
	return root, errors.Join(all...)
}

// insert adds a value to a list, or to an object with a key. The result is checked: without the new
// value it is the same tree as before.
func insert(f config.File, in *jsontree.Node, key string, value []byte) ([]byte, error) {
	before, pointer := rootOf(in).AppendJSON(nil), in.Pointer()
	var texts [][]byte
	var err error
	if isYAML(f.Path) {
		texts, err = intoYAML(f.Text, in, key, value)
	} else {
		texts, err = intoJSON(f.Text, in, key, value)
	}
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		root, err := parsed(config.File{Path: f.Path, Text: text})
		if err != nil {
			continue
		}
		at := find(root, pointer)
		if at == nil || at.Kind != in.Kind {
			continue
		}
		var added *jsontree.Node
		if n := len(at.Elems); n == len(in.Elems)+1 {
			added, at.Elems = at.Elems[n-1], at.Elems[:n-1]
		} else if n := len(at.Members); n == len(in.Members)+1 && at.Members[n-1].Key == key {
			added, at.Members = at.Members[n-1].Value, at.Members[:n-1]
		}
		if added != nil && (&addition{value: value}).same(added) && bytes.Equal(before, root.AppendJSON(nil)) {
			return text, nil
		}
	}
	return nil, in.Error("the entry can't be added without changing what stands here", "add this by hand: "+string(nested(slices.DeleteFunc([]string{key}, func(k string) bool { return k == "" }), value)))
}

func rootOf(n *jsontree.Node) *jsontree.Node {
	for n.Parent() != nil {
		n = n.Parent()
	}
	return n
}

// find returns the value at a JSON Pointer, or nil.
func find(root *jsontree.Node, pointer string) *jsontree.Node {
	n := root
	if pointer == "" {
		return n
	}
	for step := range strings.SplitSeq(pointer[1:], "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		if next := n.At(step); next != n {
			n = next
			continue
		}
		return nil
	}
	return n
}

func isYAML(name string) bool { return path.Ext(name) == ".yaml" || path.Ext(name) == ".yml" }
