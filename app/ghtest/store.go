package ghtest

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// objectStore holds the objects of a repository. Those that were put here are written to disk
// only before git runs, because most tests never run git. Git may have others.
type objectStore struct {
	ctx context.Context
	dir string

	disk  sync.Mutex // guards dir
	there bool       // whether dir holds anything

	mu        sync.Mutex
	bySHA     map[string]gitObject // objects that were put here
	unwritten []string             // those of them that are not in dir
	outside   bool                 // whether git may have other objects

	answers sync.Map // by question; they stay true, because objects never change
}

// gitObject is an object as git knows it.
type gitObject struct {
	kind string
	data []byte
}

// put adds an object and returns its SHA.
func (s *objectStore) put(kind string, data []byte) string {
	hash := sha1.New()
	fmt.Fprintf(hash, "%s %d\x00", kind, len(data))
	hash.Write(data)
	sha := hex.EncodeToString(hash.Sum(nil))
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.bySHA[sha]; !there {
		s.bySHA[sha] = gitObject{kind: kind, data: data}
		s.unwritten = append(s.unwritten, sha)
	}
	return sha
}

// get returns an object that was put here.
func (s *objectStore) get(sha string) (gitObject, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, there := s.bySHA[sha]
	return o, there
}

// elsewhere fails unless git may have an object that was not put here.
func (s *objectStore) elsewhere(sha string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.outside {
		return fmt.Errorf("there is no object %s", sha)
	}
	return nil
}

// lookOutside makes git look for objects that were not put here.
func (s *objectStore) lookOutside() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outside = true
}

// sync writes the objects that git has not seen yet.
func (s *objectStore) sync() error {
	s.disk.Lock()
	defer s.disk.Unlock()
	if !s.there {
		if err := initRepository(s.dir); err != nil {
			return fmt.Errorf("make the repository's directory: %w", err)
		}
		s.there = true
	}
	s.mu.Lock()
	objects := make(map[string]gitObject, len(s.unwritten))
	for _, sha := range s.unwritten {
		objects[sha] = s.bySHA[sha]
	}
	s.mu.Unlock()
	if len(objects) == 0 {
		return nil
	}
	if err := writePack(s.dir, objects); err != nil {
		return fmt.Errorf("write a pack of objects: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// Those that were put here meanwhile follow the written ones.
	s.unwritten = slices.Clone(s.unwritten[len(objects):])
	return nil
}

// run runs git with all objects that exist by now.
func (s *objectStore) run(args ...string) ([]byte, error) {
	if err := s.sync(); err != nil {
		return nil, err
	}
	cmd := gitCommand(s.ctx, append([]string{"--git-dir=" + s.dir, "-c", "core.quotePath=false"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return out, &gitError{args: args, code: exit.ExitCode(), stderr: stderr.String()}
	}
	if err != nil {
		return nil, fmt.Errorf("run git %s: %w", args[0], err)
	}
	return out, nil
}

// keep returns the known answer to a question, or finds and keeps it. Failures are not kept,
// because a missing object may be pushed later.
func keep[T any](s *objectStore, question string, find func() (T, error)) (T, error) {
	if known, ok := s.answers.Load(question); ok {
		return known.(T), nil
	}
	answer, err := find()
	if err == nil {
		s.answers.Store(question, answer)
	}
	return answer, err
}

// borrow makes the objects of another repository on this machine readable here, without
// copying them, and resolves revisions of it.
func (s *objectStore) borrow(dir string, revs ...string) ([]string, error) {
	there := func(args ...string) ([]byte, error) {
		cmd := gitCommand(s.ctx, append([]string{"-C", dir, "rev-parse"}, args...)...)
		return cmd.Output()
	}
	objects, err := there("--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return nil, fmt.Errorf("find the objects of %s: %w", dir, err)
	}
	shas := make([]string, len(revs))
	for i, rev := range revs {
		out, err := there("--verify", "--end-of-options", rev+"^{commit}")
		if err != nil {
			return nil, fmt.Errorf("resolve %s in %s: %w", rev, dir, err)
		}
		shas[i] = strings.TrimSpace(string(out))
	}
	if err := s.sync(); err != nil {
		return nil, err
	}
	s.lookOutside()
	s.disk.Lock()
	defer s.disk.Unlock()
	path := filepath.Join(s.dir, "objects", "info", "alternates")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("borrow the objects of %s: %w", dir, err)
	}
	_, err = f.Write(objects)
	return shas, errors.Join(err, f.Close())
}
