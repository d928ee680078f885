package rules

import "strings"

// pairHalf is a name whose value has a key of its own, or such a value.
type pairHalf struct {
	key  string
	text string
	piece
}

// pair adds a name and its value, which have keys of their own in one mapping, as a key with
// its value. Kubernetes writes environment variables this way.
func (y *yamlReader) pair(k yamlKey, all []piece) {
	key := strings.ToLower(k.name)
	if k.mapping == 0 || key != "name" && key != "value" {
		return
	}
	half, ok := halfOf(key, all)
	if !ok {
		return
	}
	other, paired := y.halves[k.mapping]
	if !paired {
		if y.halves == nil {
			y.halves = map[int]pairHalf{}
		}
		y.halves[k.mapping] = half
		return
	}
	of := []piece{other.piece, half.piece}
	if other.at > half.at {
		of[0], of[1] = of[1], of[0]
	}
	switch {
	case other.key == key:
	case key == "value":
		y.row(other.text+": "+half.text, "", -1, of)
	default:
		y.row(half.text+": "+other.text, "", -1, of)
	}
}

// halfOf is the half of a pair under a key: a value on one line, or a name of one word.
func halfOf(key string, all []piece) (half pairHalf, ok bool) {
	for _, p := range all {
		switch {
		case p.text == "":
		case ok:
			return half, false
		default:
			half, ok = pairHalf{key, strings.TrimSpace(shortened(p.text[untagged(p.text):])), p}, true
		}
	}
	if key == "name" {
		half.text = strings.Trim(half.text, "\"'")
		ok = ok && isNames(half.text)
	}
	return half, ok
}
