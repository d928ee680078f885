package rules

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"weak"

	"github.com/reviewgate/reviewgate/pipeline/internal/lazy"
	"github.com/reviewgate/reviewgate/pipeline/internal/literals"
	"github.com/reviewgate/reviewgate/policies/expression"
)

// parts hold what is slow to compile for a rule and takes much memory. They depend
// only on texts of the rule and never change, so engines share them.
type parts struct {
	when    *expression.Expression // or nil
	pattern *lazy.Regexp           // of a literal: the literal, quoted
	not     *lazy.Regexp           // or nil
	source  *lazy.Regexp           // or nil
	// What no shown line of the file, and none of the change, may match; or nil.
	notInFile, notInChange *lazy.Regexp

	quick func(string) bool
	// What a matching text must hold, as literals.Needs returns it.
	literals []literals.Literal
	guard    *literals.Guard
	nonASCII []rune // ranges of characters, one of which a matching text holds; set if there is no literal
}

// partsKey holds everything that parts depend on. A rule without a match has
// neither pattern nor literal.
type partsKey struct {
	when, pattern, literal, not, source string
	notInFile, notInChange              string
	lines                               bool // whether the texts are single lines
}

func (k partsKey) compile() (*parts, error) {
	p := &parts{}
	var err error
	if k.when != "" {
		if p.when, err = expression.Compile(k.when); err != nil {
			return nil, fmt.Errorf("when: %w", err)
		}
	}
	source := k.pattern
	switch {
	case k.literal != "":
		source = regexp.QuoteMeta(k.literal)
		p.quick = func(text string) bool { return strings.Contains(text, k.literal) }
	case k.pattern == "":
		return p, nil
	case k.lines:
		p.quick = fastMatcher(source)
	}
	if p.pattern, err = lazy.Compile(source); err != nil {
		return nil, fmt.Errorf("match.pattern: %w", err)
	}
	if p.quick == nil {
		p.quick = func(text string) bool { return p.pattern.Get().MatchString(text) }
	}
	for _, x := range []struct {
		field, pattern string
		to             **lazy.Regexp
	}{
		{"not_pattern", k.not, &p.not}, {"source", k.source, &p.source},
		{"not_in_file", k.notInFile, &p.notInFile}, {"not_in_change", k.notInChange, &p.notInChange},
	} {
		if x.pattern == "" {
			continue
		}
		if *x.to, err = lazy.Compile(x.pattern); err != nil {
			return nil, fmt.Errorf("match.%s: %w", x.field, err)
		}
	}
	need := literals.Needs(source)
	p.literals, p.guard = need.Literals, need.Guard
	if need.Literals == nil && k.lines {
		p.nonASCII = beyondASCII(source)
	}
	return p, nil
}

// compiled are the parts of all rules that any engine uses. Most configs change few
// of the shipped rules, so sharing cuts the time to compile a repository's config
// to a fifth. The parts are freed once no engine uses them.
var compiled = shared{m: map[partsKey]weak.Pointer[parts]{}}

type shared struct {
	mu sync.Mutex
	m  map[partsKey]weak.Pointer[parts]
}

func (s *shared) get(k partsKey) (*parts, error) {
	if p := s.find(k); p != nil {
		return p, nil
	}
	p, err := k.compile()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if other := s.m[k].Value(); other != nil {
		return other, nil // two callers compiled it at the same time
	}
	s.m[k] = weak.Make(p)
	runtime.AddCleanup(p, s.forget, k)
	return p, nil
}

func (s *shared) find(k partsKey) *parts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m[k].Value()
}

// forget removes parts that were freed, unless others have replaced them.
func (s *shared) forget(k partsKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w, ok := s.m[k]; ok && w.Value() == nil {
		delete(s.m, k)
	}
}
