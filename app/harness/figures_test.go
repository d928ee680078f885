package harness

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// figures are the measurements of a trial, printed at its end.
type figures struct{ lines []string }

func (f *figures) add(name, format string, args ...any) {
	f.lines = append(f.lines, fmt.Sprintf("%-34s %s", name, fmt.Sprintf(format, args...)))
}

func (f *figures) print(t *testing.T) {
	t.Helper()
	t.Logf("figures:\n  %s", strings.Join(f.lines, "\n  "))
}

// spread summarises durations as their median, 99th percentile and maximum.
func spread(all []time.Duration) string {
	if len(all) == 0 {
		return "none"
	}
	return fmt.Sprintf("p50 %s, p99 %s, max %s (of %d)", short(percentile(all, 50)), short(percentile(all, 99)), short(slices.Max(all)), len(all))
}

func percentile(all []time.Duration, p int) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}

// short drops insignificant digits.
func short(d time.Duration) time.Duration {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond)
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond)
	}
	return d.Round(10 * time.Microsecond)
}

func mb(bytes int64) string {
	if bytes == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%d MB", bytes>>20)
}
