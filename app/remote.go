package app

import (
	"context"
	"fmt"

	"github.com/reviewgate/reviewgate/app/outbound"
	"github.com/reviewgate/reviewgate/app/review"
	"github.com/reviewgate/reviewgate/app/sessions"
	"github.com/reviewgate/reviewgate/config"
)

// remote returns how to reach remote reviewers: their addresses come from the server's config, their
// secrets from the environment.
func (a *App) remote() (review.Remote, error) {
	cfg, problems := config.Load(a.settings.Config)
	if len(problems) > 0 {
		return review.Remote{}, fmt.Errorf("read the server's config: %s", config.FormatProblem(problems[0]))
	}
	receivers := map[string]config.Receiver{}
	for i := range cfg.Agents {
		if w := cfg.Agents[i].Webhook; w != nil {
			receivers[cfg.Agents[i].ID] = w.Receiver
		}
	}
	if w := cfg.Settings.EscalationWebhook; w != nil {
		receivers[""] = *w
	}
	client := outbound.New(outbound.Options{Version: a.options.Version})
	return review.Remote{
		Send: func(ctx context.Context, to config.Receiver, secret []byte, id string, body []byte) (sessions.Response, error) {
			r, err := client.Post(ctx, to, secret, id, body)
			return sessions.Response{Status: r.Status, Body: r.Body}, err
		},
		Receiver: func(agent string) (to config.Receiver, secret []byte, ok bool) {
			to, ok = receivers[agent]
			text := a.settings.ReviewerSecrets[agent]
			return to, []byte(text), ok && text != ""
		},
		PublicURL: a.settings.PublicURL, Key: a.derived("tokens of requests"), Join: a.options.SessionJoin, Minute: a.options.SessionMinute,
	}, nil
}
