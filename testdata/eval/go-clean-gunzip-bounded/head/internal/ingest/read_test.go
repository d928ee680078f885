package ingest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/http/httptest"
	"testing"
)

func TestWhatUnpacksToTooMuchIsRefused(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(make([]byte, maxBody+1)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/events", &packed)
	r.Header.Set("Content-Encoding", "gzip")
	if _, err := read(httptest.NewRecorder(), r); !errors.Is(err, errTooLarge) {
		t.Errorf("error %v, want %v", err, errTooLarge)
	}
}
