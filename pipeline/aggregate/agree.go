package aggregate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/policies/models"
)

// agree puts findings that say the same into one class, before any of them is merged or
// taken out, and finds out what that proves. Findings with one title at one place say the
// same, whoever made them. What a model found is also compared with what others found
// near it, since no two word a thing alike.
func (w *work) agree() {
	same := newSets(len(w.findings))
	for i, f := range w.findings {
		f.at = i
	}
	for _, group := range grouped(w.findings, byTitle) {
		for _, class := range places(group) {
			for _, f := range class[1:] {
				same.join(class[0].at, f.at)
			}
		}
	}
	some := false
	for _, f := range w.residuals {
		if f.Model != "" {
			f.proof.Models = 1
		}
	}
	for _, f := range w.findings {
		switch {
		case f.standing:
			some = true // its proof is of old
		case f.Model != "":
			f.said, f.proof.Models, some = &said{}, 1, true
		}
	}
	w.heed()
	if some {
		w.join(same)
	}
	for _, class := range same.split(w.findings) {
		for _, f := range class {
			f.class = class[0].at
		}
		if slices.ContainsFunc(class, func(f *item) bool { return f.Model != "" }) {
			prove(class)
		}
	}
	if some && w.in.Config.Settings.Models.Blocking == models.BlockingGrounded {
		w.ground()
	}
}

// join joins the classes of findings that a model made and others agree with, the likest
// first. Two findings of one answer are two things to whoever gave it, so that no class gets
// both unless they have one title. What a model says in several answers is one voice.
func (w *work) join(same sets) {
	answers := make([]map[answer]bool, len(same))
	for i, f := range w.findings {
		root := same.root(i)
		if answers[root] == nil {
			answers[root] = map[answer]bool{}
		}
		for _, n := range w.answersOf(f) {
			answers[root][n] = true
		}
	}
	for _, p := range w.pairs() {
		if p.likeness < likely {
			continue
		}
		p.a.backedBy(p.b)
		p.b.backedBy(p.a)
		a, b := same.root(p.a.at), same.root(p.b.at)
		if a == b || overlap(answers[a], answers[b]) {
			continue
		}
		same.join(a, b)
		root := same.root(a)
		for _, of := range []int{a, b} {
			for n := range answers[of] {
				answers[root][n] = true
			}
		}
	}
}

// backedBy notes that another finding agrees with one, whether or not they become one: what
// else there is to merge either with takes nothing from its proof.
func (f *item) backedBy(other *item) {
	switch {
	case f.Model == "":
	case other.Model == "":
		f.proof.Others = true
	default:
		f.backedByModel(other.Model)
	}
}

// backedByModel notes that a model agrees with a finding of another.
func (f *item) backedByModel(model string) {
	if model == f.Model {
		return
	}
	if f.backers == nil {
		f.backers = map[string]bool{f.Model: true}
	}
	f.backers[model] = true
	f.proof.Models = max(f.proof.Models, len(f.backers))
}

// answersOf are the answers that a finding came in. One that nobody raised again is in none,
// and differs from everything that its maker raised this time.
func (w *work) answersOf(f *item) []answer {
	if !f.standing {
		return []answer{{f.source(), f.answer}}
	}
	out := []answer{{f.source(), -1}}
	for i, r := range w.in.Results {
		if (source{r.Agent, r.Model}) == f.source() {
			out = append(out, answer{f.source(), i})
		}
	}
	return out
}

// answer is one of those that somebody gave.
type answer struct {
	source
	n int // its place among the results
}

func overlap(a, b map[answer]bool) bool {
	for n := range a {
		if b[n] {
			return true
		}
	}
	return false
}

// likeness is how much speaks for two findings being about one thing.
type likeness int

const (
	different likeness = iota // a model says so
	unlike                    // nothing speaks for it
	likely                    // they use the same words, or are of one kind and quote one line
	tellsSame                 // a model says so
	certain                   // they have one title, or break one rule
)

// pair are two findings near one another, of different answers, one of them a model's.
type pair struct {
	a, b *item // in the order of their content
	likeness
	common int // words of their titles
}

// maxNear bounds how many findings near a model's are compared with it.
const maxNear = 128

// nearby is how many lines two findings at one place may be apart, since a model is not
// exact about lines.
const nearby = 3

// pairs returns the pairs of findings that may be about one thing, the likest first. Those
// that recommend opposing actions are none, whatever else they have in common.
func (w *work) pairs() []pair {
	told := w.compared()
	var out []pair
	add := func(a, b *item) {
		if a.source() == b.source() && (a.answer == b.answer || a.standing || b.standing) || a.sides.opposes(b.sides) {
			return
		}
		if a.at > b.at {
			a, b = b, a
		}
		p := pair{a: a, b: b, likeness: w.likeness(a, b, told), common: a.title.common(b.title)}
		out = append(out, p)
	}
	in := map[area][]*item{}
	for _, f := range w.findings {
		for _, s := range appendSpots(nil, f) {
			in[s.in] = append(in[s.in], f)
		}
	}
	for at, list := range in {
		if !slices.ContainsFunc(list, func(f *item) bool { return f.Model != "" }) {
			continue
		}
		if at.kind == areaLines {
			nearIn(list, add)
			continue
		}
		for i, f := range list {
			for k := max(0, i-maxNear); k < i; k++ {
				if f.Model != "" || list[k].Model != "" {
					add(list[k], f)
				}
			}
		}
	}
	slices.SortFunc(out, func(x, y pair) int {
		return cmp.Or(cmp.Compare(y.likeness, x.likeness), cmp.Compare(y.common, x.common), cmp.Compare(x.a.at, y.a.at), cmp.Compare(x.b.at, y.b.at))
	})
	return slices.CompactFunc(out, func(x, y pair) bool { return x.a == y.a && x.b == y.b })
}

// nearIn calls found for the pairs of findings of one file whose lines overlap or are
// nearby.
func nearIn(list []*item, found func(a, b *item)) {
	slices.SortStableFunc(list, func(a, b *item) int { return cmp.Compare(a.StartLine, b.StartLine) })
	reach := make([]int, len(list)) // of those up to one
	end := 0
	for i, f := range list {
		end = max(end, f.EndLine)
		reach[i] = end
	}
	for i, f := range list {
		looked := 0
		for k := i - 1; k >= 0 && reach[k] >= f.StartLine-nearby && looked < maxNear; k-- {
			looked++
			if list[k].EndLine >= f.StartLine-nearby && (f.Model != "" || list[k].Model != "") {
				found(list[k], f)
			}
		}
	}
}

func (w *work) likeness(a, b *item, told map[[2]string]bool) likeness {
	if a.title.norm == b.title.norm || a.RuleID != "" && a.RuleID == b.RuleID {
		return certain
	}
	if len(told) > 0 {
		if same, asked := told[keysOf(a, b)]; asked && same {
			return tellsSame
		} else if asked {
			return different
		}
	}
	if a.title.alike(b.title) || a.Category != "" && a.Category == b.Category && config.Specific(a.Category) && quotesOne(a, b) {
		return likely
	}
	return unlike
}

// minCommonQuote is how long a line must be that two findings quote, in bytes: every
// function has a brace and a return.
const minCommonQuote = 8

// quotesOne reports whether two findings quote a common line.
func quotesOne(a, b *item) bool {
	lines := map[string]bool{}
	for _, e := range a.Evidence {
		for l := range strings.Lines(e) {
			if l = collapsed(l); len(l) >= minCommonQuote {
				lines[l] = true
			}
		}
	}
	for _, e := range b.Evidence {
		for l := range strings.Lines(e) {
			if lines[collapsed(l)] {
				return true
			}
		}
	}
	return false
}

// compared is what models said of pairs, by the findings' keys.
func (w *work) compared() map[[2]string]bool {
	out := map[[2]string]bool{}
	for _, r := range w.in.Results {
		if r.Agent != pipeline.Matcher || !done(r.Status) {
			continue
		}
		for _, c := range r.Comparisons {
			out[[2]string{c.One, c.Other}] = c.Same
		}
	}
	return out
}

func keysOf(a, b *item) [2]string {
	x, y := a.key(), b.key()
	if x > y {
		x, y = y, x
	}
	return [2]string{x, y}
}

// key tells a finding as its maker made it from others in comparisons.
func (f *item) key() string {
	if f.keyed == "" {
		text, err := json.Marshal([]any{f.Agent, f.Model, f.stage, f.as.Path, f.as.Section, f.as.StartLine, f.as.EndLine, f.as.Title, f.as.Message})
		if err != nil {
			panic(err) // texts and numbers can be written
		}
		sum := sha256.Sum256(text)
		f.keyed = hex.EncodeToString(sum[:12])
	}
	return f.keyed
}

// Pair are two findings at one place of which nobody can tell by their words alone whether
// they are about one thing.
type Pair struct {
	One, Other       pipeline.Finding
	OneKey, OtherKey string // for a pipeline.Comparison, in ascending order
}

// Undecided returns the pairs that a model should be asked about, the worst and likest
// first, at most so many of those that ask wants. It goes by the results so far, comparisons
// among them.
func Undecided(in Input, most int, ask func(*Pair) bool) []Pair {
	w := newWork(in)
	for _, step := range untilAgreed {
		step(w)
	}
	for i, f := range w.findings {
		f.at = i
	}
	if !slices.ContainsFunc(w.findings, func(f *item) bool { return f.Model != "" }) {
		return nil
	}
	asked := w.compared()
	pairs := slices.DeleteFunc(w.pairs(), func(p pair) bool {
		_, known := asked[keysOf(p.a, p.b)]
		return known || p.likeness == certain
	})
	slices.SortStableFunc(pairs, func(x, y pair) int { return cmp.Compare(y.rank(), x.rank()) })
	var out []Pair
	for _, p := range pairs {
		if len(out) == most {
			break
		}
		keys := keysOf(p.a, p.b)
		one, other := p.a, p.b
		if one.key() != keys[0] {
			one, other = other, one
		}
		if p := (Pair{one.Finding, other.Finding, keys[0], keys[1]}); ask(&p) {
			out = append(out, p)
		}
	}
	return out
}

// rank is that of the worse of two findings.
func (p pair) rank() int { return max(p.a.Severity.Rank(), p.b.Severity.Rank()) }
