package localgit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/raw"
)

// largeTexts returns the contents that are texts above the size limit, and the total size
// of all contents. Git would take some 40 bytes of memory for each line of such a text:
// gigabytes if the file has nothing but line ends.
func (f *fetcher) largeTexts(ctx context.Context, blobs []string) (texts map[string]bool, total int64, err error) {
	var large []string
	err = f.local.streamFrom(ctx, objectLines(blobs), func(r io.Reader) error {
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			sha, text, _ := strings.Cut(lines.Text(), " ")
			size, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return fmt.Errorf("the content %.40s was not fetched", sha)
			}
			if total += size; size > f.most.text {
				large = append(large, sha)
			}
		}
		return lines.Err()
	}, "cat-file", "--batch-check=%(objectname) %(objectsize)")
	if err != nil {
		return nil, 0, err
	}
	texts = map[string]bool{}
	for _, sha := range large {
		begins := make([]byte, binaryProbe)
		err := f.local.stream(ctx, func(r io.Reader) error {
			n, err := io.ReadFull(r, begins)
			if begins = begins[:n]; err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
				return err
			}
			return errEnough
		}, "cat-file", "blob", sha)
		if err != nil {
			return nil, 0, err
		}
		if bytes.IndexByte(begins, 0) < 0 {
			texts[sha] = true
		}
	}
	return texts, total, nil
}

// reportLarge reports that the lines of files with such contents are not known. Git treats
// these files as binary.
func (f *fetcher) reportLarge(files *raw.Files, texts map[string]bool) {
	for i := range files.Files {
		file := &files.Files[i]
		before := file.PreviousPath
		if before == "" {
			before = file.Path
		}
		if !file.Binary || !texts[f.shas[0][before]] && !texts[f.shas[1][file.Path]] {
			continue
		}
		file.Binary = false
		files.Incomplete = append(files.Incomplete, pipeline.Incompleteness{
			What: "patch", Path: file.Path, Gating: true, Why: fmt.Sprintf("it is larger than %d MB", f.most.text>>20),
		})
	}
}
