package store

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/reviewgate/reviewgate/policies/fixloop"
)

// encodeLoop returns the stored form of a fix loop's state: "" if the loop has not
// begun.
func encodeLoop(s fixloop.State) (string, error) {
	if reflect.ValueOf(s).IsZero() {
		return "", nil
	}
	text, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("encode the fix loop: %w", err)
	}
	return string(text), nil
}
