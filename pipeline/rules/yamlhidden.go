package rules

import "strings"

// unkeyed keeps the lines with expressions of a value whose key the hunk does not show, as
// lines of a script, which it may be. The line at the place is no YAML, and so part of such a
// value: what stands before it in the hunk, and what follows and is not less deep, is part of
// the same.
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
		if blanks(text, 0) > 0 && !(keyed && given[k.parent]) && strings.Contains(text, "${{") {
			of := y.expression(y.trimmedLines(j, to))
			y.remark("run: "+fold(of, every), y.old(of), -1, of)
		}
	}
	y.hidden = to
}

// trimmedLines are the lines from a place on in which an expression may go on, and before
// another.
func (y *yamlReader) trimmedLines(i, end int) (out []piece) {
	for j := i; j < end && j < i+maxStatementLines; j++ {
		out = append(out, piece{text: strings.TrimSpace(y.text(j)), at: j})
	}
	return out
}

// given are the keys of mappings whose values are no scripts.
var given = map[string]bool{"env": true, "with": true, "inputs": true, "outputs": true, "secrets": true}

// parents are the keys that a line stands under, as far as a hunk shows them.
type parents []yamlKey

// enter finds the parent of a key, and its mapping if that has keys before and no item starts
// with this one, and notes the key.
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

// isStep reports whether a line starts a step, as far as its key says.
func isStep(text string, k yamlKey) bool {
	return isItem(text[blanks(text, 0):]) && (k.name == "name" || k.name == "uses" || k.name == "run" || k.name == "id" || k.name == "if")
}

// unlikeYAML reports whether a line can't stand in YAML outside a text that goes over several
// lines: a command, or a line of JSON.
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
	// A key may be of several words, or have unusual characters.
	i := strings.Index(text+" ", ": ")
	return i < 0 || strings.ContainsAny(text[:i], "\"'`=;|&\\")
}

// startsLikeCode reports whether a line without a key starts as lines of code and of JSON do.
func startsLikeCode(text string) bool {
	for _, start := range []string{"&&", "||", `{"`, "[ -", "[[ "} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	rest := strings.TrimLeft(text, "]}")
	return rest != text && in("\"')|;&>", at(rest, blanks(rest, 0)))
}

// endsLikeCode reports whether a line with a key ends as lines of code and of JSON do.
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

// isCommand reports whether GitHub, or an action, runs the value of a key.
func isCommand(k yamlKey) bool {
	name := strings.ToLower(k.name)
	switch {
	case scripts[name]:
		return true
	case name == "shell":
		return !given[k.parent]
	case k.parent == "with" && withs[name], k.parent == "runs" && (commands[name] || hooks[name]):
		return true
	case k.parent != "with" && (k.parent != "" || k.column == 0 || k.name == strings.ToUpper(k.name)):
		return false
	}
	return commands[name] || endsInCommand(k.name)
}

// commands are inputs of actions that run them.
var commands = map[string]bool{"args": true, "entrypoint": true, "exec": true}

// withs are names that only inputs which actions run have.
var withs = map[string]bool{"start": true, "bash": true, "pwsh": true, "eval": true, "custom-run": true}

// hooks are what an action of a container runs around it.
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

// anchor keeps a value with an anchor as a script that it may become part of. Variables do
// so only if a script of the hunk is their alias.
func (y *yamlReader) anchor(s *scalar, of []piece) {
	if k := s.key; k.parent == "env" || k.parent == "" && k.name != "" && k.name == strings.ToUpper(k.name) {
		y.anchors = append(y.anchors, anchored{*s, of})
		return
	}
	y.script(s, of)
}

// alias notes the anchor that a script is an alias of.
func (y *yamlReader) alias(script []piece) {
	if len(script) == 0 || !strings.HasPrefix(script[0].text, "*") {
		return
	}
	if y.aliases == nil {
		y.aliases = map[string]bool{}
	}
	y.aliases[script[0].text[1:]] = true
}

// aliased keeps the variables that are aliases of scripts.
func (y *yamlReader) aliased() {
	for _, a := range y.anchors {
		if y.aliases[a.scalar.key.anchor] {
			y.script(&a.scalar, a.of)
		}
	}
}

// anchorOf is the anchor in the tags and anchors at the start of a text.
func anchorOf(text string) string {
	for _, word := range strings.Fields(text[:untagged(text)]) {
		if word[0] == '&' {
			return word[1:]
		}
	}
	return ""
}
