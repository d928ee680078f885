package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reviewgate/reviewgate/app/agents/report"
	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/policies/glob"
	"github.com/reviewgate/reviewgate/policies/reviewreport"
)

// Server has the models of a server's config, and makes agents that ask them. The
// zero value has none. Any number of goroutines may use it.
type Server struct{ endpoints map[string]Endpoint }

// The variables that hold the keys where an endpoint names none.
const (
	keyAnthropic = "ANTHROPIC_API_KEY"
	keyOpenAI    = "OPENAI_API_KEY"
)

// KeyVariable is the environment variable that holds an endpoint's key.
func KeyVariable(e config.ModelEndpoint) string {
	if e.API == config.APIAnthropic {
		return cmp.Or(e.KeyEnv, keyAnthropic)
	}
	return cmp.Or(e.KeyEnv, keyOpenAI)
}

// Dial makes a model of an endpoint's settings and its key, which may be empty. It
// sends nothing.
type Dial func(e config.ModelEndpoint, key string) (llm.Model, error)

// Open makes the models of endpoints ready. Nothing is sent. The error names all
// that can't be used, without their keys. A vendor's own key is not sent to
// another's server: where an endpoint has a base_url, its key must be named.
func Open(endpoints []config.ModelEndpoint, dial Dial, getenv func(string) string) (*Server, error) {
	s := &Server{endpoints: map[string]Endpoint{}}
	if len(endpoints) > 0 && dial == nil {
		return nil, errors.New("model_endpoints: this program can't reach models")
	}
	var errs []error
	for _, e := range endpoints {
		key, where := "", "without a key"
		if e.BaseURL == "" || e.KeyEnv != "" {
			key, where = getenv(KeyVariable(e)), "key in "+KeyVariable(e)
		}
		if e.KeyEnv != "" && strings.TrimSpace(key) == "" {
			errs = append(errs, fmt.Errorf("model_endpoints: %s (%s): there is no key: set %s, or leave key_env out if the server needs none", e.Name, where, KeyVariable(e)))
			continue
		}
		m, err := dial(e, key)
		if err != nil && e.BaseURL == "" && strings.TrimSpace(key) == "" {
			err = fmt.Errorf("there is no key: set %s, or the base_url of a server that needs none", KeyVariable(e))
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("model_endpoints: %s (%s): %w", e.Name, where, err))
			continue
		}
		s.endpoints[e.Name] = Endpoint{Model: m, ModelEndpoint: e}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return s, nil
}

// Review is what an agent needs of one review besides the config. All but Redact may
// be nil.
type Review struct {
	Redact func(text string) string
	// RedactBeside is that of Options.
	RedactBeside func(text string) string
	Issues       func(context.Context, *pipeline.PRFacts) ([]Issue, error)
	Budget       Budget
	Used         func(pipeline.ModelUse)
	Failed       func(model string, err error)
	Answered     func(task dispatch.Task, answer pipeline.RawAnswer)
	Round        *Round // of the review
	Shares       bool   // see Options
	// Files and Reported are those of DocumentOptions.
	Files    report.Files
	Reported func(model string, r reviewreport.Report)
	// Manifest has the agents of the review, by which it is known what review reports are
	// judged in it; nil if none are.
	Manifest *pipeline.AgentManifest
}

// Agent makes an agent of kind llm by a config.
func (s *Server) Agent(agent config.Agent, cfg *config.Config, r Review) (dispatch.Agent, error) {
	o, err := s.options(agent, cfg, r)
	if err != nil {
		return nil, err
	}
	if by, ok := agent.Reviewer(); ok {
		reports, err := reportsOf(cfg, r.Manifest)
		if err != nil {
			return nil, err
		}
		return NewDocuments(DocumentOptions{
			Options: o, Reviewer: by, Thresholds: reviewreport.Thresholds(cfg.ThresholdsOf(agent.ID)), Reports: reports, Files: r.Files, Reported: r.Reported,
		}), nil
	}
	o.Stage, o.Rules, o.Issues = agent.StageOf(), Checklist(cfg, agent), r.Issues
	return New(o), nil
}

// reportsOf are the review reports that the agents of a manifest judge.
func reportsOf(cfg *config.Config, m *pipeline.AgentManifest) (out []Reports, err error) {
	for i := range cfg.Agents {
		a := &cfg.Agents[i]
		if a.Kind != config.KindReport || !a.Enabled || m == nil {
			continue
		}
		entry := m.Entry(a.ID)
		if entry == nil {
			continue
		}
		for _, phase := range []string{pipeline.PhaseSpec, pipeline.PhasePlan} {
			globs, err := glob.Compile(a.Reports.Globs(phase))
			if err != nil {
				return nil, fmt.Errorf("compile the globs of reports: %w", err)
			}
			out = append(out, Reports{Phase: phase, Globs: globs, Scope: entry.Scope})
		}
	}
	return out, nil
}

// Gaps makes what asks a model for gaps by a config.
func (s *Server) Gaps(cfg *config.Config, r Review) (*Gaps, error) {
	o, err := s.options(config.Agent{ID: pipeline.GapDetector, Kind: config.KindLLM}, cfg, r)
	if err != nil {
		return nil, err
	}
	return NewGaps(o), nil
}

// Verifier makes what asks a model whether findings are right, by a config.
func (s *Server) Verifier(cfg *config.Config, r Review) (*Verifier, error) {
	if r.Redact == nil {
		return nil, errNoRedact
	}
	return NewVerifier(Options{
		Models: s.endpoints, Redact: r.Redact, RedactBeside: r.RedactBeside, Issues: r.Issues, Round: r.Round,
		Tokens: cfg.Settings.ModelBudget.PerAgent, Budget: r.Budget, Used: r.Used, Failed: r.Failed, Answered: r.Answered,
	}), nil
}

// Comparer makes what asks a model which findings are about one thing, by a config.
func (s *Server) Comparer(cfg *config.Config, r Review) (*Comparer, error) {
	if r.Redact == nil {
		return nil, errNoRedact
	}
	return NewComparer(Options{
		Models: s.endpoints, Redact: r.Redact, RedactBeside: r.RedactBeside,
		Tokens: cfg.Settings.ModelBudget.PerAgent, Budget: r.Budget, Used: r.Used, Failed: r.Failed, Answered: r.Answered,
	}), nil
}

var errNoRedact = errors.New("nothing takes secrets out of what models are asked")

func (s *Server) options(agent config.Agent, cfg *config.Config, r Review) (Options, error) {
	if r.Redact == nil {
		return Options{}, errNoRedact
	}
	risk, err := NewRisk(cfg)
	if err != nil {
		return Options{}, err
	}
	prompt, ok := cfg.Prompt(&agent)
	if !ok {
		return Options{}, fmt.Errorf("%s has no prompt", agent.ID)
	}
	return Options{
		Prompt: prompt.Text, Models: s.endpoints, Redact: r.Redact, RedactBeside: r.RedactBeside,
		Tokens: cfg.Settings.ModelBudget.PerAgent, Budget: r.Budget, Risk: risk, Used: r.Used, Failed: r.Failed, Answered: r.Answered,
		Round: r.Round, Shares: r.Shares,
	}, nil
}
