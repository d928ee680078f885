package model

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reviewgate/reviewgate/pipeline"
)

// An answer tells which lines of the change the question had, with their context, as they are
// numbered at the head.
func TestAskedLines(t *testing.T) {
	facts := shop()
	far := changed("shop/cart.go", "+var carts = map[string]*Cart{}").Hunks[0]
	far.NewStart, far.Lines[0].New = 80, 80
	next := changed("shop/cart.go", "+// Close to it").Hunks[0]
	next.NewStart, next.Lines[0].New = 16, 16
	facts.Files[0].Hunks = append(facts.Files[0].Hunks, far, next)
	facts.Files = append(facts.Files,
		pipeline.File{Path: "gone.go", Status: pipeline.FileRemoved, Deletions: 1, Hunks: changed("gone.go", "-package gone").Hunks},
		pipeline.File{Path: "gen.go", Status: pipeline.FileModified, GeneratedByPath: true, Hunks: changed("gen.go", "+generated").Hunks},
		changed("elsewhere.go", "+out of scope"))
	task := testTask(facts)
	task.Entry.Scope = pipeline.AgentScope{Files: pipeline.List[string]{"gen.go", "gone.go", "shop/cart.go", "shop/cart_test.go"}}
	answer, err := New(testOptions(&scripted{})).Review(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	want := []pipeline.AskedLines{
		{Path: "shop/cart.go", First: 10, Last: 16}, {Path: "shop/cart.go", First: 80, Last: 80},
		{Path: "shop/cart_test.go", First: 10, Last: 11},
	}
	if diff := cmp.Diff(want, answer.Asked); diff != "" {
		t.Error(diff)
	}
	failing := testOptions(&scripted{answer: "no JSON"})
	if answer, err := New(failing).Review(t.Context(), task); err == nil || answer.Asked != nil {
		t.Errorf("an answer that can't be read: asked about %v, %v", answer.Asked, err)
	}
}

// Of files that are shown in part, exactly the shown lines count.
func TestAskedLinesOfAPart(t *testing.T) {
	o := testOptions(&scripted{})
	o.Tokens = 30_000
	facts := change(large("a.go", 2000), large("b.go", 2000))
	m := o.Models[modelName].Model.(*scripted)
	got, err := New(o).Review(t.Context(), testTask(facts))
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, r := range got.Asked {
		lines += r.Last - r.First + 1
	}
	shown := 0
	for line := range strings.Lines(m.asked[0].Text) {
		if sign, _, ok := strings.Cut(line, "|"); ok && (strings.HasPrefix(sign, "+") || strings.HasPrefix(sign, " ")) {
			shown++
		}
	}
	if lines != shown || lines == 0 || lines >= 4000 {
		t.Errorf("asked about %d lines of 4000, and %d were shown", lines, shown)
	}
}

// The list is bounded, and the bound keeps the first.
func TestAskedLinesAreBounded(t *testing.T) {
	f := pipeline.File{Path: "a.go", Status: pipeline.FileModified, Additions: pipeline.MaxAsked + 50}
	for i := range f.Additions {
		f.Hunks = append(f.Hunks, pipeline.Hunk{NewStart: 1 + 2*i, NewLines: 1, Lines: pipeline.List[pipeline.Line]{{Op: pipeline.LineAdded, New: 1 + 2*i, Text: fmt.Sprint(i)}}})
	}
	o := testOptions(&scripted{})
	answer, err := New(o).Review(t.Context(), testTask(change(f)))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(answer.Asked); n != pipeline.MaxAsked || answer.Asked[n-1].Last != 2*pipeline.MaxAsked-1 {
		t.Errorf("%d ranges, the last %+v", n, answer.Asked[n-1])
	}
	if !slices.IsSortedFunc(answer.Asked, func(a, b pipeline.AskedLines) int { return a.First - b.First }) {
		t.Error("the ranges are not in order")
	}
}
