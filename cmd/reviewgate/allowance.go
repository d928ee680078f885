package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/reviewgate/reviewgate/config"
)

// ownSettings returns the path of the repository's settings file, relative to its root, and its text.
// A missing file has the name of JSON and no text. It follows no link, because a file behind a link
// would not be in the repository.
func ownSettings(root *os.Root) (name string, text []byte, err error) {
	name = config.RepositoryDir + "/" + config.FileSettings
	if there, err := ownPlace(root, config.RepositoryDir); err != nil || !there {
		return name, nil, err
	}
	dir, err := root.Open(config.RepositoryDir)
	if err != nil {
		return name, nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return name, nil, err
	}
	if i := slices.IndexFunc(names, func(n string) bool { return config.FileOf(n) == config.FileSettings }); i >= 0 {
		name = config.RepositoryDir + "/" + names[i]
	}
	if there, err := ownPlace(root, name); err != nil || !there {
		return name, nil, err
	}
	text, err = root.ReadFile(name)
	return name, text, err
}

// ownPlace reports whether a file or directory of the repository's config exists. It
// returns an error if one of the path's elements is a link, or is a file where a directory
// must be.
func ownPlace(root *os.Root, last string) (bool, error) {
	for _, name := range slices.Compact([]string{path.Dir(config.RepositoryDir), config.RepositoryDir, last}) {
		info, err := root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			return false, fmt.Errorf("%s is a symbolic link, and config is written only into the repository itself: replace the link by the file or directory", name)
		case !info.IsDir() && config.FileOf(name) == "":
			return false, fmt.Errorf("%s is a file, not a directory", name)
		}
	}
	return true, nil
}

func writeOwn(root *os.Root, name string, text []byte) error {
	if err := root.MkdirAll(config.RepositoryDir, 0o755); err != nil {
		return err
	}
	return root.WriteFile(name, text, 0o644)
}

// withAllowance adds an entry to the text of review-settings.json. It uses the indentation
// of the text and leaves everything else unchanged.
func withAllowance(text []byte, entry config.SecretAllowance) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	if !json.Valid(text) {
		return nil, errors.New("the file is not valid JSON: correct it first")
	}
	in, end := gjson.ParseBytes(text), len(text)
	key, value := `"secrets": `, any(map[string]any{"allow": []any{entry}})
	if secrets := gjson.GetBytes(text, "secrets"); secrets.Exists() {
		in, key, value = secrets, `"allow": `, []any{entry}
		if allow := gjson.GetBytes(text, "secrets.allow"); allow.Exists() {
			in, key, value = allow, "", entry
		}
		end = in.Index + len(in.Raw)
	}
	if key != "" && !in.IsObject() || key == "" && !in.IsArray() {
		return nil, errors.New(`the file and its "secrets" must be objects, and "allow" in "secrets" a list: correct it first`)
	}
	eol := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		eol = "\r\n"
	}
	end = bytes.LastIndexAny(text[:end], "]}")
	before := bytes.TrimRight(text[:end], " \t\r\n")
	outer := lineIndent(text, in.Index)
	inner := outer + indentUnit(text)
	raw, err := indented(value, inner, indentUnit(text))
	if err != nil {
		return nil, err
	}
	out := bytes.Clone(before)
	if last := before[len(before)-1]; last != '{' && last != '[' {
		out = append(out, ',')
	}
	out = append(out, strings.ReplaceAll("\n"+inner+key+raw+"\n"+outer, "\n", eol)...)
	out = append(out, text[end:]...)
	if !bytes.HasSuffix(out, []byte("\n")) {
		out = append(out, eol...)
	}
	return out, nil
}

func indented(value any, prefix, unit string) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, unit)
	err := enc.Encode(value)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// lineIndent returns the white space at the start of the line that holds an offset.
func lineIndent(text []byte, offset int) string {
	line := text[bytes.LastIndexByte(text[:offset], '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// indentUnit returns the indentation of the first indented line of a text.
func indentUnit(text []byte) string {
	for offset := range text {
		if text[offset] == '\n' {
			if unit := lineIndent(text, offset+1); unit != "" {
				return unit
			}
		}
	}
	return "  "
}
