// Package lazy compiles regular expressions when they are used for the first time. The
// engines know about a thousand, which would take 20 MB; a literal that a text must hold
// keeps most of them from ever being needed.
package lazy

import (
	"regexp"
	"regexp/syntax"
	"sync"
)

// Regexp is a regular expression that compiles itself. Any number of goroutines may use it.
type Regexp struct {
	text     string
	compiled func() *regexp.Regexp
}

// Compile checks an expression. The error is that of regexp.Compile.
func Compile(text string) (*Regexp, error) {
	if _, err := syntax.Parse(text, syntax.Perl); err != nil {
		return nil, err
	}
	return MustCompile(text), nil
}

// MustCompile is Compile for an expression that is known to be valid: using another one
// panics.
func MustCompile(text string) *Regexp {
	return &Regexp{text, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// Get returns the compiled expression.
func (r *Regexp) Get() *regexp.Regexp { return r.compiled() }

// String returns the expression's source.
func (r *Regexp) String() string { return r.text }
