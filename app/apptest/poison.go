package apptest

import (
	"context"
	"os"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// The agent of a server with Quarantine reacts to these words in a title. It ends its process
// like kill -9, or by using all memory. Tests do not limit the server's own memory, so there
// it kills the process in both cases, as a system without free memory does.
const (
	Kills      = "kills its process"
	EatsMemory = "eats memory"
)

// poison is that agent. It finds nothing.
type poison struct{ apart bool }

func (p poison) Review(_ context.Context, task dispatch.Task) (dispatch.Answer, error) {
	title := task.Facts.Title
	switch {
	case strings.Contains(title, EatsMemory) && p.apart && !raceDetector:
		var all [][]byte
		for {
			more := make([]byte, 16<<20)
			for i := range more {
				more[i] = 1
			}
			all = append(all, more)
			_ = all
		}
	case strings.Contains(title, Kills), strings.Contains(title, EatsMemory):
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			return dispatch.Answer{}, err
		}
		select {} // until it comes
	}
	return dispatch.Answer{}, nil
}
