package render

import (
	"encoding/json"
	"fmt"
)

// JSON is the report itself, indented. Equal reports give equal bytes.
func JSON(v View) ([]byte, error) {
	b, err := json.MarshalIndent(v.Review.Report, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the report as JSON: %w", err)
	}
	return append(b, '\n'), nil
}
