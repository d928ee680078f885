package review

import (
	"slices"
	"testing"

	"github.com/reviewgate/reviewgate/app/ports"
)

func TestWhichNewsOfOthersMatter(t *testing.T) {
	annotations := ports.ScanReader{ID: "a", Annotations: true, Annotated: []string{ports.AnnotatedRun("ci", "lint")}}
	named := ports.ScanReader{ID: "b", Annotations: true, Apps: []string{"ci"}}
	alerts := ports.ScanReader{ID: "c", Alerts: true}
	waiting := ports.ScanReader{ID: "d", Waiting: []string{"CodeQL"}}
	check := func(app, name string, annotated bool) ports.ScanNews {
		return ports.ScanNews{HeadSHA: "h", App: app, Check: name, Annotated: annotated}
	}
	suite, alert := ports.ScanNews{HeadSHA: "h", App: "ci"}, ports.ScanNews{Number: 1}
	tests := map[string]struct {
		reads ports.ScanReader
		news  ports.ScanNews
		want  bool
	}{
		"annotated":                    {annotations, check("ci", "vet", true), true},
		"not annotated":                {annotations, check("ci", "vet", false), false},
		"not annotated any more":       {annotations, check("ci", "lint", false), true},
		"of another App the same name": {annotations, check("other", "lint", false), false},
		"of an App that is named":      {named, check("ci", "vet", true), true},
		"of one that is not":           {named, check("other", "vet", true), false},
		"annotated, alerts are wanted": {alerts, check("ci", "vet", true), false},
		"an alert":                     {alerts, alert, true},
		"an alert that is not wanted":  {annotations, alert, false},
		"what is waited for":           {waiting, check("any", "CodeQL", false), true},
		"another than is waited for":   {waiting, check("any", "vet", true), false},
		"a suite, waiting":             {waiting, suite, true},
		"a suite":                      {annotations, suite, false},
	}
	for name, tt := range tests {
		if got := (ports.ScansRead{Agents: []ports.ScanReader{{ID: "none"}, tt.reads}}).Concerns(tt.news); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
		if (ports.ScansRead{}).Concerns(tt.news) {
			t.Errorf("%s matters to nobody", name)
		}
	}
	reads := ports.ScansRead{Agents: []ports.ScanReader{annotations, waiting}}
	if !reads.Waiting() || (ports.ScansRead{Agents: []ports.ScanReader{named}}).Waiting() || !slices.Equal(reads.IDs(), []string{"a", "d"}) {
		t.Errorf("%+v", reads)
	}
}
