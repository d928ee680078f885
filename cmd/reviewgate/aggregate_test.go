package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// The command stops reading an endless input at the limit of a report, and makes no decision.
func TestAggregateReadsInBounds(t *testing.T) {
	var in endless
	var stdout, stderr bytes.Buffer
	code := execute(t.Context(), []string{"aggregate", "-"}, &in, &stdout, &stderr)
	want := "reviewgate: standard input: it has more than 1048576 bytes, the limit of a review report; make it shorter"
	if code != exitUnusable || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), want) {
		t.Errorf("exit code %d, %q, %q", code, stdout.String(), stderr.String())
	}
	if in.read > reviewreport.MaxBytes+1<<20 {
		t.Errorf("it read %d bytes", in.read)
	}
}

// If the audit record can't be written, there is no answer.
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
