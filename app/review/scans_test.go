package review

import (
	"context"
	"errors"
	"slices"
	"testing"
)

func TestWhichNewsOfOthersMatter(t *testing.T) {
	annotations := ScanReader{ID: "a", Annotations: true, Annotated: []string{AnnotatedRun("ci", "lint")}}
	named := ScanReader{ID: "b", Annotations: true, Apps: []string{"ci"}}
	alerts := ScanReader{ID: "c", Alerts: true}
	waiting := ScanReader{ID: "d", Waiting: []string{"CodeQL"}}
	check := func(app, name string, annotated bool) ScanNews {
		return ScanNews{HeadSHA: "h", App: app, Check: name, Annotated: annotated}
	}
	suite, alert := ScanNews{HeadSHA: "h", App: "ci"}, ScanNews{Number: 1}
	tests := map[string]struct {
		reads ScanReader
		news  ScanNews
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
		if got := (ScansRead{Agents: []ScanReader{{ID: "none"}, tt.reads}}).Concerns(tt.news); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
		if (ScansRead{}).Concerns(tt.news) {
			t.Errorf("%s matters to nobody", name)
		}
	}
	reads := ScansRead{Agents: []ScanReader{annotations, waiting}}
	if !reads.Waiting() || (ScansRead{Agents: []ScanReader{named}}).Waiting() || !slices.Equal(reads.IDs(), []string{"a", "d"}) {
		t.Errorf("%+v", reads)
	}
}

// beginnings is a store that counts how often news are dropped, and fails at
// first.
type beginnings struct {
	Store
	n int
}

func (b *beginnings) BeginScans(context.Context, string) error {
	if b.n++; b.n == 1 {
		return errors.New("connection reset")
	}
	return nil
}

// News that come between what one agent reads and what the next does are not
// dropped by that one.
func TestNewsAreDroppedOnceForEachReview(t *testing.T) {
	store := &beginnings{}
	o := &outside{service: &Service{Options: Options{Store: store}}}
	if err := o.beginScans(t.Context()); err == nil {
		t.Error("an agent reads though news may not be kept")
	}
	for range 3 { // agents, and their attempts
		if err := o.beginScans(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if store.n != 2 {
		t.Errorf("news were dropped %d times, want once and the failure", store.n)
	}
}
