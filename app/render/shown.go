package render

import (
	"fmt"
	"strings"

	"github.com/reviewgate/reviewgate/config"
)

// maxValue bounds a value of the config, in runes.
const maxValue = 10_000

// ConfigValues renders a merged config for a terminal, by file, entry and field. With
// places it adds the layer, the file and the line of each value.
func ConfigValues(values []config.Value, places bool, opts TextOptions) string {
	t := newTerminal(sections{p: plainPen{}}, opts)
	var file, id string
	for i := range values {
		v := &values[i]
		if i == 0 || v.File != file {
			if i > 0 {
				t.b.WriteByte('\n')
			}
			t.b.WriteString(t.style(string(t.p.code(v.File, maxPath)), styleBold) + "\n")
		}
		indent := "  "
		if v.ID != "" {
			if v.File != file || v.ID != id {
				t.b.WriteString("  " + string(t.p.code(v.ID, maxPath)) + "\n")
			}
			indent = "    "
		}
		file, id = v.File, v.ID
		if v.Pointer != "/id" {
			t.b.WriteString(indent + string(t.configValue(v, places)) + "\n")
		}
	}
	return t.b.String()
}

func (t *terminal) configValue(v *config.Value, places bool) safe {
	out := struct{ Name, Value, From safe }{
		Name:  t.p.code(strings.TrimPrefix(v.Pointer, "/"), maxPath),
		Value: t.p.code(v.JSON, maxValue),
	}
	if places {
		at := v.Path
		if v.Line > 0 {
			at += fmt.Sprintf(":%d", v.Line)
		}
		place := say("config place", struct{ Layer, Place safe }{t.p.text(v.Layer, maxName), t.p.code(at, maxPath)})
		out.From = place
	}
	return say("config value", out)
}
