package ghtest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// commit is one commit's metadata.
type commit struct {
	SHA, Tree         string
	Parents           []string
	Name, Email       string
	AuthoredAt        time.Time
	Committer, CEmail string
	CommittedAt       time.Time
	Message           string
}

const commitFormat = "%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B%x00%x01"

func parseCommits(out []byte) ([]commit, error) {
	var commits []commit
	for record := range strings.SplitSeq(string(out), "\x00\x01") {
		record = strings.TrimLeft(record, "\n")
		if record == "" {
			continue
		}
		f := strings.Split(record, "\x00")
		if len(f) != 10 {
			return nil, fmt.Errorf("read git log: %d fields instead of 10", len(f))
		}
		c := commit{SHA: f[0], Tree: f[1], Parents: strings.Fields(f[2]), Name: f[3], Email: f[4], Committer: f[6], CEmail: f[7], Message: strings.TrimRight(f[9], "\n")}
		var err1, err2 error
		c.AuthoredAt, err1 = time.Parse(time.RFC3339, f[5])
		c.CommittedAt, err2 = time.Parse(time.RFC3339, f[8])
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("read git log: %w", err)
		}
		commits = append(commits, c)
	}
	return commits, nil
}

// commit returns the commit of a full SHA, forgotten or not.
func (s *objectStore) commit(sha string) (commit, error) {
	return keep(s, commitQuestion(sha), func() (commit, error) {
		if !isSHA(sha) {
			return commit{}, fmt.Errorf("%q is not a commit SHA", sha)
		}
		if err := s.elsewhere(sha); err != nil {
			return commit{}, err
		}
		out, err := s.run("log", "-1", "--no-show-signature", "--format="+commitFormat, sha, "--")
		if err != nil {
			return commit{}, err
		}
		commits, err := parseCommits(out)
		if err != nil {
			return commit{}, err
		}
		if len(commits) != 1 || commits[0].SHA != sha {
			return commit{}, fmt.Errorf("%s is not a commit", sha)
		}
		return commits[0], nil
	})
}

// putCommit adds a commit, of which raw is git's form, and returns it with its SHA.
func (s *objectStore) putCommit(c commit, raw []byte) commit {
	c.SHA = s.put("commit", raw)
	s.answers.Store(commitQuestion(c.SHA), c)
	return c
}

// commitQuestion is the key of a commit among the answers.
func commitQuestion(sha string) string { return "commit " + sha }

// entry is one entry of a tree.
type entry struct {
	Mode, Type, SHA, Path string
	Size                  int // of a blob
}

// tree lists a tree or a commit's tree. recursive includes the trees below.
func (s *objectStore) tree(treeish string, recursive bool) ([]entry, error) {
	return keep(s, treeQuestion(treeish, recursive), func() ([]entry, error) {
		if o, there := s.get(treeish); there && (o.kind == "commit" || recursive) {
			return s.walk(treeish, o, recursive)
		}
		if err := s.elsewhere(treeish); err != nil && treeish != emptyTree {
			return nil, err
		}
		args := []string{"ls-tree", "-z", "-l"}
		if recursive {
			args = append(args, "-r", "-t")
		}
		out, err := s.run(append(args, treeish)...)
		if err != nil {
			return nil, err
		}
		return parseTree(out)
	})
}

// putTree adds a tree, of which raw is git's form, and returns its SHA.
func (s *objectStore) putTree(entries []entry, raw []byte) string {
	sha := s.put("tree", raw)
	s.answers.Store(treeQuestion(sha, false), entries)
	return sha
}

// treeQuestion is the key of the list of a tree among the answers.
func treeQuestion(treeish string, recursive bool) string {
	return fmt.Sprintf("tree %s %t", treeish, recursive)
}

// walk lists a tree that was put here, or the tree of a commit. It keeps git's order, in
// which a folder comes before its contents.
func (s *objectStore) walk(treeish string, o gitObject, recursive bool) ([]entry, error) {
	switch o.kind {
	case "commit":
		c, err := s.commit(treeish)
		if err != nil {
			return nil, err
		}
		return s.tree(c.Tree, recursive)
	case "blob":
		return nil, fmt.Errorf("%s is a file", treeish)
	}
	entries, err := s.tree(treeish, false)
	if err != nil {
		return nil, err
	}
	var all []entry
	for _, e := range entries {
		all = append(all, e)
		if e.Type != "tree" {
			continue
		}
		below, err := s.tree(e.SHA, true)
		if err != nil {
			return nil, err
		}
		for _, sub := range below {
			sub.Path = e.Path + "/" + sub.Path
			all = append(all, sub)
		}
	}
	return all, nil
}

// lookup returns the entry of a path in a commit. ok is false if the path does not exist.
func (s *objectStore) lookup(commitSHA, path string) (e entry, ok bool, err error) {
	c, err := s.commit(commitSHA)
	if err != nil {
		return entry{}, false, err
	}
	e = entry{Type: "tree", SHA: c.Tree}
	for name := range strings.SplitSeq(path, "/") {
		if e.Type != "tree" {
			return entry{}, false, nil
		}
		entries, err := s.tree(e.SHA, false)
		if err != nil {
			return entry{}, false, err
		}
		n := slices.IndexFunc(entries, func(e entry) bool { return e.Path == name })
		if n < 0 {
			return entry{}, false, nil
		}
		e = entries[n]
	}
	e.Path = path
	return e, true, nil
}

func parseTree(out []byte) ([]entry, error) {
	var entries []entry
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if line == "" {
			continue
		}
		meta, path, ok := strings.Cut(line, "\t")
		f := strings.Fields(meta)
		if !ok || len(f) != 4 {
			return nil, fmt.Errorf("read git ls-tree: strange line %q", line)
		}
		e := entry{Mode: f[0], Type: f[1], SHA: f[2], Path: path}
		if f[3] != "-" {
			size, err := strconv.Atoi(f[3])
			if err != nil {
				return nil, fmt.Errorf("read git ls-tree: %w", err)
			}
			e.Size = size
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// blob returns a blob's bytes.
func (s *objectStore) blob(sha string) ([]byte, error) {
	if o, there := s.get(sha); there && o.kind == "blob" {
		return o.data, nil
	}
	return keep(s, "blob "+sha, func() ([]byte, error) {
		if !isSHA(sha) {
			return nil, fmt.Errorf("%q is not a blob SHA", sha)
		}
		if err := s.elsewhere(sha); err != nil {
			return nil, err
		}
		return s.run("cat-file", "blob", sha)
	})
}

// kind returns the type of the object with a full SHA.
func (s *objectStore) kind(sha string) (string, error) {
	if o, there := s.get(sha); there {
		return o.kind, nil
	}
	return keep(s, "kind "+sha, func() (string, error) {
		if !isSHA(sha) {
			return "", fmt.Errorf("%q is not a SHA", sha)
		}
		if err := s.elsewhere(sha); err != nil {
			return "", err
		}
		out, err := s.run("cat-file", "-t", sha)
		return strings.TrimSpace(string(out)), err
	})
}
