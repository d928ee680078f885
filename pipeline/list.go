package pipeline

import "encoding/json"

// List is a slice that is never null in JSON: an empty or nil List is written as []. Everything
// that reviewgate prints or stores relies on that.
type List[T any] []T

// MarshalJSON writes a nil List as [].
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]T(l))
}
