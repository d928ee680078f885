package sessions

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/inforce"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Keeper runs sessions. Send is needed only if there are receivers.
type Keeper struct {
	Sessions   ports.Sessions
	Targets    ports.Targets
	History    ports.History
	PullReader ports.PullReader
	Configs    *inforce.Configs
	// Send posts a signed request to a receiver. The request has the given id on each attempt.
	Send func(ctx context.Context, to config.Receiver, secret []byte, id string, body []byte) (Response, error)
	// Receiver returns the address of the remote reviewer with an agent's id, and the secret that the
	// reviewer shares with the server. The empty id is the receiver of escalations. ok is false if there
	// is no such receiver.
	Receiver func(agent string) (to config.Receiver, secret []byte, ok bool)
	// PublicURL is the server's URL as seen from outside, without a trailing slash.
	PublicURL string
	WebURL    string              // of GitHub
	Key       []byte              // of this server; makes the tokens of requests
	Redact    func(string) string // removes secrets
	Log       zerolog.Logger
	Now       func() time.Time
	// Join is how long an event waits for others to join its cycle. Default 5 s. Minute is the unit of
	// the settings about time; tests shorten it. Default 1 minute.
	Join, Minute time.Duration
}

// defaultJoin and defaultMinute are strings so that the linker's flag -X can set them: tests that kill the
// whole program are linked with shorter times.
var (
	defaultJoin   = "5s"
	defaultMinute = "1m"
)

// joinTime and minuteTime are the defaults of a Keeper's Join and Minute.
var joinTime, minuteTime = parsed(defaultJoin), parsed(defaultMinute)

func parsed(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err) // the linker set a wrong value
	}
	return d
}

// Response is a receiver's answer with a status from 200 to 299.
type Response struct {
	Status int
	Body   []byte
}

// ErrReviewer says that an event by repository_dispatch uses the name of a reviewer of sessions.
var ErrReviewer = errors.New("the agent's name is the name of a reviewer")

// ErrSecret says that an id or a name looks like a secret.
var ErrSecret = errors.New("the id or the agent's name looks like a secret")

// ErrSwitchedOff says that reviewgate is switched off in a repository.
var ErrSwitchedOff = errors.New("reviewgate is switched off in this repository")

// Speak stores an event about an open pull request. If the pull request is unknown, Speak first asks
// GitHub whether it exists. The errors are those of ports.Sessions, ErrSwitchedOff, ErrSecret and
// *ports.HostError.
func (k *Keeper) Speak(ctx context.Context, e ports.SessionEvent) (ports.Spoken, error) {
	state, err := k.Targets.Target(ctx, e.Target.Key())
	switch {
	case errors.Is(err, ports.ErrNotFound):
		if err := k.exists(ctx, e.Target); err != nil {
			return ports.Spoken{}, err
		}
	case err != nil:
		return ports.Spoken{}, fmt.Errorf("read the pull request's state: %w", err)
	default:
		e.Target = state.Target
	}
	cfg, err := k.Configs.Known(ctx, e.Target)
	if err != nil {
		return ports.Spoken{}, err
	}
	if cfg.Mode(e.Target.Owner+"/"+e.Target.Name) == config.ModeOff {
		return ports.Spoken{}, ErrSwitchedOff
	}
	if k.Redact(e.ID) != e.ID || k.Redact(e.Agent) != e.Agent {
		return ports.Spoken{}, ErrSecret
	}
	return k.Sessions.Speak(ctx, k.Presentable(e), k.SettingsOf(cfg))
}

// exists asks GitHub about a pull request that is not stored yet. It returns an error unless it is open.
func (k *Keeper) exists(ctx context.Context, t ports.Target) error {
	now, err := k.PullReader.Pull(ctx, t)
	var host *ports.HostError
	switch {
	case errors.As(err, &host) && host.Kind == ports.HostNotFound:
		return ports.ErrNotFound
	case err != nil:
		return err
	case now.Closed:
		return ports.ErrTargetClosed
	}
	return nil
}

// Presentable returns the event without the secrets in its texts.
func (k *Keeper) Presentable(e ports.SessionEvent) ports.SessionEvent {
	e.Summary = k.Redact(e.Summary)
	e.Files, e.FocusAreas = slices.Clone(e.Files), slices.Clone(e.FocusAreas)
	for _, list := range [][]string{e.Files, e.FocusAreas} {
		for i := range list {
			list[i] = k.Redact(list[i])
		}
	}
	return e
}

// SettingsOf returns a config's settings for events.
func (k *Keeper) SettingsOf(cfg *config.Config) ports.SessionSettings {
	s := &cfg.Settings.Sessions
	return ports.SessionSettings{Join: cmp.Or(k.Join, joinTime), Fallback: k.minutes(s.Fallback), FocusAreas: s.FocusAreas, MaxWords: s.MaxWords}
}

func (k *Keeper) minutes(n int) time.Duration {
	return time.Duration(n) * cmp.Or(k.Minute, minuteTime)
}

// Heard stores an event that came by repository_dispatch. Its sender chooses the agent's name, which must
// not be a reviewer's: that reviewer would then not be asked. Heard drops an event about a pull request
// that does not exist or is not reviewed. If too many events wait already, it tries again later.
func (k *Keeper) Heard(ctx context.Context, job ports.EventJob, attempt int) error {
	e := job.News.Event
	var spoken ports.Spoken
	cfg, err := k.Configs.Known(ctx, e.Target)
	if err == nil && slices.ContainsFunc(cfg.Agents, func(a config.Agent) bool { return a.Session && strings.EqualFold(a.ID, e.Agent) }) {
		err = ErrReviewer
	}
	if err == nil {
		spoken, err = k.Speak(ctx, e)
	}
	line := k.Log.Info()
	switch {
	case errors.Is(err, ports.ErrNotFound), errors.Is(err, ports.ErrTargetClosed), errors.Is(err, ErrSwitchedOff),
		errors.Is(err, ports.ErrOtherEvent), errors.Is(err, ErrReviewer), errors.Is(err, ErrSecret):
		line = k.Log.Warn().Err(err)
	case errors.Is(err, ports.ErrManyEvents):
		return &ports.RetryError{After: wait(attempt), Err: err}
	case err != nil:
		return err
	}
	line.EmbedObject(e.Target).Str("event", string(e.Kind)).Str("agent", k.Redact(e.Agent)).Int("cycle", spoken.Cycle).Msg("event of an agent")
	return nil
}

// Token returns the token for the answer to one request. It needs no storage, because only this
// server can make it.
func (k *Keeper) Token(id string) string {
	mac := hmac.New(sha256.New, k.Key)
	mac.Write([]byte("answer to " + id))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Run begins the cycles that are due, at least once a second, until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	tick := time.NewTicker(min(time.Second, cmp.Or(k.Join, joinTime)))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, err := k.Sessions.Fire(ctx); err != nil && ctx.Err() == nil {
			k.Log.Error().Err(err).Msg("cycles of sessions not begun")
		}
	}
}

// inSessions lists the remote reviewers of a manifest that are asked in a cycle. A target is not asked
// about its own work.
func inSessions(cfg *config.Config, m *pipeline.AgentManifest, c *pipeline.SessionCycle) []string {
	return remote(cfg, m, func(a *config.Agent) bool { return a.Session && !c.IsTarget(a.ID) })
}

// outsideSessions lists the remote reviewers of a manifest that are asked about each head.
func outsideSessions(cfg *config.Config, m *pipeline.AgentManifest) []string {
	return remote(cfg, m, func(a *config.Agent) bool { return !a.Session })
}

func remote(cfg *config.Config, m *pipeline.AgentManifest, which func(*config.Agent) bool) (ids []string) {
	for i := range cfg.Agents {
		if a := &cfg.Agents[i]; a.Kind == config.KindWebhook && a.Enabled && m.Entry(a.ID) != nil && which(a) {
			ids = append(ids, a.ID)
		}
	}
	return ids
}
