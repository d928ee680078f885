package localgit

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/normalize"
)

// maxConfigFile bounds a config file, in bytes. One byte more is read of a
// larger one, so that the loader sees that it is too large.
const maxConfigFile = 1 << 20

// Config returns the config in force. Problems of a layer at the base stand
// in it; those of a directory that the user named were Open's error.
func (s *Source) Config(context.Context) (normalize.ConfigRead, error) {
	return normalize.ConfigRead{Config: s.config}, nil
}

func (s *Source) loadConfig(ctx context.Context, dir string) (*config.Config, error) {
	if dir != "" {
		return loadDirectory(dir)
	}
	layer := config.Layer{Name: config.LayerRepository, Source: s.baseName + "@" + s.baseSHA}
	var err error
	if layer.Files, err = s.baseFiles(ctx); err != nil {
		return nil, fmt.Errorf("read %s at %s: %w", config.RepositoryDir, s.baseName, err)
	}
	if len(layer.Files) == 0 {
		c, _ := config.Load()
		return c, nil
	}
	c, _ := config.Load(layer)
	return c, nil
}

// baseFiles reads the config files as they are at the base. What is no file
// has no text, which the loader reports.
func (s *Source) baseFiles(ctx context.Context) ([]config.File, error) {
	out, err := s.git.output(ctx, "ls-tree", "-z", "--full-tree", s.baseSHA, config.RepositoryDir+"/")
	if err != nil {
		return nil, err
	}
	var files []config.File
	for _, entry := range splitNul(out) {
		meta, name, _ := strings.Cut(entry, "\t")
		fields := strings.Fields(meta) // mode, type, SHA
		if len(fields) != 3 || !slices.Contains(config.FileNames(), path.Base(name)) {
			continue
		}
		f := config.File{Path: name, BlobSHA: fields[2]}
		if fields[1] == "blob" {
			if f.Text, err = s.blob(ctx, f.BlobSHA); err != nil {
				return nil, err
			}
		}
		files = append(files, f)
	}
	return files, nil
}

func (s *Source) blob(ctx context.Context, sha string) (text []byte, err error) {
	err = s.git.stream(ctx, func(r io.Reader) error {
		var err error
		if text, err = io.ReadAll(io.LimitReader(r, maxConfigFile+1)); err == nil && len(text) > maxConfigFile {
			err = errEnough
		}
		return err
	}, "cat-file", "blob", sha)
	return text, err
}

// loadDirectory loads a directory that the user named. It must hold config,
// and what it holds must be right.
func loadDirectory(dir string) (*config.Config, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s is no directory that can be read: name one with config files", dir)
	}
	layer, err := config.ReadDir(config.LayerRepository, dir)
	if err != nil {
		return nil, err
	}
	if len(layer.Files) == 0 {
		return nil, fmt.Errorf("%s holds none of the config files %s", dir, strings.Join(config.FileNames(), ", "))
	}
	c, problems := config.Load(layer)
	if len(problems) == 0 {
		return c, nil
	}
	var lines []string
	for _, p := range problems {
		lines = append(lines, config.FormatProblem(p))
	}
	return nil, fmt.Errorf("the config in %s is not valid:\n%s", dir, strings.Join(lines, "\n"))
}
