package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"github.com/reviewgate/reviewgate/app/internal/store"
	"github.com/reviewgate/reviewgate/app/memory"
	"github.com/reviewgate/reviewgate/app/ports"
	"github.com/reviewgate/reviewgate/pipeline/run"
)

// ReadMemory calls f with what the database at a URL remembers. Nothing is changed; a server may be
// using the database.
func ReadMemory(ctx context.Context, databaseURL string, f func(ports.MemoryReader) error) error {
	reader, err := store.OpenReader(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer reader.Close() //nolint:errcheck // it wrote nothing
	return f(reader)
}

// ChangeMemory makes the change that an operator asks for. A server that uses a SQLite file makes it;
// otherwise this process does.
func ChangeMemory(ctx context.Context, databaseURL string, ask memory.Ask, log zerolog.Logger) (answer memory.Answer, err error) {
	if path, ok := socketOf(databaseURL); ok {
		server, runs, err := dialControl(ctx, path)
		if err != nil {
			return answer, err
		}
		if runs {
			defer server.close()
			return server.changeMemory(ctx, ask)
		}
	}
	if err := store.CheckTables(ctx, databaseURL); err != nil {
		return answer, &memory.RefusedError{Why: err.Error()}
	}
	db, err := store.Open(ctx, databaseURL, store.Options{Process: processName(), Log: log})
	if err != nil {
		return answer, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	runner, err := run.NewRunner(run.Config{Version: Version(), Now: time.Now})
	if err != nil {
		return answer, err
	}
	return memory.NewKeeper(db.Store, runner, log, time.Now).Obey(ctx, ask)
}

const (
	// pathMemory accepts a memory.Ask.
	pathMemory = "/memory"
	// maxMemory bounds a request to change memory, in bytes: an import may have as many records and
	// patterns as a repository, and JSON escapes more than Markdown does.
	maxMemory = 2 * memory.MaxFile
)

// memoryAnswer is the answer to a memory.Ask. Error is the reason for a failure. Refused means that
// asking again does not help.
type memoryAnswer struct {
	memory.Answer
	Error   string
	Refused bool
}

// changeMemory answers one memory.Ask.
func (a *App) changeMemory(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), controlTimeout)
	defer cancel()
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxMemory))
	dec.DisallowUnknownFields()
	var ask memory.Ask
	var answer memoryAnswer
	err := dec.Decode(&ask)
	if err != nil {
		err = fmt.Errorf("read the request, which may come from another version of reviewgate: %w", err)
	} else {
		answer.Answer, err = a.service.Keeper.Obey(ctx, ask)
	}
	if err != nil {
		var refused *memory.RefusedError
		answer.Error, answer.Refused = err.Error(), errors.As(err, &refused)
	}
	a.tell(w, answer)
}

// changeMemory has the server make a change.
func (c *controlClient) changeMemory(ctx context.Context, ask memory.Ask) (none memory.Answer, err error) {
	var answer memoryAnswer
	if err := c.ask(ctx, pathMemory, ask, &answer); err != nil {
		return none, err
	}
	if answer.Refused {
		return none, &memory.RefusedError{Why: answer.Error}
	}
	if answer.Error != "" {
		return none, errors.New(answer.Error)
	}
	return answer.Answer, nil
}
