package store

import (
	"context"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"
)

// River records what became of jobs four times a second, all of them in one
// transaction, in which its SQLite driver runs a statement for each. That
// would hold the connection for 10 ms and more while deliveries wait for it.

// completingAtOnce is how many are recorded in one write: a millisecond's work.
const completingAtOnce = 4

// groupedExecutor is River's executor on SQLite, which records the ends of jobs
// a few at a time, each write in a group with others: see group.go.
type groupedExecutor struct {
	riverdriver.Executor
	db *sqliteDB
}

func (e groupedExecutor) JobSetStateIfRunningMany(ctx context.Context, p *riverdriver.JobSetStateIfRunningManyParams) (all []*rivertype.JobRow, err error) {
	for from := 0; from < len(p.ID); from += completingAtOnce {
		part := part(p, from, min(from+completingAtOnce, len(p.ID)))
		var rows []*rivertype.JobRow
		err := e.db.write(ctx, func(t tx) (err error) {
			st := t.(*sqliteTx)
			rows, err = st.jobs.driver.UnwrapExecutor(st.tx).JobSetStateIfRunningMany(st.context(ctx), part)
			return err
		})
		if err != nil {
			// River tries all again. Those that are recorded are no longer
			// running, and so stay as they are.
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

func part(p *riverdriver.JobSetStateIfRunningManyParams, from, to int) *riverdriver.JobSetStateIfRunningManyParams {
	return &riverdriver.JobSetStateIfRunningManyParams{
		ID: p.ID[from:to], Attempt: p.Attempt[from:to], ErrData: p.ErrData[from:to], FinalizedAt: p.FinalizedAt[from:to],
		MetadataDoMerge: p.MetadataDoMerge[from:to], MetadataUpdates: p.MetadataUpdates[from:to], Now: p.Now,
		ScheduledAt: p.ScheduledAt[from:to], Schema: p.Schema, State: p.State[from:to],
	}
}
