package secrets

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"
)

func TestBytesInEveryEncoding(t *testing.T) {
	text := "first\nsecond\nkey = " + github + "\n"
	wide := func(order binary.AppendByteOrder, four bool) (out []byte) {
		for _, c := range utf16.Encode([]rune("\ufeff" + text)) {
			if four {
				out = order.AppendUint32(out, uint32(c))
			} else {
				out = order.AppendUint16(out, c)
			}
		}
		return out
	}
	for name, content := range map[string][]byte{
		"UTF-8": []byte(text), "Latin-1": append([]byte("\xe9\xff"), text...), "NUL after the end": append([]byte(text), 0),
		"UTF-16LE": wide(binary.LittleEndian, false), "UTF-16BE": wide(binary.BigEndian, false),
		"UTF-32LE": wide(binary.LittleEndian, true), "UTF-32BE": wide(binary.BigEndian, true),
	} {
		if got := detector(t).Bytes(content); len(got) != 1 || got[0].RuleID != "github-pat" || got[0].Line != 3 {
			t.Errorf("%s: hits %v, want the token in line 3", name, got)
		}
	}
}

func TestBytesAreBounded(t *testing.T) {
	if got := detector(t).Bytes([]byte(strings.Repeat("key = "+github+"\n", 3*maxBytesHits))); len(got) != maxBytesHits {
		t.Errorf("%d hits, want %d", len(got), maxBytesHits)
	}
}
