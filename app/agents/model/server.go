package model

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

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

// Agent makes an agent of kind llm by a config.
func (s *Server) Agent(agent config.Agent, cfg *config.Config, n Needs) (dispatch.Agent, error) {
	o, err := s.prompted(agent, cfg, n)
	if err != nil {
		return nil, err
	}
	if by, ok := agent.Reviewer(); ok {
		reports, err := reportsOf(cfg, n.Manifest)
		if err != nil {
			return nil, err
		}
		return NewDocuments(DocumentOptions{
			Options: o, Reviewer: by, Thresholds: reviewreport.Thresholds(cfg.ThresholdsOf(agent.ID)), Reports: reports,
		}), nil
	}
	o.Stage, o.Rules = agent.StageOf(), Checklist(cfg, agent)
	o.ServiceRules = func(service string) []string { return cfg.ServiceRules(&agent, service) }
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
func (s *Server) Gaps(cfg *config.Config, n Needs) (*Gaps, error) {
	o, err := s.prompted(config.Agent{ID: pipeline.GapDetector, Kind: config.KindLLM}, cfg, n)
	if err != nil {
		return nil, err
	}
	return NewGaps(o), nil
}

// Verifier makes what asks a model whether findings are right, by a config.
func (s *Server) Verifier(cfg *config.Config, n Needs) (*Verifier, error) {
	o, err := s.options(cfg, n)
	if err != nil {
		return nil, err
	}
	return NewVerifier(o), nil
}

// Comparer makes what asks a model which findings are about one thing, by a config.
func (s *Server) Comparer(cfg *config.Config, n Needs) (*Comparer, error) {
	o, err := s.options(cfg, n)
	if err != nil {
		return nil, err
	}
	return NewComparer(o), nil
}

func (s *Server) options(cfg *config.Config, n Needs) (Options, error) {
	if n.Redact == nil {
		return Options{}, errors.New("nothing takes secrets out of what models are asked")
	}
	return Options{Needs: n, Models: s.endpoints, Tokens: cfg.Settings.ModelBudget.PerAgent}, nil
}

// prompted are the options of an agent that has a prompt in the config.
func (s *Server) prompted(agent config.Agent, cfg *config.Config, n Needs) (Options, error) {
	o, err := s.options(cfg, n)
	if err != nil {
		return o, err
	}
	prompt, ok := cfg.Prompt(&agent)
	if !ok {
		return o, fmt.Errorf("%s has no prompt", agent.ID)
	}
	o.Prompt = prompt.Text
	o.Risk, err = NewRisk(cfg)
	return o, err
}
