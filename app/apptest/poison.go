package apptest

import (
	"context"
	"os"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline/dispatch"
)

// The words in a title at which the agent of a server with Quarantine ends the process
// that it runs in: as kill -9 does, or by taking all the memory there is. In the server
// itself, whose memory the tests do not limit, it kills the process for both, as a system
// out of memory does.
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
