package normalize

import "testing"

func TestMovedIntoUse(t *testing.T) {
	for _, tt := range []struct {
		before, after string
		want          bool
	}{
		{"docs/notes.txt", "app/x.py", true},
		{"docs/notes.md", "app/x.py", true},
		{"logo.png", "x.py", true},
		{"a.js", "a.py", true},
		{"a.py", "a.js", true},
		{"a.txt", "bin/run", true},
		{"run.txt", "Dockerfile", true},
		{"notes/ci.yml", ".github/workflows/ci.yml", true},
		{"a.yml", "docker-compose.yml", true},
		{"a.json", "package.json", true},
		{"a.txt", "requirements.txt", true},
		{"deps.txt", "web/deps.txt", false},
		{"a.js", "a.ts", false},
		{"a.js", "b.tsx", false},
		{"a.h", "a.hpp", false},
		{"a.go", "x/b.go", false},
		{"x.go", "x.md", false},
		{"notes.txt", "notes.md", false},
		{"deploy/a.yaml", "deploy/prod/a.yaml", false},
		{"a.go", "a.go", false},
		{"", "a.py", false},
	} {
		if got := MovedIntoUse(tt.before, tt.after); got != tt.want {
			t.Errorf("%s to %s: %t, want %t", tt.before, tt.after, got, tt.want)
		}
	}
}
