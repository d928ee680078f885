package rules

import "strings"

// unkeyed adds the lines with expressions of a value whose key the hunk does not show. The
// value may be a script. Line i is not YAML, so it is part of such a value. The lines before
// it in the hunk belong to the same value, and so do the following lines that are indented at
// least as deep.
func (y *yamlReader) unkeyed(i int) {
	column := blanks(y.text(i), 0)
	if i < y.hidden || column == 0 {
		return
	}
	to := y.deeper(i+1, column-1)
	var above parents
	for j := min(y.hidden, i); j < to; j++ {
		text := y.text(j)
		k, keyed := keyOf(text)
		if keyed {
			above.enter(&k, isItem(text[blanks(text, 0):]))
		}
		if blanks(text, 0) > 0 && !(keyed && dataKeys[k.parent]) && strings.Contains(text, "${{") {
			of := y.expression(y.trimmedLines(j, to))
			y.maybeComment("run: "+fold(of, every), y.old(of), -1, of)
		}
	}
	y.hidden = to
}

// trimmedLines are the lines from i to end in which an expression may continue.
func (y *yamlReader) trimmedLines(i, end int) (out []piece) {
	for j := i; j < end && j < i+maxStatementLines; j++ {
		out = append(out, piece{text: strings.TrimSpace(y.text(j)), at: j})
	}
	return out
}

// dataKeys are keys of mappings whose values are not scripts.
var dataKeys = map[string]bool{"env": true, "with": true, "inputs": true, "outputs": true, "secrets": true}

// parents are the keys above a line, as far as a hunk shows them.
type parents []yamlKey

// enter records a key and sets its parent. It also sets the key's mapping if the mapping has
// earlier keys and no item starts with this key.
func (p *parents) enter(k *yamlKey, item bool) {
	n := len(*p)
	for n > 0 && (*p)[n-1].column >= k.column {
		if n--; (*p)[n].column == k.column && !item {
			k.mapping = (*p)[n].mapping
		}
	}
	if n > 0 {
		k.parent = (*p)[n-1].name
	}
	*p = append((*p)[:n], *k)
}

// isStep reports whether a line seems to start a step, by its key.
func isStep(text string, k yamlKey) bool {
	return isItem(text[blanks(text, 0):]) && (k.name == "name" || k.name == "uses" || k.name == "run" || k.name == "id" || k.name == "if")
}

// unlikeYAML reports whether a line can't be YAML outside a string that spans several lines:
// a command, or a line of JSON.
func unlikeYAML(text string) bool {
	text = strings.TrimSpace(text)
	if _, ok := keyOf(text); ok {
		return endsLikeCode(text)
	}
	switch c := at(text, 0); {
	case text == "{", startsLikeCode(text):
		return true
	case c == 0, in("#?:{[}],&!*|>%@", c), isItem(text), strings.HasPrefix(text, "---"), strings.HasPrefix(text, "..."), strings.HasPrefix(text, "<<:"):
		return false
	}
	// A key may have several words or unusual characters.
	i := strings.Index(text+" ", ": ")
	return i < 0 || strings.ContainsAny(text[:i], "\"'`=;|&\\")
}

// startsLikeCode reports whether a line without a key starts like code or JSON.
func startsLikeCode(text string) bool {
	for _, start := range []string{"&&", "||", `{"`, "[ -", "[[ "} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	rest := strings.TrimLeft(text, "]}")
	return rest != text && in("\"')|;&>", at(rest, blanks(rest, 0)))
}

// endsLikeCode reports whether a line with a key ends like code or JSON.
func endsLikeCode(text string) bool {
	switch text[len(text)-1] {
	case ';', '\\':
		return true
	case ',':
		text = strings.TrimRight(text[:len(text)-1], " \t")
		return in("\"'", text[0]) || in("\"'`)", text[len(text)-1])
	}
	return false
}

// isCommand reports whether GitHub or an action runs the value of a key.
func isCommand(k yamlKey) bool {
	name := strings.ToLower(k.name)
	switch {
	case scriptKeys[name]:
		return true
	case name == "shell":
		return !dataKeys[k.parent]
	case k.parent == "with" && runInputs[name], k.parent == "runs" && (commandInputs[name] || hooks[name]):
		return true
	case k.parent != "with" && (k.parent != "" || k.column == 0 || k.name == strings.ToUpper(k.name)):
		return false
	}
	return commandInputs[name] || endsInCommand(k.name)
}

// commandInputs are inputs that actions run.
var commandInputs = map[string]bool{"args": true, "entrypoint": true, "exec": true}

// runInputs are names that only inputs which actions run have.
var runInputs = map[string]bool{"start": true, "bash": true, "pwsh": true, "eval": true, "custom-run": true}

// hooks are run by a container action before and after its entrypoint.
var hooks = map[string]bool{"pre-entrypoint": true, "post-entrypoint": true}

// endsInCommand reports whether a name ends in a word for a command.
func endsInCommand(name string) bool {
	lower := strings.ToLower(name)
	for _, word := range []string{"script", "scripts", "command", "commands", "cmd"} {
		if i := len(name) - len(word); strings.HasSuffix(lower, word) && (i == 0 || in("-_.", name[i-1]) || name[i] < 'a') {
			return true
		}
	}
	return false
}

// anchored is a value that has an anchor.
type anchored struct {
	scalar scalar
	of     []piece
}

// anchor adds a value with an anchor as a script that it may become part of. Variables count
// only if a script of the hunk refers to the anchor.
func (y *yamlReader) anchor(s *scalar, of []piece) {
	if k := s.key; k.parent == "env" || k.parent == "" && k.name != "" && k.name == strings.ToUpper(k.name) {
		y.anchors = append(y.anchors, anchored{*s, of})
		return
	}
	y.script(s, of)
}

// alias records the anchor that a script refers to.
func (y *yamlReader) alias(script []piece) {
	if len(script) == 0 || !strings.HasPrefix(script[0].text, "*") {
		return
	}
	if y.aliases == nil {
		y.aliases = map[string]bool{}
	}
	y.aliases[script[0].text[1:]] = true
}

// aliased adds the variables that scripts refer to.
func (y *yamlReader) aliased() {
	for _, a := range y.anchors {
		if y.aliases[a.scalar.key.anchor] {
			y.script(&a.scalar, a.of)
		}
	}
}

// anchorOf is the anchor among the tags and anchors at the start of a text.
func anchorOf(text string) string {
	for _, word := range strings.Fields(text[:untagged(text)]) {
		if word[0] == '&' {
			return word[1:]
		}
	}
	return ""
}
