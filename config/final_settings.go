package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// checkSettings refuses changes of settings that a lower layer made final, and names of
// settings that do not exist.
func (f *finals) checkSettings(root *jsontree.Node) {
	known := settingNames()
	for _, name := range elems(root.Get("final")) {
		if !given(name) || slices.Contains(known, name.Text) {
			continue
		}
		f.of(name, fmt.Sprintf("there is no setting %s", shown(name.Text)), f.didYouMean(name.Text, slices.Values(known),
			`name a setting such as "mode", a section such as "gate" or a field of one such as "check.name"`))
	}
	for _, name := range elems(f.below.settings.Get("final")) {
		path := strings.Split(name.Text, ".")
		own, below := root, f.below.settings
		for _, step := range path {
			own, below = own.Get(step), below.Get(step)
		}
		if own == nil || own.Kind != jsontree.Object {
			f.checkSetting(own, below, name)
			continue
		}
		for _, m := range own.Members {
			f.checkSetting(m.Value, below.Get(m.Key), name)
		}
	}
}

func (f *finals) checkSetting(own, below, name *jsontree.Node) {
	if own == nil || below != nil && sameJSON(own, below) {
		return
	}
	f.of(own, fmt.Sprintf("%s is %s", name.Text, finalIn(layerOf(name))), "leave it out")
}

// sameJSON reports whether two values are equal, regardless of the order of members and of how
// numbers are written.
func sameJSON(a, b *jsontree.Node) bool {
	var x, y any
	return json.Unmarshal(a.AppendJSON(nil), &x) == nil && json.Unmarshal(b.AppendJSON(nil), &y) == nil && reflect.DeepEqual(x, y)
}

// settingNames lists the names that the settings' "final" may have.
func settingNames() []string {
	var names []string
	root := schemas().lookup(schemaBase + FileSettings)
	for _, name := range propertyNames(root) {
		if name == "$schema" || name == "final" || name == "final_authority" {
			continue
		}
		names = append(names, name)
		property := root["properties"].(map[string]any)[name].(map[string]any)
		if ref, ok := property["$ref"].(string); ok && strings.HasPrefix(ref, "#") {
			for _, field := range propertyNames(schemas().lookup(schemaBase + FileSettings + ref)) {
				names = append(names, name+"."+field)
			}
		}
	}
	return names
}

// keepFinal keeps the final settings of lower layers final in the merged settings, whatever
// the layer itself makes final. A layer that repeats such a setting does not become its
// writer: a mode that the repository wrote would overrule the server's modes by repository.
func keepFinal(merged, below *jsontree.Node) {
	lower := below.Get("final")
	for i, m := range merged.Members {
		switch {
		case m.Key == "final" && lower != nil && m.Value != lower:
			merged.Members[i].Value = union(m.Value, lower)
		case names(lower, m.Key) && below.Get(m.Key) != nil:
			merged.Members[i].Value = below.Get(m.Key)
		}
	}
}

// union returns the list n with the elements of lower before its own.
func union(n, lower *jsontree.Node) *jsontree.Node {
	all := *n
	all.Elems = slices.Clone(lower.Elems)
	for _, e := range n.Elems {
		if !names(lower, e.Text) {
			all.Elems = append(all.Elems, e)
		}
	}
	return &all
}

func names(list *jsontree.Node, name string) bool {
	return slices.ContainsFunc(elems(list), func(e *jsontree.Node) bool { return e.Text == name })
}
