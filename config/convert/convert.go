// Package convert writes config files in another format: JSON, JSONC or YAML. Comments stay where both
// formats have them. The nodes of the YAML library stand between the formats.
package convert

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// The formats, which are also the extensions of files. A file of YAML may also be named .yml.
const (
	JSON  = "json"
	JSONC = "jsonc"
	YAML  = "yaml"
)

// Formats lists the formats.
func Formats() []string { return []string{YAML, JSONC, JSON} }

// Result is a converted file, with the comments that it lost, one line each.
type Result struct {
	File config.File
	Lost []string
}

// formatOf returns the format of a file by its name.
func formatOf(name string) string {
	switch path.Ext(name) {
	case ".yaml", ".yml":
		return YAML
	case ".jsonc":
		return JSONC
	}
	return JSON
}

// Needed reports whether a file is a config file that is not in a format yet.
func Needed(name, format string) bool {
	return config.FileOf(name) != "" && formatOf(name) != format
}

// File converts one of the five config files. The values of the result are those of the file, in the
// same order. If the file can't be read, the error joins what is wrong with it.
func File(f config.File, format string) (Result, error) {
	from, err := parse(f)
	if err != nil {
		return Result{}, err
	}
	doc, err := read(f)
	if err != nil {
		return Result{}, fmt.Errorf("read the comments of %s: %w", f.Path, err)
	}
	out := Result{File: config.File{Path: strings.TrimSuffix(f.Path, path.Ext(f.Path)) + "." + format}}
	switch format {
	case YAML:
		out.File.Text, err = writeYAML(doc)
	case JSONC:
		if out.File.Text = f.Text; formatOf(f.Path) == YAML {
			out.File.Text = writeJSON(doc, from, true)
		}
	default:
		out.File.Text = writeJSON(doc, from, false)
	}
	if err != nil {
		return Result{}, fmt.Errorf("write %s: %w", out.File.Path, err)
	}
	if crlf := []byte("\r\n"); bytes.Contains(f.Text, crlf) {
		out.File.Text = bytes.ReplaceAll(bytes.ReplaceAll(out.File.Text, crlf, []byte("\n")), []byte("\n"), crlf)
	}
	to, err := parse(out.File)
	if err != nil || !bytes.Equal(from.AppendJSON(nil), to.AppendJSON(nil)) {
		return Result{}, fmt.Errorf("%s can't be converted without changing it: convert it by hand", f.Path)
	}
	after, err := read(out.File)
	if err != nil {
		return Result{}, fmt.Errorf("read the comments of %s: %w", out.File.Path, err)
	}
	out.Lost = missing(comments(doc), comments(after))
	return out, nil
}

// parse reads a file with the bounds and checks of config.
func parse(f config.File) (*jsontree.Node, error) {
	root, problems := config.Parse(&jsontree.Document{Name: f.Path}, f)
	var wrong []error
	for _, p := range problems {
		wrong = append(wrong, errors.New(config.FormatProblem(config.ProblemOf(p))))
	}
	return root, errors.Join(wrong...)
}

// read reads a valid file with its comments.
func read(f config.File) (*yaml.Node, error) {
	if formatOf(f.Path) == YAML {
		doc := &yaml.Node{}
		return doc, yaml.Unmarshal(f.Text, doc)
	}
	return readJSONC(f.Text)
}

// comments lists the lines of all comments, without the marks that begin them.
func comments(n *yaml.Node) []string {
	lines := slices.Concat(linesOf(n.HeadComment), linesOf(n.LineComment), linesOf(n.FootComment))
	for _, c := range n.Content {
		lines = append(lines, comments(c)...)
	}
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

// linesOf returns the lines of a comment of YAML, without the marks.
func linesOf(comment string) []string {
	if comment == "" {
		return nil
	}
	lines := strings.Split(comment, "\n")
	for i, line := range lines {
		line = strings.TrimPrefix(strings.TrimSpace(line), "#")
		lines[i] = strings.TrimSpace(line)
	}
	return lines
}

// missing returns the lines that are not among others.
func missing(lines, others []string) []string {
	others = slices.Clone(others)
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		i := slices.Index(others, line)
		if i >= 0 {
			others = slices.Delete(others, i, i+1)
		}
		return i >= 0
	})
}
