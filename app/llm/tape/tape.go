// Package tape records the answers of language models, and answers from the record. Answers
// that were paid for once can be replayed for free, and stay the same.
package tape

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/reviewgate/reviewgate/app/llm"
)

// entry is a line of a tape: a question with its answer.
type entry struct {
	Model    string  `json:"model"`
	Question string  `json:"question"` // a digest of it, see key
	Answer   string  `json:"answer"`
	Use      llm.Use `json:"use"`
}

// maxLine limits a line of a tape, in bytes. An answer has at most about 100 KB.
const maxLine = 16 << 20

// Tape is a record of answers. It can be used by any number of goroutines.
type Tape struct {
	mu      sync.Mutex
	answers map[[2]string]llm.Answer // by model and question
	to      io.Writer                // nil where nothing is recorded
}

// Read reads a tape. The error names the line that can't be read.
func Read(r io.Reader) (*Tape, error) {
	t := &Tape{answers: map[[2]string]llm.Answer{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("line %d: %w: remove the line", n, err)
		}
		if e.Model == "" || e.Question == "" {
			return nil, fmt.Errorf("line %d: it names no model or no question", n)
		}
		t.answers[[2]string{e.Model, e.Question}] = llm.Answer{Text: e.Answer, Use: e.Use}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return t, nil
}

// Open reads the tape in a file, to answer from it.
func Open(file string) (*Tape, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // the file was only read
	t, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return t, nil
}

// Record opens a file and adds new answers to it. Questions in the file are not asked again.
// A last line that an interrupted run did not finish is removed. done closes the file.
func Record(file string) (t *Tape, done func() error, err error) {
	if err := removeUnfinished(file); err != nil {
		return nil, nil, err
	}
	t, err = Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		t, err = &Tape{answers: map[[2]string]llm.Answer{}}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	t.to = f
	return t, f.Close, nil
}

// removeUnfinished removes the text after the last line break of a file, if there is any.
func removeUnfinished(file string) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if end := bytes.LastIndexByte(text, '\n') + 1; end < len(text) {
		return os.Truncate(file, int64(end))
	}
	return nil
}

// Model is a model, by its name in the config, that answers from the tape. Other questions go
// to the recorded model, if there is one.
func (t *Tape) Model(name string, recorded llm.Model) llm.Model {
	return &model{tape: t, name: name, recorded: recorded}
}

type model struct {
	tape     *Tape
	name     string
	recorded llm.Model // or nil
}

var errMissing = errors.New("the recording has no answer to this question: the change, the prompts or the config are not those that were recorded")

// Ask answers from the tape, or asks and records.
func (m *model) Ask(ctx context.Context, q llm.Question) (llm.Answer, error) {
	at := [2]string{m.name, key(q)}
	m.tape.mu.Lock()
	answer, ok := m.tape.answers[at]
	m.tape.mu.Unlock()
	switch {
	case ok:
		return answer, nil
	case m.recorded == nil:
		return llm.Answer{}, &llm.Error{Kind: llm.Invalid, Err: errMissing}
	}
	answer, err := m.recorded.Ask(ctx, q)
	if err != nil || !readable(answer.Text) {
		return answer, err
	}
	if err := m.tape.add(at, answer); err != nil {
		return llm.Answer{}, &llm.Error{Kind: llm.Malformed, Use: answer.Use, Err: fmt.Errorf("record the answer: %w", err)}
	}
	return answer, nil
}

// readable reports whether an answer holds JSON, as every question requires. Other answers
// are not recorded, because they would fail again on each run.
func readable(answer string) bool {
	from, to := strings.IndexByte(answer, '{'), strings.LastIndexByte(answer, '}')
	return from >= 0 && from < to && json.Valid([]byte(answer[from:to+1]))
}

func (t *Tape) add(at [2]string, answer llm.Answer) error {
	line, err := json.Marshal(entry{Model: at[0], Question: at[1], Answer: answer.Text, Use: answer.Use})
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answers[at] = answer
	if t.to == nil {
		return nil
	}
	_, err = t.to.Write(append(line, '\n'))
	return err
}

// code matches a question's random code, which no two questions share.
var code = regexp.MustCompile(`^The code of this message is ([0-9a-f]{20})\.`)

// key identifies a question. Its code does not count.
func key(q llm.Question) string {
	text := q.Shared + q.Text
	if m := code.FindStringSubmatch(text); m != nil {
		text = strings.ReplaceAll(text, m[1], "")
	}
	sum := sha256.New()
	for _, part := range []string{q.System, text, string(q.Schema.JSON)} {
		fmt.Fprintf(sum, "%d\n%s", len(part), part)
	}
	if q.Sample > 0 {
		fmt.Fprintf(sum, "sample %d", q.Sample)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
