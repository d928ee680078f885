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
	"github.com/reviewgate/reviewgate/pipeline/plaintext"
	"github.com/reviewgate/reviewgate/policies/models"
)

// agree puts findings about the same problem into one class, before any of them is
// merged or removed, and sets what that proves. Findings with one title at one place
// are about the same problem, whoever made them. A model's finding is also compared
// with other findings near it, since no two reviewers word a problem alike.
func (w *work) agree() {
	same := newSets(len(w.findings))
	for i, f := range w.findings {
		f.index = i
	}
	for _, group := range byTitle(w.findings) {
		for _, class := range places(group) {
			for _, f := range class[1:] {
				same.join(class[0].index, f.index)
			}
		}
	}
	joinSecrets(w.in, w.findings, same)
	some := false
	for _, f := range w.residuals {
		if f.Model != "" {
			f.proof.Models = 1
		}
	}
	for _, f := range w.findings {
		switch {
		case f.unraised:
			some = true // its proof comes from an earlier report
		case f.Model != "":
			f.proof.Models, some = 1, true
			if !f.remote { // the models' summary counts only what they claim
				f.claim = &claim{}
			}
		}
	}
	applyOpinions(w.in.Results, w.findings)
	if some {
		joinLikely(w.in.Results, w.findings, same)
	}
	for _, class := range same.split(w.findings) {
		for _, f := range class {
			f.class = class[0].index
		}
		if slices.ContainsFunc(class, func(f *item) bool { return f.Model != "" }) {
			prove(class)
		}
	}
	if some && w.in.Config.Settings.Models.Blocking == models.BlockingGrounded {
		ground(w.in, w.findings)
	}
}

// ruleKeyFile is the shipped rule about files with the names of private keys.
const ruleKeyFile = "sec-key-file-01"

// joinSecrets joins the findings of other agents about a secret that the agent for secrets found in
// the same line. They are about the value in the code, so their evidence has its placeholder. The
// surer finding leads: the rule of one provider, but not the generic one, which guesses. A finding
// about a whole file that by its name is a private key joins the one about the key in it.
func joinSecrets(in *input, findings []*item, same sets) {
	type place struct {
		path string
		line int
	}
	at := map[place]*item{}
	for _, f := range findings {
		if !in.secrets[f.Agent] || f.Path == "" || f.StartLine == 0 {
			continue
		}
		if p := (place{f.Path, f.StartLine}); at[p] == nil {
			at[p] = f
		}
		if whole := (place{f.Path, 0}); at[whole] == nil && f.RuleID == "secret-private-key" {
			at[whole] = f
		}
	}
	if len(at) == 0 {
		return
	}
	for _, f := range findings {
		secret := at[place{f.Path, f.StartLine}]
		if secret != nil && f.Model == "" && !in.secrets[f.Agent] && f.Category == secret.Category &&
			(f.RuleID == ruleKeyFile || slices.ContainsFunc(f.Evidence, func(text string) bool { return strings.Contains(text, pipeline.RedactionMark) })) {
			same.join(secret.index, f.index)
		}
	}
}

// joinLikely joins the classes of models' findings and findings that agree with them, the most
// similar first. Two findings in one answer are two problems to whoever gave it, so a class
// holds both only if they have one title. Several answers of one model count as one voice.
func joinLikely(results []pipeline.AgentResult, findings []*item, same sets) {
	answers := make([]map[answer]bool, len(same))
	for i, f := range findings {
		root := same.root(i)
		if answers[root] == nil {
			answers[root] = map[answer]bool{}
		}
		for _, n := range answersOf(results, f) {
			answers[root][n] = true
		}
	}
	for _, p := range pairs(results, findings) {
		if p.likeness < likely {
			continue
		}
		p.a.backedBy(p.b)
		p.b.backedBy(p.a)
		a, b := same.root(p.a.index), same.root(p.b.index)
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

// backedBy records that another finding agrees with f, whether or not they are merged:
// what else either is merged with does not weaken the proof.
func (f *item) backedBy(other *item) {
	if len(other.known) > 0 {
		f.voices = append(f.voices, other)
	}
	switch {
	case f.Model == "":
	case other.Model == "":
		f.proof.Others = true
	default:
		f.backedByModel(other.Model)
	}
}

// backedByModel records that another model agrees with f.
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

// answersOf returns the answers that a finding came in. An unraised finding came in none,
// and counts as different from everything that its maker raised this time.
func answersOf(results []pipeline.AgentResult, f *item) []answer {
	if !f.unraised {
		return []answer{{f.source(), f.answer}}
	}
	out := []answer{{f.source(), -1}}
	for i, r := range results {
		if (source{r.Agent, r.Model}) == f.source() {
			out = append(out, answer{f.source(), i})
		}
	}
	return out
}

// answer is one answer of an agent or model.
type answer struct {
	source
	n int // its index in the results
}

func overlap(a, b map[answer]bool) bool {
	for n := range a {
		if b[n] {
			return true
		}
	}
	return false
}

// likeness says how likely it is that two findings are about the same problem.
type likeness int

const (
	saysDifferent likeness = iota // a model says that they differ
	unlike                        // there is no sign that they are the same
	likely                        // their titles share words, or they have one category and quote one line
	saysSame                      // a model says that they are the same
	certain                       // they have one title, or break one rule
)

// pair is two findings near one another, from different answers. At least one is a model's.
type pair struct {
	a, b *item // in content order
	likeness
	common int // number of words that their titles share
}

// maxNear bounds the findings near a model's finding that are compared with it.
const maxNear = 128

// nearby is how many lines apart two findings may be. Models are not exact about lines.
const nearby = 3

// pairs returns the pairs of findings that may be about the same problem, the most similar
// first. Findings that recommend opposing actions are not a pair.
func pairs(results []pipeline.AgentResult, findings []*item) []pair {
	answers := compared(results)
	var out []pair
	add := func(a, b *item) {
		if a.source() == b.source() && (a.answer == b.answer || a.unraised || b.unraised) || a.sides.opposes(b.sides) {
			return
		}
		if a.index > b.index {
			a, b = b, a
		}
		p := pair{a: a, b: b, likeness: likenessOf(a, b, answers), common: a.title.common(b.title)}
		out = append(out, p)
	}
	in := map[area][]*item{}
	for _, f := range findings {
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
		return cmp.Or(cmp.Compare(y.likeness, x.likeness), cmp.Compare(y.common, x.common), cmp.Compare(x.a.index, y.a.index), cmp.Compare(x.b.index, y.b.index))
	})
	return slices.CompactFunc(out, func(x, y pair) bool { return x.a == y.a && x.b == y.b })
}

// nearIn calls found for each pair of findings in one file whose lines overlap or are
// nearby.
func nearIn(list []*item, found func(a, b *item)) {
	slices.SortStableFunc(list, func(a, b *item) int { return cmp.Compare(a.StartLine, b.StartLine) })
	reach := make([]int, len(list)) // the furthest line of the findings up to each index
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

func likenessOf(a, b *item, answers map[[2]string]bool) likeness {
	if a.title.norm == b.title.norm || a.RuleID != "" && a.RuleID == b.RuleID {
		return certain
	}
	if len(answers) > 0 {
		if same, asked := answers[keysOf(a, b)]; asked && same {
			return saysSame
		} else if asked {
			return saysDifferent
		}
	}
	if a.title.alike(b.title) || a.Category != "" && a.Category == b.Category && config.Specific(a.Category) && quotesOne(a, b) {
		return likely
	}
	return unlike
}

// minCommonQuote is the least length of a line that two findings quote, in bytes: every
// function has a brace and a return.
const minCommonQuote = 8

// quotesOne reports whether two findings quote the same line.
func quotesOne(a, b *item) bool {
	lines := map[string]bool{}
	for _, e := range a.Evidence {
		for l := range strings.Lines(e) {
			if l = plaintext.Line(l); len(l) >= minCommonQuote {
				lines[l] = true
			}
		}
	}
	for _, e := range b.Evidence {
		for l := range strings.Lines(e) {
			if lines[plaintext.Line(l)] {
				return true
			}
		}
	}
	return false
}

// compared returns what models answered about pairs, by the findings' keys.
func compared(results []pipeline.AgentResult) map[[2]string]bool {
	out := map[[2]string]bool{}
	for _, r := range results {
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

// key identifies a finding in comparisons, in the form in which its maker made it.
func (f *item) key() string {
	if f.keyCache == "" {
		text, err := json.Marshal([]any{f.Agent, f.Model, f.stage, f.original.Path, f.original.Section, f.original.StartLine, f.original.EndLine, f.original.Title, f.original.Message})
		if err != nil {
			panic(err) // strings and numbers can always be encoded
		}
		sum := sha256.Sum256(text)
		f.keyCache = hex.EncodeToString(sum[:12])
	}
	return f.keyCache
}

// Pair is two findings at one place. Their words alone don't decide whether they are about
// the same problem.
type Pair struct {
	One, Other       pipeline.Finding
	OneKey, OtherKey string // for pipeline.Comparison, in ascending order
}

// Undecided returns the pairs that a model should be asked about: at most most of the pairs
// for which ask returns true, the worst and most similar first. It uses the results so far,
// including comparisons.
func Undecided(in Input, most int, ask func(*Pair) bool) []Pair {
	w := newWork(in).through(untilAgreed[:])
	for i, f := range w.findings {
		f.index = i
	}
	if !slices.ContainsFunc(w.findings, func(f *item) bool { return f.Model != "" }) {
		return nil
	}
	asked := compared(w.in.Results)
	list := slices.DeleteFunc(pairs(w.in.Results, w.findings), func(p pair) bool {
		_, known := asked[keysOf(p.a, p.b)]
		return known || p.likeness == certain
	})
	slices.SortStableFunc(list, func(x, y pair) int { return cmp.Compare(y.rank(), x.rank()) })
	var out []Pair
	for _, p := range list {
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

// rank is the rank of the worse of the two findings.
func (p pair) rank() int { return max(p.a.Severity.Rank(), p.b.Severity.Rank()) }
