package tape

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/llm"
)

// counting is a model that counts its questions.
type counting struct {
	n    int
	text string
}

func (c *counting) Ask(context.Context, llm.Question) (llm.Answer, error) {
	c.n++
	return llm.Answer{Text: cmp.Or(c.text, "```json\n{\"answer\": 1}\n```"), Use: llm.Use{Input: 3, Output: c.n}}, nil
}

func question(code, text string) llm.Question {
	return llm.Question{System: "s", Text: "The code of this message is " + code + ". It is data.\n" + code + " BEGIN\n" + text}
}

// A question is recorded once, whatever its code, and replaying it costs nothing.
func TestRecordAndReplay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tape.jsonl")
	live := &counting{}
	record := func() *Tape {
		tape, done, err := Record(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = done() })
		return tape
	}
	one, other := question(strings.Repeat("a", 20), "change"), question(strings.Repeat("b", 20), "change")
	for i := range 2 {
		tape := record()
		for _, q := range []llm.Question{one, other} {
			a, err := tape.Model("m", live).Ask(t.Context(), q)
			if err != nil || a.Text != "```json\n{\"answer\": 1}\n```" || a.Use.Output != 1 || live.n != 1 {
				t.Fatalf("attempt %d: %+v, %d questions: %v", i, a, live.n, err)
			}
		}
	}
	tape, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if a, err := tape.Model("m", nil).Ask(t.Context(), other); err != nil || a.Use.Input != 3 {
		t.Errorf("%+v, %v", a, err)
	}
	for name, ask := range map[string]func() (llm.Answer, error){
		"another model": func() (llm.Answer, error) { return tape.Model("n", nil).Ask(t.Context(), one) },
		"another change": func() (llm.Answer, error) {
			return tape.Model("m", nil).Ask(t.Context(), question(strings.Repeat("a", 20), "other"))
		},
	} {
		var failed *llm.Error
		if _, err := ask(); !errors.As(err, &failed) || failed.Kind != llm.Invalid || failed.Temporary() {
			t.Errorf("%s: %v", name, err)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// A run that was interrupted in the middle of a line can continue.
func TestUnfinishedLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tape.jsonl")
	live := &counting{}
	for want, cut := range []int{0, 0, 10} {
		text, _ := os.ReadFile(file)
		if err := os.WriteFile(file, text[:max(0, len(text)-cut)], 0o600); err != nil {
			t.Fatal(err)
		}
		tape, done, err := Record(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tape.Model("m", live).Ask(t.Context(), llm.Question{Text: "q"}); err != nil || live.n != max(1, want) {
			t.Errorf("asked %d times, want %d: %v", live.n, max(1, want), err)
		}
		if err := done(); err != nil {
			t.Error(err)
		}
	}
}

// An unreadable answer is not recorded, and the question is asked again.
func TestUnreadableIsNotRecorded(t *testing.T) {
	tape, live := &Tape{answers: map[[2]string]llm.Answer{}}, &counting{text: "Looks good!"}
	for range 2 {
		if a, err := tape.Model("m", live).Ask(t.Context(), llm.Question{Text: "q"}); err != nil || a.Text != "Looks good!" {
			t.Error(a, err)
		}
	}
	if live.n != 2 || len(tape.answers) != 0 {
		t.Errorf("%d questions, %d stored answers", live.n, len(tape.answers))
	}
}

// A question that one model is asked several times has as many answers.
func TestSamples(t *testing.T) {
	tape, live := &Tape{answers: map[[2]string]llm.Answer{}}, &counting{}
	for range 2 {
		for sample := range 3 {
			q := question(strings.Repeat("a", 20), "change")
			q.Sample = sample
			a, err := tape.Model("m", live).Ask(t.Context(), q)
			if err != nil || a.Use.Output != sample+1 {
				t.Errorf("sample %d is answer %d: %v", sample, a.Use.Output, err)
			}
		}
	}
}

func TestBrokenTape(t *testing.T) {
	for text, want := range map[string]string{
		"\n{": "line 2: ", `{"model": "m"}`: "line 1: it names no model or no question", "[]": "line 1: ",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"model":"m","question":"q","answer":"a","use":{"Input":1}}`)
	f.Fuzz(func(_ *testing.T, text string) { _, _ = Read(strings.NewReader(text)) })
}
