package publish

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
)

// The people of the settings reach the comment, which mentions them when a blocker pauses a session.
func TestViewHasThePeopleOfSessions(t *testing.T) {
	cfg := &config.Config{Settings: config.Settings{Sessions: config.SessionSettings{People: []string{"mira", "acme/leads"}}}}
	v := View("https://github.example", ports.Target{Owner: "acme", Name: "shop"}, &ports.StoredReview{}, cfg, nil, nil)
	if diff := cmp.Diff(cfg.Settings.Sessions.People, v.People); diff != "" {
		t.Errorf("people (-want +got):\n%s", diff)
	}
}
