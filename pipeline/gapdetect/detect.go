package gapdetect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
)

// Source is what the log names as the source of gaps found by signals.
const Source = pipeline.GapSignals

// confidence of a gap found by a signal: a pattern on one line knows nothing
// of the code around it.
const confidence = 0.6

const (
	maxPerConcern = 5       // log entries; scopes are widened for all files
	maxLine       = 8 << 10 // bytes of a line that are looked at: signals only add agents, rules look at all of it
	maxQuote      = 200     // bytes
)

// Detector detects gaps by one config. It is never changed after New, so that
// any number of goroutines may use it.
type Detector struct {
	config  *config.Config
	agents  map[string]*config.Agent // that can be dispatched
	signals []*signal
	filter  *prefilter
}

// New compiles the signals that are switched on and whose agent is too.
func New(cfg *config.Config) (*Detector, error) {
	d := &Detector{config: cfg, agents: map[string]*config.Agent{}}
	for i := range cfg.Agents {
		if a := &cfg.Agents[i]; a.Enabled && !cfg.Absent(a) {
			d.agents[a.ID] = a
		}
	}
	for _, s := range cfg.Signals {
		if !s.Enabled || d.agents[s.Agent] == nil {
			continue
		}
		c, err := compileSignal(s)
		if err != nil {
			return nil, err
		}
		d.signals = append(d.signals, c)
	}
	d.filter = newPrefilter(d.signals)
	return d, nil
}

// Detect returns the manifest, amended, and the gaps in the order of files
// and, within a file, of the config's signals. The error is that of ctx.
func (d *Detector) Detect(ctx context.Context, facts *pipeline.PRFacts, classification *pipeline.Classification, manifest pipeline.AgentManifest) (pipeline.AgentManifest, []pipeline.GapLogEntry, error) {
	r := run{
		Detector: d,
		covered:  coveredBy(manifest),
		domains:  domainsOf(classification),
		form:     d.config.DomainsForm,
		found:    map[string]int{},
		last:     map[string]int{},
		missed:   map[string][]string{},
		may:      make([]bool, len(d.signals)),
		open:     make([]bool, len(d.signals)),
	}
	for i := range facts.Files {
		if err := ctx.Err(); err != nil {
			return pipeline.AgentManifest{}, nil, err
		}
		r.file(&facts.Files[i])
	}
	r.countTheRest()
	return d.amend(manifest, r.missed), r.log, nil
}

// run is the state of one detection.
type run struct {
	*Detector
	covered map[string]scope
	domains map[string][]string // by path
	form    string              // that the patched file has so far
	found   map[string]int      // by concern, the files that show it
	last    map[string]int      // by concern, the place in the log of its last entry
	missed  map[string][]string // by agent, the files it should look at
	log     []pipeline.GapLogEntry

	may, open []bool // by signal: can match the line, can match the file
	read      reader // of the hunk
}

// scope is what an agent looks at already.
type scope struct {
	all   bool
	files map[string]bool
}

func coveredBy(m pipeline.AgentManifest) map[string]scope {
	out := map[string]scope{}
	for _, e := range m.Entries {
		s := scope{all: e.Scope.All, files: map[string]bool{}}
		for _, f := range e.Scope.Files {
			s.files[f] = true
		}
		out[e.Agent] = s
	}
	return out
}

func domainsOf(c *pipeline.Classification) map[string][]string {
	out := map[string][]string{}
	for _, d := range c.Domains {
		for _, f := range d.Files {
			out[f.Path] = append(out[f.Path], d.ID)
		}
	}
	return out
}

// file looks for each open concern's first line in one file.
func (r *run) file(f *pipeline.File) {
	if f.GeneratedByPath || f.Vendored || f.Test || f.Documentation || !r.openSignals(f) {
		return
	}
	hits := make([]*pipeline.Line, len(r.signals))
	for i := range f.Hunks {
		r.read = reader{syntax: syntaxes[f.Language], kinds: r.read.kinds}
		for j := range f.Hunks[i].Lines {
			if l := &f.Hunks[i].Lines[j]; l.Op != pipeline.LineRemoved {
				r.line(l, hits)
			}
		}
	}
	seen := map[string]bool{}
	for i, l := range hits {
		if s := r.signals[i]; l != nil && !seen[s.Concern] {
			seen[s.Concern] = true
			r.gap(s, f.Path, l)
		}
	}
}

// openSignals marks the signals whose concern no domain of the file covers.
func (r *run) openSignals(f *pipeline.File) bool {
	found := false
	for i, s := range r.signals {
		r.open[i] = !slices.Contains(r.domains[f.Path], s.Domain) && s.looksAt(f)
		found = found || r.open[i]
	}
	return found
}

// line reads a line that is there after the change. Of one that was there
// before it only matters whether it opens a comment.
func (r *run) line(l *pipeline.Line, hits []*pipeline.Line) {
	text := cut(l.Text, maxLine)
	looks := l.Op == pipeline.LineAdded && r.filter.candidates(text, r.may)
	r.read.next(text, looks)
	if !looks {
		return
	}
	for i, s := range r.signals {
		if r.may[i] && r.open[i] && s.matches(text, r.read.kinds) {
			hits[i] = l
			r.open[i] = false
		}
	}
}

// gap logs a concern of a file, and sends the agent there unless it looks at
// the file anyway.
func (r *run) gap(s *signal, path string, l *pipeline.Line) {
	agent := s.Agent
	if c := r.covered[agent]; c.all || c.files[path] {
		agent = ""
	} else {
		r.missed[agent] = append(r.missed[agent], path)
	}
	if r.found[s.Concern]++; r.found[s.Concern] > maxPerConcern {
		return
	}
	missed := "no mapping puts " + path + " into " + s.Domain
	if r.form == config.FormNone {
		missed += "; the repository has no " + config.RepositoryDir + "/" + config.FileDomains + " yet, so create it"
	}
	r.last[s.Concern] = len(r.log)
	r.log = append(r.log, pipeline.GapLogEntry{
		Concern:    s.Concern,
		Name:       s.Title(),
		Path:       path,
		Line:       l.New,
		Quote:      cut(strings.TrimSpace(l.Text), maxQuote),
		Missed:     missed,
		Suggestion: suggestion(config.FileDomains, r.form, mapping(s, path)),
		Agent:      agent,
		Source:     Source,
		Confidence: confidence,
	})
	r.form = patched(r.form)
}

// countTheRest says in a concern's last entry how many more files show it.
func (r *run) countTheRest() {
	for concern, n := range r.found {
		e := &r.log[r.last[concern]]
		switch rest := n - maxPerConcern; {
		case rest == 1:
			e.Missed += ", and 1 more file shows the concern"
		case rest > 1:
			e.Missed += fmt.Sprintf(", and %d more files show the concern", rest)
		}
	}
}
