package main

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
)

// endless never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '#'
	}
	return len(p), nil
}

// However much there is to read, no more is read than a report may have.
func TestAggregateReadsInBounds(t *testing.T) {
	for name, stdin := range map[string]io.Reader{
		"100 MB":  io.LimitReader(endless{}, 100<<20),
		"endless": endless{},
	} {
		var stdout, stderr bytes.Buffer
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		code := execute(t.Context(), []string{"aggregate", "-"}, stdin, &stdout, &stderr)
		runtime.ReadMemStats(&after)
		want := "reviewgate: standard input: it has more than 1048576 bytes, the limit of a review report; make it shorter"
		if code != exitUnusable || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), want) {
			t.Errorf("%s: exit code %d, %q, %q", name, code, stdout.String(), stderr.String())
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 200<<20 {
			t.Errorf("%s: it took %d MiB", name, used>>20)
		}
	}
}

// An aggregation that leaves no record is not made.
func TestAggregateWithoutARecord(t *testing.T) {
	var stdout bytes.Buffer
	code := execute(t.Context(), []string{"aggregate", "-"}, strings.NewReader("# Review\n"), &stdout, fullDisk{})
	if code != exitUnfinished || stdout.Len() > 0 {
		t.Errorf("exit code %d, %q", code, stdout.String())
	}
}

func TestAggregateTooManyReports(t *testing.T) {
	var stderr bytes.Buffer
	code := execute(t.Context(), append([]string{"aggregate"}, make([]string, maxReports+1)...), nil, io.Discard, &stderr)
	if code != exitUnusable || !strings.Contains(stderr.String(), "there are 101 review reports, more than the limit of 100") {
		t.Errorf("exit code %d, %s", code, stderr.String())
	}
}
