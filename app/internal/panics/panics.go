// Package panics turns panics into errors, so that a panic in one review does not end the
// others.
package panics

import (
	"fmt"
	"runtime/debug"
)

// Error is a panic that Guard caught.
type Error struct {
	Value any
	Stack []byte
}

func (e *Error) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }

// Guard calls f. If f panics, the error is an *Error.
func Guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &Error{Value: v, Stack: debug.Stack()}
		}
	}()
	return f()
}
