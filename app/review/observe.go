package review

import (
	"errors"

	"github.com/reviewgate/reviewgate/app/access"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/app/retry"
)

func (s *Service) countGaveUp(cause error) {
	if s.Observe.GaveUp == nil {
		return
	}
	var final *retry.FinalError
	switch {
	case errors.As(cause, new(*access.RefusedError)):
		s.Observe.GaveUp("access")
	case errors.As(cause, &final):
		s.Observe.GaveUp(final.Why)
	case errors.As(cause, new(*ports.HostError)):
		s.Observe.GaveUp("github")
	default:
		s.Observe.GaveUp("internal")
	}
}
