package render

import (
	"fmt"
	"testing"
)

// The check names the rules that reviewgate put in evaluation on its own.
func TestChecksNameRulesOnProbation(t *testing.T) {
	for name, n := range map[string]int{"probation": 1, "probation-many": 12} {
		v := evaluationView()
		for i := range n {
			v.Review.Report.Probation = append(v.Review.Report.Probation, fmt.Sprintf("br-errors-%02d", i+1))
		}
		golden(t, "check/"+name+".md", conclusionAndOutput(Conclusion(v), Check(v)))
		without := evaluationView()
		if Check(v).Digest == Check(without).Digest {
			t.Error("the check is not written again")
		}
	}
}
