package starter

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/reviewgate/reviewgate/config"
)

func repository(t *testing.T, dirs ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, d := range dirs {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func read(t *testing.T, root string) *config.Config {
	t.Helper()
	l, err := config.ReadDir(config.LayerRepository, filepath.Join(root, config.RepositoryDir))
	if err != nil {
		t.Fatal(err)
	}
	cfg, problems := config.Load(l)
	for _, p := range problems {
		t.Error(config.FormatProblem(p))
	}
	return cfg
}

// The starter is valid and changes only the mode and the services.
func TestStarterIsValid(t *testing.T) {
	root := repository(t, "services/cart", "services/Cart Old", "apps/cart", "apps/web-2", "src")
	written, err := Write(root)
	if err != nil || len(written) != 3 {
		t.Fatalf("wrote %v: %v", written, err)
	}
	cfg, defaults := read(t, root), read(t, repository(t, config.RepositoryDir))
	if cfg.Settings.Mode != config.ModeAdvisory || len(cfg.Rules) != len(defaults.Rules) {
		t.Errorf("mode %s, %d rules of %d", cfg.Settings.Mode, len(cfg.Rules), len(defaults.Rules))
	}
	var names []string
	for _, s := range cfg.Services {
		names = append(names, s.Service)
	}
	if len(names) != 2 || names[0] != "cart" || names[1] != "web-2" {
		t.Errorf("services %q", names)
	}
}

func TestNoServices(t *testing.T) {
	var many []string
	for i := range maxServices + 1 {
		many = append(many, "services/s"+strconv.Itoa(i))
	}
	for name, dirs := range map[string][]string{"none": nil, "too many": many} {
		root := repository(t, dirs...)
		if written, err := Write(root); err != nil || len(written) != 2 {
			t.Errorf("%s: wrote %v: %v", name, written, err)
		}
		read(t, root)
	}
}

// Existing files stay unchanged.
func TestNothingIsOverwritten(t *testing.T) {
	for _, name := range append(config.FileNames(), "prompt-own.md") {
		root := repository(t, config.RepositoryDir)
		own := filepath.Join(root, config.RepositoryDir, name)
		if err := os.Symlink("elsewhere", own); err != nil {
			t.Fatal(err)
		}
		if written, err := Write(root); !errors.Is(err, fs.ErrExist) || len(written) > 0 {
			t.Errorf("%s: wrote %v: %v", name, written, err)
		}
		entries, err := os.ReadDir(filepath.Join(root, config.RepositoryDir))
		if err != nil || len(entries) != 1 {
			t.Errorf("%s: %d files, %v", name, len(entries), err)
		}
	}
}

func TestStarterCannotWrite(t *testing.T) {
	root := repository(t)
	if err := os.WriteFile(filepath.Join(root, ".github"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(root); err == nil || errors.Is(err, fs.ErrExist) {
		t.Errorf("error %v", err)
	}
}
