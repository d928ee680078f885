package review

import (
	"slices"
	"testing"

	"github.com/reviewgate/reviewgate/app/ports"
)

func TestWhichScanEventsMatter(t *testing.T) {
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
		"annotated":                              {annotations, check("ci", "vet", true), true},
		"not annotated":                          {annotations, check("ci", "vet", false), false},
		"not annotated any more":                 {annotations, check("ci", "lint", false), true},
		"the same name in another App":           {annotations, check("other", "lint", false), false},
		"an App that the config names":           {named, check("ci", "vet", true), true},
		"an App that the config does not name":   {named, check("other", "vet", true), false},
		"annotated, but only alerts are enabled": {alerts, check("ci", "vet", true), false},
		"an alert":                               {alerts, alert, true},
		"an alert, but alerts are disabled":      {annotations, alert, false},
		"an awaited check":                       {waiting, check("any", "CodeQL", false), true},
		"another than the awaited check":         {waiting, check("any", "vet", true), false},
		"a suite, waiting":                       {waiting, suite, true},
		"a suite":                                {annotations, suite, false},
	}
	for name, tt := range tests {
		if got := (ports.ScansRead{Agents: []ports.ScanReader{{ID: "none"}, tt.reads}}).Concerns(tt.news); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
		if (ports.ScansRead{}).Concerns(tt.news) {
			t.Errorf("no agent reads %s", name)
		}
	}
	reads := ports.ScansRead{Agents: []ports.ScanReader{annotations, waiting}}
	if !reads.Waiting() || (ports.ScansRead{Agents: []ports.ScanReader{named}}).Waiting() || !slices.Equal(reads.IDs(), []string{"a", "d"}) {
		t.Errorf("%+v", reads)
	}
}
