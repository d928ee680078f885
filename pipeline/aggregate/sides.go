package aggregate

import (
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
)

// direction is what a finding recommends: its action, else the leading verb of
// its recommendation.
func direction(f *item) pipeline.Action {
	if f.Action != pipeline.ActionNone && f.Action != "" {
		return f.Action
	}
	first, _, _ := strings.Cut(strings.TrimSpace(strings.ToLower(f.Recommendation)), " ")
	switch strings.Trim(first, ".,;:!\"'`") {
	case "remove", "delete", "drop", "cut":
		return pipeline.ActionRemove
	case "keep", "retain", "preserve":
		return pipeline.ActionKeep
	case "add", "introduce", "insert":
		return pipeline.ActionAdd
	}
	return pipeline.ActionNone
}
