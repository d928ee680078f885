package spelling

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"severity", "agent", "Title", "titles"}
	for _, tt := range []struct {
		word  string
		slips int
		want  string
	}{
		{"serverity", 2, "severity"},
		{"agnet", 1, "agent"},
		{"tilte", 1, "Title"},
		{"titlez", 1, "Title"}, // the first of equals
		{"agent", 1, ""},       // the word itself is in the list
		{"TITLE", 1, "Title"},
		{"owner", 1, ""},
		{"sveritty", 1, ""},
		{strings.Repeat("a", 81), 80, ""},
	} {
		if got := Nearest(tt.word, names, tt.slips); got != tt.want {
			t.Errorf("Nearest(%q, %d slips) = %q, want %q", tt.word, tt.slips, got, tt.want)
		}
	}
	if got := Nearest("agnet", make([]string, 1001), 1); got != "" {
		t.Errorf("from a list that is too long: %q", got)
	}
}
