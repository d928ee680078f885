package sdk

import (
	"strings"
	"testing"
)

// A text with too many values for the SDK's types is detected before the SDK parses it, in
// any place and in pieces of any size.
func TestValues(t *testing.T) {
	many := strings.Repeat("{},", maxValues)
	text := strings.Repeat(`{,[\"`, maxValues)
	for name, c := range map[string]struct {
		events bool
		text   string
		fits   bool
	}{
		"an answer":            {false, `{"choices":[{"message":{"content":"` + text + `"}}]}`, true},
		"lists":                {false, `{"choices":[` + many + `{}]}`, false},
		"on lines":             {false, "{\"choices\":[\n" + strings.ReplaceAll(many, ",", ",\n\n") + `{}]}`, false},
		"after a quote":        {false, "\"\\\n" + many, false},
		"after a backslash":    {false, `{"a\\":[` + many + `{}]}`, false},
		"an event":             {true, "data: {\"content\":[" + many + "{}]}\n\n", false},
		"an event on lines":    {true, "data: [\n" + strings.Repeat("data: {},\n", maxValues), false},
		"an event, misleading": {true, ": \"\\\ndata: [\r\r\n" + strings.Repeat("data: {},\n\r\r\n", maxValues), false},
		"events":               {true, strings.Repeat("event: a\ndata: {\"a\":[],\"b\":\"\\\"{{{\"}\n\n", maxValues), true},
		"events of Windows":    {true, strings.Repeat("data: {\"a\":[]}\r\n\r\n", maxValues), true},
	} {
		for pieces, size := range map[string]int{"at once": len(c.text), "by byte": 1, "by three": 3} {
			v, fits := values{events: c.events}, true
			for rest := c.text; rest != ""; rest = rest[min(size, len(rest)):] {
				fits = fits && v.add([]byte(rest[:min(size, len(rest))]))
			}
			if fits != c.fits {
				t.Errorf("%s, %s: the text fits: %v", name, pieces, fits)
			}
		}
	}
}
