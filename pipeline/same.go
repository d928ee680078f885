package pipeline

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Complete reports whether facts hold everything in a change that can differ. Unread parts and
// files without text might differ.
func (f *PRFacts) Complete() bool {
	return len(f.Incomplete) == 0 && !slices.ContainsFunc(f.Files, func(x File) bool { return x.Binary })
}

// SameChange reports whether two heads certainly make the same change: all text of both was read,
// and their lines and positions are equal. It returns false if either has a secret, because secrets
// can't be compared.
func SameChange(a, b *PRFacts) bool {
	return a.Complete() && b.Complete() && len(a.Redactions)+len(b.Redactions) == 0 &&
		slices.EqualFunc(a.Files, b.Files, func(x, y File) bool { return x.Path == y.Path && SameJSON(&x, &y) })
}

// SameJSON compares values in their stored form, in which a nil list equals an empty one.
func SameJSON(a, b any) bool {
	x, err := json.Marshal(a)
	if err != nil {
		return false
	}
	y, err := json.Marshal(b)
	return err == nil && bytes.Equal(x, y)
}
