package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/rivertype"

	"github.com/reviewgate/reviewgate/app/ports"
)

// postgresTx is a tx on pgx.Tx.
type postgresTx struct {
	tx   pgx.Tx
	jobs *riverJobs[pgx.Tx]
}

func (t *postgresTx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	tag, err := t.tx.Exec(ctx, numbered(query), valid(args)...)
	return tag.RowsAffected(), err
}

func (t *postgresTx) row(ctx context.Context, query string, args ...any) scanner {
	return t.tx.QueryRow(ctx, numbered(query), valid(args)...)
}

func (t *postgresTx) each(ctx context.Context, f func(scanner) error, query string, args ...any) error {
	rows, err := t.tx.Query(ctx, numbered(query), valid(args)...)
	if err != nil {
		return err
	}
	defer rows.Close() // Err says it
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (t *postgresTx) lock() string { return " FOR UPDATE" }

func (t *postgresTx) lockFree() string { return " FOR UPDATE SKIP LOCKED" }

// alone takes an advisory lock on the name's hash. If two names have the same hash, their
// transactions wait for each other, which does no harm.
func (t *postgresTx) alone(ctx context.Context, name string) error {
	if _, err := t.tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, name); err != nil {
		return fmt.Errorf("wait for the lock on %s: %w", name, err)
	}
	return nil
}

func (t *postgresTx) insertJob(ctx context.Context, j ports.Job) (rivertype.JobState, error) {
	j.Args = withoutNUL(slices.Clone(j.Args))
	return t.jobs.insert(ctx, t.tx, j)
}

// adoptJobs fails: other processes may be at work.
func (t *postgresTx) adoptJobs(context.Context) (int, error) {
	return 0, fmt.Errorf("take over all jobs: other processes may use the database")
}

// queries caches the results of numbered.
var queries sync.Map

// numbered replaces each ? that is not quoted by $1, $2, ...
func numbered(query string) string {
	if q, ok := queries.Load(query); ok {
		return q.(string)
	}
	var b strings.Builder
	var quote rune // the one that is open
	n := 0
	for _, r := range query {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == '?':
			n++
			b.WriteString("$" + strconv.Itoa(n))
			continue
		}
		b.WriteRune(r)
	}
	queries.Store(query, b.String())
	return b.String()
}

// valid replaces the characters of texts that PostgreSQL can't store. Otherwise a text
// from outside could keep a delivery from being accepted.
func valid(args []any) []any {
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = validText(s)
		}
	}
	return args
}

// validText replaces each NUL and all invalid UTF-8 by a replacement character.
func validText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}

// withoutNUL replaces each \u0000 in JSON, which PostgreSQL can't store. It leaves an
// escaped backslash followed by u0000 as it is.
func withoutNUL(data []byte) []byte {
	const nul, replacement = `\u0000`, `\ufffd`
	for i := 0; i+len(nul) <= len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		if string(data[i:i+len(nul)]) == nul {
			copy(data[i:], replacement)
		}
		i++ // what is escaped begins no escape
	}
	return data
}
