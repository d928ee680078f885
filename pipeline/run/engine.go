package run

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/aggregate"
	"github.com/reviewgate/reviewgate/pipeline/classify"
	"github.com/reviewgate/reviewgate/pipeline/compose"
	"github.com/reviewgate/reviewgate/pipeline/dispatch"
	"github.com/reviewgate/reviewgate/pipeline/gapdetect"
	"github.com/reviewgate/reviewgate/pipeline/lru"
	"github.com/reviewgate/reviewgate/pipeline/rules"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// Engine is everything that is compiled once for a version of config. It does not change after
// Compile.
type Engine struct {
	config      *config.Config
	classify    *classify.Classifier
	compose     *compose.Composer
	gaps        *gapdetect.Detector
	rules       *rules.Engine
	floors      []*floor
	byID        map[string]*config.Rule
	ignored     *glob.Set         // what the settings ignore for any agent
	notes       map[string]string // by agent of kind rules: which rules of the layers do not run, and why
	readsLabels bool
	readsType   bool
}

// Compile compiles a config. Every config that Load returned compiles.
func Compile(cfg *config.Config) (*Engine, error) {
	e := &Engine{config: cfg, byID: aggregate.RulesByID(cfg), notes: idleNotes(cfg)}
	var err error
	if e.classify, err = classify.New(cfg); err != nil {
		return nil, fmt.Errorf("compile the domains: %w", err)
	}
	if e.compose, err = compose.New(cfg); err != nil {
		return nil, fmt.Errorf("compile the policies: %w", err)
	}
	if e.gaps, err = gapdetect.New(cfg); err != nil {
		return nil, fmt.Errorf("compile the gap signals: %w", err)
	}
	if e.rules, err = rules.Compile(cfg.Rules, config.HeldAgents(cfg)...); err != nil {
		return nil, fmt.Errorf("compile the rules: %w", err)
	}
	var ignored []string
	for i := range cfg.Settings.Ignore {
		ignored = append(ignored, cfg.Settings.Ignore[i].Paths...)
	}
	if e.ignored, err = glob.Compile(ignored); err != nil {
		return nil, fmt.Errorf("compile the paths that the settings ignore: %w", err)
	}
	for i := range cfg.Floors {
		f, err := compileFloor(&cfg.Floors[i])
		if err != nil {
			return nil, fmt.Errorf("compile the floor of the %s's layer: %w", cfg.Floors[i].Layer, err)
		}
		e.floors = append(e.floors, f)
	}
	e.readsLabels = e.compose.ReadsLabels() || e.rules.ReadsLabels()
	e.readsType = e.compose.ReadsType() || e.rules.ReadsType()
	for _, f := range e.floors {
		e.readsLabels = e.readsLabels || f.compose.ReadsLabels() || f.rules.ReadsLabels()
		e.readsType = e.readsType || f.compose.ReadsType() || f.rules.ReadsType()
	}
	return e, nil
}

// labelsRead returns which of a change's labels policies and rules read. Labels decide the type
// only if the title does not.
func (e *Engine) labelsRead(facts *pipeline.PRFacts) pipeline.LabelsRead {
	switch {
	case e.readsLabels:
		return pipeline.LabelsAll
	case e.readsType && !classify.TypedByTitle(facts.Title):
		return pipeline.LabelsOfTypes
	}
	return pipeline.LabelsNone
}

// Engines caches the most recently used compiled configs. Any number of Runners may share one.
type Engines struct {
	compiling singleflight.Group // by key
	// cache has them by the configs' keys: nobody can write a config that gets another's engine.
	cache *lru.Cache[[sha256.Size]byte, *Engine]
	most  int64 // bytes
}

// NewEngines returns an empty cache.
func NewEngines() *Engines { return NewEnginesWithin(maxEngines) }

// NewEnginesWithin returns an empty cache with another bound, in bytes, for work beside reviews.
func NewEnginesWithin(most int64) *Engines {
	return &Engines{cache: lru.New[[sha256.Size]byte, *Engine](most, most), most: most}
}

// EnginesWith returns a cache that has the engine of a config.
func EnginesWith(e *Engine) *Engines {
	c := NewEngines()
	c.add(e.config, e)
	return c
}

// Config returns the config that was compiled.
func (e *Engine) Config() *config.Config { return e.config }

// maxEngines bounds the compiled configs in the cache, in bytes: some twenty of the size of the
// defaults, or five of 5,000 rules. One config is cached whatever its size.
const maxEngines = 192 << 20

// The size of a compiled config, measured on the defaults (9 MB) and on 5,000 short rules (36 MB).
// Most of it depends on the text of expressions.
const (
	bytesPerConfig    = 1 << 20
	bytesPerCharacter = 100
	bytesPerEntry     = 1000
)

// sizeOf estimates the size of a compiled config, in bytes.
func sizeOf(cfg *config.Config) int64 {
	n := bytesPerConfig + bytesPerEntry*(len(cfg.Rules)+len(cfg.Policies))
	for i := range cfg.Rules {
		r := &cfg.Rules[i]
		n += bytesPerCharacter * len(r.When)
		if m := r.Match; m != nil {
			n += bytesPerCharacter * (len(m.Pattern) + len(m.NotPattern) + len(m.Literal) + len(m.Source) + len(m.NotInFile) + len(m.NotInChange))
			for _, b := range m.NotBefore {
				n += bytesPerCharacter * len(b.Pattern)
			}
		}
	}
	return int64(n)
}

// get compiles each config once, however many reviews ask for it at the same time. A slow one
// delays only those that need it.
func (c *Engines) get(cfg *config.Config) (*Engine, error) {
	if e, ok := c.cache.Get(cfg.Key); ok {
		return e, nil
	}
	e, err, _ := c.compiling.Do(string(cfg.Key[:]), func() (any, error) {
		if e, ok := c.cache.Get(cfg.Key); ok {
			return e, nil
		}
		e, err := Compile(cfg)
		if err != nil {
			return nil, err
		}
		c.add(cfg, e)
		return e, nil
	})
	if err != nil {
		return nil, err
	}
	return e.(*Engine), nil
}

func (c *Engines) add(cfg *config.Config, e *Engine) {
	c.cache.Add(cfg.Key, e, min(sizeOf(cfg), c.most))
}

func (c *Engines) forget() { c.cache.Clear() }

// LimitsOf returns the limits of a config's agents, by id.
func LimitsOf(cfg *config.Config) func(agent string) dispatch.Limits {
	limits := cfg.Settings.Limits
	own := map[string]config.Agent{}
	for _, a := range cfg.Agents {
		own[a.ID] = a
	}
	return func(id string) dispatch.Limits {
		l := dispatch.Limits{Timeout: time.Duration(limits.AgentTimeoutSeconds) * time.Second, Retries: limits.AgentRetries}
		if s := own[id].TimeoutSeconds; s > 0 {
			l.Timeout = time.Duration(s) * time.Second
		}
		if r := own[id].Retries; r != nil {
			l.Retries = *r
		}
		return l
	}
}

// dispatchOptions converts the settings for dispatch, and records the agents' timings.
func (t *timer) dispatchOptions(cfg *config.Config, facts *pipeline.PRFacts) dispatch.Options {
	var mu sync.Mutex
	return dispatch.Options{
		Exists:      t.options.exists(facts),
		Concurrency: cfg.Settings.Limits.AgentConcurrency,
		Limits:      LimitsOf(cfg),
		Observe: func(o dispatch.Observation) {
			mu.Lock()
			defer mu.Unlock()
			t.record.Agents = append(t.record.Agents, pipeline.AgentTiming{Agent: o.Agent, Model: o.Model, DurationMS: milliseconds(o.Duration), Attempts: o.Attempts})
			if o.Stack != nil && t.options.Panicked != nil {
				t.options.Panicked(o.Agent, o.Err, o.Stack)
			}
			if t.options.Progress != nil {
				t.options.Progress(o.Agent + " is done")
			}
		},
	}
}
