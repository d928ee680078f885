package aggregate

import "github.com/reviewgate/reviewgate/pipeline"

// deduplicate merges findings with the same normalised title at the same
// place. It sorts and sweeps, so that 10,000 findings in one file cost
// n log n.
func (w *work) deduplicate() {
	type group struct{ title, path string }
	groups := map[group][]*item{}
	var order []group
	for _, f := range w.findings {
		g := group{f.title.norm, f.Path}
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], f)
	}
	var merged []*item
	for _, g := range order {
		for _, same := range places(groups[g]) {
			for _, agreeing := range apart(same) {
				merged = append(merged, merge(agreeing))
			}
		}
	}
	w.findings = merged
}

// apart splits findings at one place by what they recommend: those that would
// remove stand apart from those that would keep or add.
func apart(same []*item) [][]*item {
	var remove, other []*item
	opposed := false
	for _, f := range same {
		switch direction(f) {
		case pipeline.ActionRemove:
			remove = append(remove, f)
		case pipeline.ActionKeep, pipeline.ActionAdd:
			opposed = true
			other = append(other, f)
		default:
			other = append(other, f)
		}
	}
	if !opposed || len(remove) == 0 {
		return [][]*item{same}
	}
	return [][]*item{remove, other}
}
