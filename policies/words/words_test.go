package words

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestSignificant(t *testing.T) {
	for _, tt := range []struct {
		title string
		want  []string
	}{
		{"The caches of the users are not cleared!", []string{"cach", "user", "not", "cleared"}},
		{"Queries, queries and a query", []string{"query"}},
		{"What is it", nil},
		{"== !=", nil},
		{"Status of a class: always as is", []string{"status", "class", "alway"}},
	} {
		if got := Significant(Normalised(tt.title)); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.title, got, tt.want)
		}
	}
	if got := Distinct(Normalised("What is it? It is.")); !slices.Equal(got, []string{"what", "is", "it"}) {
		t.Errorf("%q", got)
	}
	var many []string
	for i := range 2 * MaxWords {
		many = append(many, fmt.Sprintf("w%dx", i))
	}
	if got := Significant(strings.Join(many, " ")); !slices.Equal(got, many[:MaxWords]) {
		t.Errorf("%d words count", len(got))
	}
}

func TestAlike(t *testing.T) {
	for _, tt := range []struct {
		common, a, b int
		want         bool
	}{{1, 2, 9, true}, {1, 3, 9, false}, {2, 9, 3, true}, {0, 0, 5, true}, {0, 1, 1, false}} {
		if got := Alike(tt.common, tt.a, tt.b); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}
