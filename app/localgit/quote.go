package localgit

import (
	"fmt"
	"strings"
)

// escapes are the letters that follow a backslash in a quoted path.
var escapes = map[byte]byte{
	'a': '\a', 'b': '\b', 't': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r', '"': '"', '\\': '\\',
}

// unquote reads a path that git printed. A path with unusual bytes is in double quotes
// and has C's escapes.
func unquote(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	bad := fmt.Errorf("git printed the path %.200q, which is not correctly quoted", s)
	if len(s) < 2 || !strings.HasSuffix(s, `"`) {
		return "", bad
	}
	in := s[1 : len(s)-1]
	var out strings.Builder
	for len(in) > 0 {
		c := in[0]
		in = in[1:]
		if c == '"' {
			return "", bad
		}
		if c != '\\' {
			out.WriteByte(c)
			continue
		}
		b, n := escape(in)
		if n == 0 {
			return "", bad
		}
		out.WriteByte(b)
		in = in[n:]
	}
	return out.String(), nil
}

// escape reads the text behind a backslash. It returns the byte that the escape stands
// for, and the escape's length. The length is 0 if the text is not an escape.
func escape(s string) (byte, int) {
	if s == "" {
		return 0, 0
	}
	if b, ok := escapes[s[0]]; ok {
		return b, 1
	}
	if len(s) < 3 || s[0] > '3' {
		return 0, 0
	}
	var b byte
	for i := range 3 {
		if s[i] < '0' || s[i] > '7' {
			return 0, 0
		}
		b = b<<3 | (s[i] - '0')
	}
	return b, 3
}
