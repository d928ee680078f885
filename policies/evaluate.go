package policies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/policies/expression"
	"github.com/reviewgate/reviewgate/policies/glob"
)

// Input is what triggers are evaluated against. Evaluate changes none of it.
type Input struct {
	Facts          *pipeline.PRFacts
	Classification *pipeline.Classification
}

// Outcome says whether a trigger holds and why. If it does not hold, Reason says what it lacks.
type Outcome struct {
	Matched bool
	// Unknown says that an expression could not be evaluated, so it is not known whether the
	// trigger holds. Reason says why. Matched is false then.
	Unknown bool
	Reason  string
	// Files are the files that made the trigger hold, sorted. Whole says that it holds for the
	// change as a whole, such as for its label or size.
	Files []string
	Whole bool
}

// Triggers are compiled triggers that are evaluated together, so that each path is matched against
// all their globs at once. They do not change after CompileTriggers, so any number of goroutines
// may use them.
type Triggers struct {
	list  []*trigger
	globs *glob.Set
}

// trigger is a trigger with its expression compiled.
type trigger struct {
	Trigger
	globs []int // the indexes of its globs among those of all triggers
	when  *expression.Expression
	parts []*trigger
	lacks string // the reason if nothing in the change has what the trigger asks for
}

// change is what triggers are evaluated against, with the files that each glob matches, by index.
type change struct {
	Input
	matched [][]int
	budget  *expression.Budget
}

// CompileTriggers validates and compiles triggers. The error is the first [Problem] of the first
// trigger with a problem, in a [TriggerError].
func CompileTriggers(list []Trigger) (*Triggers, error) {
	c := &compiler{known: map[string]int{}}
	ts := &Triggers{}
	for i, t := range list {
		if problems := ValidateTrigger(t); len(problems) > 0 {
			return nil, &TriggerError{i, problems[0]}
		}
		compiled, err := c.compile(t)
		if err != nil {
			return nil, &TriggerError{i, err}
		}
		ts.list = append(ts.list, compiled)
	}
	var err error
	if ts.globs, err = glob.Compile(c.globs); err != nil {
		return nil, fmt.Errorf("compile triggers: %w", err)
	}
	return ts, nil
}

// TriggerError says which trigger of a list does not compile, by its index.
type TriggerError struct {
	Index int
	Err   error
}

func (e *TriggerError) Error() string { return "compile trigger: " + e.Err.Error() }

// Unwrap returns the trigger's problem.
func (e *TriggerError) Unwrap() error { return e.Err }

// compiler collects the globs of triggers.
type compiler struct {
	globs []string
	known map[string]int
}

func (c *compiler) compile(t Trigger) (*trigger, error) {
	out := &trigger{Trigger: t, lacks: lacks(t)}
	for _, g := range t.Globs {
		i, ok := c.known[g]
		if !ok {
			i = len(c.globs)
			c.known[g], c.globs = i, append(c.globs, g)
		}
		out.globs = append(out.globs, i)
	}
	if t.Type == TriggerExpression {
		var err error
		if out.when, err = expression.Compile(t.When); err != nil {
			return nil, err
		}
	}
	for _, sub := range t.Triggers {
		part, err := c.compile(sub)
		if err != nil {
			return nil, err
		}
		out.parts = append(out.parts, part)
	}
	if t.Type == TriggerAny {
		out.lacks = lacksAny(out.parts)
	}
	return out, nil
}

// lacks returns the reason that does not depend on the change. It is made once, because a config
// may have a thousand policies, of which hardly any holds.
func lacks(t Trigger) string {
	switch t.Type {
	case TriggerDomain:
		return "no file is " + or(t.Domains)
	case TriggerService:
		return "no file belongs to the service " + or(t.Services)
	case TriggerPath:
		return "no file matches " + or(t.Globs)
	case TriggerLabel:
		return "no label is " + or(t.Labels)
	}
	return ""
}

// lacksAny returns this reason for a trigger with parts, if each part has such a reason and can
// have no other.
func lacksAny(parts []*trigger) string {
	var reasons []string
	for _, p := range parts {
		if p.lacks == "" || p.Match == "all" {
			return ""
		}
		reasons = append(reasons, p.lacks)
	}
	return strings.Join(reasons, ", ")
}

// Evaluate says for each trigger, in their order, whether it holds for a change.
func (ts *Triggers) Evaluate(in Input) []Outcome {
	ch := change{in, ts.match(in.Facts.Files), expression.NewBudget()}
	out := make([]Outcome, len(ts.list))
	for i, t := range ts.list {
		out[i] = t.evaluate(ch)
	}
	return out
}

func (ts *Triggers) match(files pipeline.List[pipeline.File]) [][]int {
	matched := make([][]int, ts.globs.Len())
	for i := range files {
		for _, g := range ts.globs.Match(files[i].Path) {
			matched[g] = append(matched[g], i)
		}
	}
	return matched
}

func (t *trigger) evaluate(in change) Outcome {
	switch t.Type {
	case TriggerAlways:
		return holds("every change")
	case TriggerDomain:
		return domain(t, in)
	case TriggerRisk:
		return risk(t, in)
	case TriggerChange:
		return oneOf("type is "+in.Classification.Type, in.Classification.Type, t.Types)
	case TriggerPath:
		return t.path(in)
	case TriggerLabel:
		return label(t, in)
	case TriggerAuthor:
		return author(t, in)
	case TriggerService:
		return service(t, in)
	case TriggerSize:
		return size(t, in)
	case TriggerExpression:
		return t.expression(in)
	case TriggerAny:
		return t.any(in)
	case TriggerAll:
		return t.all(in)
	case TriggerNot:
		return t.not(in)
	}
	return fails("trigger type " + string(t.Type) + " does not exist")
}

func holds(reason string) Outcome { return Outcome{Matched: true, Reason: reason, Whole: true} }

func fails(reason string) Outcome { return Outcome{Reason: reason} }

func unknown(reason string) Outcome { return Outcome{Unknown: true, Reason: reason} }

// byFiles returns the outcome for files that match. first explains the first of them. Files must be
// sorted.
func byFiles(files []string, first string) Outcome {
	reason := first
	switch n := len(files) - 1; {
	case n == 1:
		reason += ", and 1 more file"
	case n > 1:
		reason += fmt.Sprintf(", and %d more files", n)
	}
	return Outcome{Matched: true, Reason: reason, Files: files}
}

func domain(t *trigger, in change) Outcome {
	var files []string
	var first string
	for _, d := range in.Classification.Domains {
		if !slices.Contains(t.Domains, d.ID) || len(d.Files) == 0 {
			continue
		}
		if first == "" {
			first = fmt.Sprintf("%s is %s (%s)", d.Files[0].Path, d.ID, strings.Join(d.Files[0].Mappings, ", "))
		}
		for _, f := range d.Files {
			files = append(files, f.Path)
		}
	}
	if t.Match == "all" {
		for _, id := range t.Domains {
			if !in.Classification.HasDomain(id) {
				return fails("no file is " + id)
			}
		}
	}
	if len(files) == 0 {
		return fails(t.lacks)
	}
	return byFiles(union(files), first)
}

func service(t *trigger, in change) Outcome {
	var files []string
	var first string
	for _, s := range in.Classification.Services {
		if !slices.Contains(t.Services, s.ID) || len(s.Files) == 0 {
			continue
		}
		if first == "" {
			first = fmt.Sprintf("%s belongs to the service %s", s.Files[0], s.ID)
		}
		files = append(files, s.Files...)
	}
	if len(files) == 0 {
		return fails(t.lacks)
	}
	return byFiles(union(files), first)
}

func (t *trigger) path(in change) Outcome {
	var files []string
	first, by := len(in.Facts.Files), ""
	for k, g := range t.globs {
		for _, i := range in.matched[g] {
			files = append(files, in.Facts.Files[i].Path)
			if i < first {
				first, by = i, t.Globs[k]
			}
		}
	}
	if len(files) == 0 {
		return fails(t.lacks)
	}
	return byFiles(union(files), fmt.Sprintf("%s matches %s", in.Facts.Files[first].Path, by))
}

func risk(t *trigger, in change) Outcome {
	r := in.Classification.Risk
	is := fmt.Sprintf("risk is %s (%d of 100)", r.Level, r.Score)
	if r.Level.Rank() >= pipeline.RiskLevel(t.AtLeast).Rank() {
		return holds(is)
	}
	return fails(is + ", below " + t.AtLeast)
}

func size(t *trigger, in change) Outcome {
	s := in.Classification.Scope
	is := fmt.Sprintf("size is %s (changed lines: %d)", s.Size, s.ChangedLines)
	if s.Size.Rank() >= pipeline.Size(t.AtLeast).Rank() {
		return holds(is)
	}
	return fails(is + ", below " + t.AtLeast)
}

func label(t *trigger, in change) Outcome {
	for _, want := range t.Labels {
		for _, have := range in.Facts.Labels {
			// On GitHub, two labels differ by more than the case of their letters.
			if strings.EqualFold(want, have) {
				return holds("label is " + have)
			}
		}
	}
	return fails(t.lacks)
}

func author(t *trigger, in change) Outcome {
	a := in.Facts.Author
	var reasons []string
	if t.Bot != nil {
		is := "author is a person"
		if a.Type == "Bot" {
			is = "author is a bot"
		}
		if *t.Bot != (a.Type == "Bot") {
			return fails(is)
		}
		reasons = append(reasons, is)
	}
	if a.Association == "" && (t.FirstTime != nil || len(t.Associations) > 0) {
		return fails("the author's association with the repository is not known")
	}
	if t.FirstTime != nil {
		is := "author has contributed before"
		if FirstTime(a) {
			is = "author contributes for the first time"
		}
		if *t.FirstTime != FirstTime(a) {
			return fails(is)
		}
		reasons = append(reasons, is)
	}
	if len(t.Associations) > 0 {
		o := oneOf("author is "+a.Association, a.Association, t.Associations)
		if !o.Matched {
			return o
		}
		reasons = append(reasons, o.Reason)
	}
	return holds(strings.Join(reasons, ", "))
}

func (t *trigger) expression(in change) Outcome {
	held, err := t.when.Holds(expression.Input{Facts: in.Facts, Classification: in.Classification, Budget: in.budget})
	switch shown := excerpt(t.When); {
	case err != nil:
		return unknown(err.Error())
	case held:
		return holds(shown)
	default:
		return fails(shown + " does not hold")
	}
}

// any holds if one of its parts does. If another part is unknown, that part might have held for the
// whole change, so the trigger counts as holding for the whole change.
func (t *trigger) any(in change) Outcome {
	var out Outcome
	var nearest, open []string
	for _, p := range t.parts {
		o := p.evaluate(in)
		switch {
		case o.Unknown:
			open = append(open, o.Reason)
		case !o.Matched && t.lacks != "":
		case !o.Matched:
			nearest = append(nearest, o.Reason)
		default:
			if !out.Matched {
				out.Matched, out.Reason = true, o.Reason
			}
			out.Files = append(out.Files, o.Files...)
			out.Whole = out.Whole || o.Whole
		}
	}
	switch {
	case !out.Matched && len(open) > 0:
		return unknown(open[0])
	case !out.Matched && t.lacks != "":
		return fails(t.lacks)
	case !out.Matched:
		return fails(strings.Join(nearest, ", "))
	case len(open) > 0 && !out.Whole:
		out.Whole = true
		out.Reason += "; a part can't be evaluated: " + open[0] + ", so it counts as holding"
	}
	out.Files = union(out.Files)
	return out
}

// all holds if all its parts do, for the files of its parts together. A part that holds for the
// whole change adds no files to those that the others name. If one part fails, the trigger fails,
// even if others are unknown.
func (t *trigger) all(in change) Outcome {
	var files, reasons, open []string
	for _, p := range t.parts {
		o := p.evaluate(in)
		switch {
		case o.Unknown:
			open = append(open, o.Reason)
		case !o.Matched:
			return o
		}
		files = append(files, o.Files...)
		reasons = append(reasons, o.Reason)
	}
	if len(open) > 0 {
		return unknown(open[0])
	}
	return Outcome{
		Matched: true,
		Reason:  strings.Join(reasons, "; "),
		Files:   union(files),
		Whole:   len(files) == 0,
	}
}

func (t *trigger) not(in change) Outcome {
	o := t.parts[0].evaluate(in)
	switch {
	case o.Unknown:
		return o
	case o.Matched:
		return fails("ruled out: " + o.Reason)
	}
	return holds(o.Reason)
}

// ReadsLabels reports whether a change's labels can affect an outcome.
func (ts *Triggers) ReadsLabels() bool { return slices.ContainsFunc(ts.list, (*trigger).readsLabels) }

// ReadsType reports whether a change's type can affect an outcome.
func (ts *Triggers) ReadsType() bool { return slices.ContainsFunc(ts.list, (*trigger).readsType) }

func (t *trigger) readsLabels() bool {
	return t.Type == TriggerLabel || t.when != nil && t.when.ReadsLabels() || slices.ContainsFunc(t.parts, (*trigger).readsLabels)
}

func (t *trigger) readsType() bool {
	return t.Type == TriggerChange || t.when != nil && t.when.ReadsType() || slices.ContainsFunc(t.parts, (*trigger).readsType)
}

func oneOf(is, value string, allowed []string) Outcome {
	if slices.Contains(allowed, value) {
		return holds(is)
	}
	return fails(is + ", not " + or(allowed))
}

// or joins a few words with commas and "or", and shortens a long list. It shows the last word
// rather than "1 other", which takes no less space.
func or(words []string) string {
	const most = 4
	if len(words) > most+1 {
		return fmt.Sprintf("%s or %d others", strings.Join(words[:most], ", "), len(words)-most)
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// union sorts paths and removes duplicates.
func union(paths []string) []string {
	slices.Sort(paths)
	return slices.Compact(paths)
}

// excerpt returns the beginning of an expression, on one line.
func excerpt(when string) string { return plaintext.CutLine(when, 120) }
