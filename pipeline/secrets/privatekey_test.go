package secrets

import (
	"runtime"
	"strings"
	"testing"
)

// The lines of a key are read once, however many there are and however many keys they may belong
// to. Four times the text takes about four times the memory, and not 16 times. Each line that is
// read takes memory, so the memory measures the work independently of the machine's load.
func TestWorkOfKeys(t *testing.T) {
	d := detector(t)
	const size, times, most = 16 << 10, 4, 8
	for _, name := range []string{"lines of a key", "lines of PuTTY's key", "first lines in comments and lines"} {
		took := func(size int) uint64 {
			var text []string
			for n, i := 0, 0; n < size; i++ {
				text = append(text, nearMisses[name](i))
				n += len(text[i])
			}
			f := facts("a.txt", prefixed("+", strings.Split(strings.Join(text, "\n"), "\n"))...)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			d.Redact(&f)
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		took(size) // the first run allocates what later runs reuse
		if once, more := took(size), took(times*size); more > most*once {
			t.Errorf("%s: %d KB take %d KB of memory, and %d times as much takes %d KB", name, size>>10, once>>10, times, more>>10)
		}
	}
}

// A comment in one key's header, or the lines of another key before it, hide no key.
func TestKeysOfSharedLines(t *testing.T) {
	material := "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
	for name, lines := range map[string][]string{
		"short lines":           {"+-----BEGIN PRIVATE KEY-----", "+abcdefgh", "+abcdefgh", "+ABCDEFGH", "+12345678"},
		"a comment":             {"+Comment: -----BEGIN PRIVATE KEY-----", "+Comment: -----BEGIN PRIVATE KEY-----", "+" + material},
		"two last lines":        {"+" + material, "+-----END PRIVATE KEY-----", "+" + material, "+-----END PRIVATE KEY-----"},
		"material in last line": {"+" + material + " -----END PRIVATE KEY-----", "+abcdefgh", "+-----END PRIVATE KEY-----"},
	} {
		f := facts("a.txt", lines...)
		if len(detector(t).Redact(&f)) == 0 {
			t.Errorf("%s: no key is found", name)
		}
		for _, l := range f.Files[0].Hunks[0].Lines {
			if strings.Contains(l.Text, material) || strings.Contains(l.Text, "abcdefgh") {
				t.Errorf("%s: left %q", name, l.Text)
			}
		}
	}
}
