package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// audits holds the audit records of review reports until the review ends. Until then the
// terminal may show progress.
type audits struct {
	mu  sync.Mutex
	all []reviewreport.Audit
}

func (k *audits) add(a reviewreport.Audit) {
	a.Time = time.Now().UTC().Format(time.RFC3339)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, a)
}

// write writes each record as one line of JSON.
func (k *audits) write(w io.Writer) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, a := range k.all {
		line, err := render.AuditLine(&a)
		if err == nil {
			_, err = w.Write(line)
		}
		if err != nil {
			return fmt.Errorf("write the audit record: %w", err)
		}
	}
	return nil
}
