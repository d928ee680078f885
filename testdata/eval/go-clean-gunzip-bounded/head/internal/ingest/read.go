package ingest

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
)

const maxBody = 1 << 20

var errTooLarge = errors.New("the body is larger than 1 MiB")

// read returns the body, unpacked where it came compressed.
func read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	var body io.Reader = http.MaxBytesReader(w, r.Body, maxBody)
	switch encoding := r.Header.Get("Content-Encoding"); encoding {
	case "":
	case "gzip":
		unpacked, err := gzip.NewReader(body)
		if err != nil {
			return nil, fmt.Errorf("unpack the body: %w", err)
		}
		defer unpacked.Close()
		body = unpacked
	default:
		return nil, fmt.Errorf("the content encoding %q is not taken", encoding)
	}
	text, err := io.ReadAll(io.LimitReader(body, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	if len(text) > maxBody {
		return nil, errTooLarge
	}
	return text, nil
}
