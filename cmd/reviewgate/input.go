package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/reviewgate/reviewgate/config"
	"github.com/reviewgate/reviewgate/pipeline"
	"github.com/reviewgate/reviewgate/pipeline/jsontree"
)

// input is the text of a file on the command line. Messages about problems contain its name.
type input struct {
	name string
	text []byte
}

// standardInput is the name of standard input in messages.
const standardInput = "standard input"

// readInputs reads files, and standard input for -, up to limit bytes in all. It never holds
// more than one byte above that.
func readInputs(cmd *cobra.Command, names []string, limit int64) ([]input, error) {
	var out []input
	left, stdin := limit, false
	for _, name := range names {
		if name == "-" && stdin {
			return nil, errors.New("- is named twice: standard input can be read only once")
		}
		stdin = stdin || name == "-"
		in, err := readInput(cmd, name, left)
		if err != nil {
			return nil, err
		}
		if int64(len(in.text)) > left {
			return nil, fmt.Errorf("%s: the input is larger than %d MiB in all: shorten it", in.name, limit>>20)
		}
		left -= int64(len(in.text))
		out = append(out, in)
	}
	return out, nil
}

// readInput reads one file. Of a file larger than limit it reads one byte more than limit,
// which tells the caller so.
func readInput(cmd *cobra.Command, name string, limit int64) (input, error) {
	if name == "-" {
		text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), limit+1))
		if err != nil {
			return input{}, fmt.Errorf("read standard input: %w", err)
		}
		return input{standardInput, text}, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return input{}, fmt.Errorf("read the input: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return input{}, fmt.Errorf("%s is a directory: name the files in it", name)
	}
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return input{}, fmt.Errorf("read %s: %w", name, err)
	}
	return input{name, text}, nil
}

// maxTold bounds the number of lines of one kind on standard error.
const maxTold = 100

// tell writes problems of the input to standard error, one per line and at most maxTold. It
// then says how many of all it left out.
func tell(cmd *cobra.Command, problems []pipeline.ConfigProblem, all int) {
	for i, p := range problems {
		if i == maxTold {
			break
		}
		fmt.Fprintln(cmd.ErrOrStderr(), config.FormatProblem(p))
	}
	if more := all - min(len(problems), maxTold); more > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "and %d more\n", more)
	}
}

// problemsOf turns errors in JSON texts into problems.
func problemsOf(errs []jsontree.Error) []pipeline.ConfigProblem {
	out := make([]pipeline.ConfigProblem, 0, len(errs))
	for _, e := range errs {
		out = append(out, config.ProblemOf(e))
	}
	return out
}

// leftOut warns about unknown fields, which do no harm. It shows where the first one is.
func leftOut(cmd *cobra.Command, first jsontree.Place, n int) {
	problem := "unknown field ignored"
	if n > 1 {
		problem = fmt.Sprintf("unknown field ignored, and %d more", n-1)
	}
	tell(cmd, problemsOf([]jsontree.Error{{Place: first, Problem: problem}}), 1)
}
