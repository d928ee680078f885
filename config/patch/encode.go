package patch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/config/convert"
	"github.com/reviewgate/reviewgate/pipeline"
)

// first are the fields that people expect first, in this order. The others follow by name.
var first = []string{"id", "type", "domain", "description", "globs", "weight", "priority", "trigger", "dispatch"}

// encoded returns a value as JSON. The fields of a map come in an order for people.
func encoded(v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		rank := func(key string) int {
			if i := slices.Index(first, key); i >= 0 {
				return i
			}
			return len(first)
		}
		keys := slices.SortedFunc(maps.Keys(v), func(a, b string) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a, b)) })
		var fields [][]byte
		for _, k := range keys {
			fields = append(fields, slices.Concat(encoded(k), []byte(":"), encoded(v[k])))
		}
		return slices.Concat([]byte("{"), bytes.Join(fields, []byte(",")), []byte("}"))
	case []any:
		var entries [][]byte
		for _, e := range v {
			entries = append(entries, encoded(e))
		}
		return slices.Concat([]byte("["), bytes.Join(entries, []byte(",")), []byte("]"))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // values of patches come from JSON
		panic(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// written returns JSON in a format as people write it, without the last line break.
func written(value []byte, format string) (string, error) {
	r, err := convert.File(config.File{Path: config.FileSettings, Text: value}, format)
	return strings.TrimSuffix(string(r.File.Text), "\n"), err
}

// AsYAML returns the values of operations as a list of YAML, as it can be appended to a list. There is
// no line break at the end.
func AsYAML(ops []pipeline.PatchOperation) (string, error) {
	entries := make([]any, len(ops))
	for i, op := range ops {
		entries[i] = op.Value
	}
	return written(encoded(entries), convert.YAML)
}

// onOneLine returns JSON that is also a value of YAML.
func onOneLine(value []byte) (string, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, value, "", ""); err != nil {
		return "", err
	}
	return strings.NewReplacer("{\n", "{", "[\n", "[", "\n}", "}", "\n]", "]", ",\n", ", ").Replace(b.String()), nil
}
