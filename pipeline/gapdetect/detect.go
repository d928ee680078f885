package gapdetect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
)

// Source is the source that the log names for gaps found by signals.
const Source = pipeline.GapSignals

// confidence is the confidence of a gap found by a signal. A pattern on one line knows nothing
// about the code around it.
const confidence = 0.6

const (
	maxPerConcern = 5       // log entries; scopes are widened for all files
	maxLine       = 8 << 10 // bytes of a line that are read; signals only add agents, while rules read the whole line
	maxQuote      = 200     // bytes
)

// Detector detects gaps with one config. It does not change after New, so any number of goroutines
// may use it.
type Detector struct {
	config  *config.Config
	agents  map[string]*config.Agent // the enabled agents
	signals []*signal
	filter  *prefilter
}

// New compiles the enabled signals of enabled agents.
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
		c.experts, c.policies = d.expertsOf(s)
		d.signals = append(d.signals, c)
	}
	d.filter = newPrefilter(d.signals)
	return d, nil
}

// Detect returns the amended manifest and the gaps, in the order of files and then of the config's
// signals. The error is that of ctx.
func (d *Detector) Detect(ctx context.Context, facts *pipeline.PRFacts, classification *pipeline.Classification, manifest pipeline.AgentManifest) (pipeline.AgentManifest, []pipeline.GapLogEntry, error) {
	r := run{
		Detector:     d,
		covered:      coveredBy(manifest),
		domains:      domainsOf(classification),
		filesShowing: map[string]int{},
		last:         map[string]int{},
		missed:       map[string][]string{},
		may:          make([]bool, len(d.signals)),
		open:         make([]bool, len(d.signals)),
	}
	for i := range facts.Files {
		if err := ctx.Err(); err != nil {
			return pipeline.AgentManifest{}, nil, err
		}
		r.file(&facts.Files[i])
	}
	r.countOthers()
	return d.amend(manifest, r.missed), r.log, nil
}

// run is the state of one detection.
type run struct {
	*Detector
	covered      map[string]scope
	domains      map[string][]string // by path
	filesShowing map[string]int      // by concern, the number of files that show it
	last         map[string]int      // by concern, the index of its last entry in the log
	missed       map[string][]string // by agent, the files that it should look at
	log          []pipeline.GapLogEntry

	may, open []bool // by signal: it may match the line, it may match the file
	read      reader // of the hunk
}

// scope is what an agent already looks at.
type scope struct {
	all      bool
	files    map[string]bool
	required bool
}

func (s scope) has(path string) bool { return s.all || s.files[path] }

func coveredBy(m pipeline.AgentManifest) map[string]scope {
	out := map[string]scope{}
	for _, e := range m.Entries {
		s := scope{all: e.Scope.All, files: map[string]bool{}, required: e.Required}
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

// file looks for the first line of each open concern in a file.
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

// openSignals marks the signals whose concern is not covered by the file's domains.
func (r *run) openSignals(f *pipeline.File) bool {
	found := false
	for i, s := range r.signals {
		r.open[i] = !slices.Contains(r.domains[f.Path], s.Domain) && s.looksAt(f)
		found = found || r.open[i]
	}
	return found
}

// line reads a line that exists after the change. An unchanged line only matters if it opens a
// comment.
func (r *run) line(l *pipeline.Line, hits []*pipeline.Line) {
	text := plaintext.Bytes(l.Text, maxLine)
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

// gap logs a concern in a file, and sends the agents there that do not look at it yet. If closing the
// gap would change nothing, there is no gap.
func (r *run) gap(s *signal, path string, l *pipeline.Line) {
	var lacking []expert // they do not look at the file, or are not required to
	var sent []string
	for _, e := range s.experts {
		c := r.covered[e.agent]
		if !c.has(path) {
			sent = append(sent, e.agent)
			r.missed[e.agent] = append(r.missed[e.agent], path)
		}
		if !c.has(path) || e.required && !c.required {
			lacking = append(lacking, e)
		}
	}
	if len(lacking) == 0 {
		return
	}
	if r.filesShowing[s.Concern]++; r.filesShowing[s.Concern] > maxPerConcern {
		return
	}
	entry := pipeline.GapLogEntry{
		Concern:    s.Concern,
		Name:       s.Title(),
		Path:       path,
		Line:       l.New,
		Quote:      plaintext.Bytes(strings.TrimSpace(l.Text), maxQuote),
		Source:     Source,
		Confidence: confidence,
	}
	if len(sent) > 0 {
		entry.Agent = sent[0]
		entry.Others = append(entry.Others, sent[1:]...)
	}
	entry.Missed, entry.Suggestion = r.suggest(s, path, lacking)
	r.last[s.Concern] = len(r.log)
	r.log = append(r.log, entry)
}

// suggest returns what the config lacks for a file, and the patch that adds it: a mapping, if policies
// that read the signal's domain send all lacking agents, and otherwise a policy that sends them.
func (d *Detector) suggest(s *signal, path string, lacking []expert) (missed string, patch pipeline.ConfigPatch) {
	if slices.ContainsFunc(lacking, func(e expert) bool { return !e.read }) {
		var agents []string
		for _, e := range lacking {
			agents = append(agents, e.agent)
		}
		policy := dispatching(agents, path, "signal")
		if slices.ContainsFunc(lacking, func(e expert) bool { return e.required }) {
			policy["dispatch"].(map[string]any)["required"] = true
		}
		return "no policy sends " + inWords(agents) + " to " + path,
			config.AppendPatch(d.config.FileName(config.FileComposition), d.config.CompositionForm, policy)
	}
	policies := "the policy " + s.policies[0] + " reads"
	if len(s.policies) > 1 {
		policies = "the policies " + inWords(s.policies) + " read"
	}
	return "no mapping puts " + path + " into " + s.Domain + ", which " + policies,
		config.AppendPatch(d.config.FileName(config.FileDomains), d.config.DomainsForm, mapping(s, path))
}

// inWords lists names as in a sentence.
func inWords(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// countOthers adds to a concern's last entry how many more files show it.
func (r *run) countOthers() {
	for concern, n := range r.filesShowing {
		e := &r.log[r.last[concern]]
		switch rest := n - maxPerConcern; {
		case rest == 1:
			e.Missed += ", and 1 more file shows the concern"
		case rest > 1:
			e.Missed += fmt.Sprintf(", and %d more files show the concern", rest)
		}
	}
}
