package store

import (
	"context"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"
)

// River records the results of jobs four times a second, all of them in one
// transaction. Its SQLite driver runs a statement for each job. That would keep the
// connection for 10 ms or more while deliveries wait.

// completingAtOnce is how many results one write records. It takes about a millisecond.
const completingAtOnce = 4

// groupedExecutor is River's executor on SQLite, but records the results of jobs
// a few at a time, in a group with other writes: see group.go.
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
			// River tries all of them again. Jobs that are already recorded are no
			// longer running, so nothing changes for them.
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
