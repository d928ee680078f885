package learning_test

import (
	"math"
	"testing"

	"github.com/reviewgate/reviewgate/policies/learning"
)

// The values are of Newcombe, "Two-sided confidence intervals for the single proportion", Statistics
// in Medicine 17 (1998), table I, method 3.
func TestWilson(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		part, of  int
		low, high float64
	}{
		{81, 263, 0.2553, 0.3662},
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0, 0.1611},
		{1, 29, 0.0061, 0.1718},
		{29, 29, 0.8830, 1},
		{0, 0, 0, 1},
	} {
		low, high := learning.Wilson(tt.part, tt.of)
		if math.Abs(low-tt.low) > 0.00005 || math.Abs(high-tt.high) > 0.00005 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", tt.part, tt.of, low, high, tt.low, tt.high)
		}
	}
}
