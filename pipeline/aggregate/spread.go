package aggregate

// spread extends a merged finding to the adjacent lines on which its own agent found the same. A
// rule that flags three lines in a row has one finding about three lines, not one about the first.
// A suggested fix replaces exactly the finding's lines, so the fixes are joined. If they don't join
// without gaps, the finding keeps its own lines and fix. same is in document order.
func spread(f *item, same []*item) {
	run := adjoining(f, same)
	if len(run) < 2 {
		return
	}
	fix, end := run[0].SuggestedFix, run[0].EndLine
	for _, next := range run[1:] {
		switch {
		case f.SuggestedFix == "":
			// Neither has a fix that depends on its lines.
		case next.SuggestedFix == "" || run[0].SuggestedFix == "" || next.AutofixClass != run[0].AutofixClass:
			return
		case next.StartLine == end+1:
			fix += "\n" + next.SuggestedFix
		case next.StartLine != run[0].StartLine || next.EndLine != end || next.SuggestedFix != fix:
			return // it is not the same fix of the same lines again
		}
		end = max(end, next.EndLine)
	}
	f.StartLine, f.EndLine = run[0].StartLine, end
	if f.SuggestedFix != "" {
		f.SuggestedFix = fix
	}
}

// adjoining returns the findings of f's agent whose lines overlap or touch one another, including
// f.
func adjoining(f *item, same []*item) []*item {
	var run []*item
	end, mine := 0, false
	for _, x := range same {
		if x.StartLine == 0 || x.source() != f.source() {
			continue
		}
		if len(run) > 0 && x.StartLine > end+1 {
			if mine {
				break
			}
			run = nil
		}
		run = append(run, x)
		end = max(end, x.EndLine)
		mine = mine || x.StartLine == f.StartLine && x.EndLine == f.EndLine
	}
	if !mine {
		return nil
	}
	return run
}
