package store

import (
	"context"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"
)

// River's own way of waking a worker on SQLite is a table of notifications
// that it writes at each insert and polls every 50 ms. One process has the
// file to itself here, so a channel does it: nothing is written or polled,
// and a job starts within a millisecond or two of its commit. Should a wake-up
// be lost, River's fetch interval finds the job.

// wakingDriver is River's SQLite driver with the channel in place of the
// table, and with the executor of complete.go.
type wakingDriver struct {
	*riversqlite.Driver
	db *sqliteDB
}

func (d *wakingDriver) GetExecutor() riverdriver.Executor {
	return groupedExecutor{d.Driver.GetExecutor(), d.db}
}

func (d *wakingDriver) SupportsListenNotify() bool { return false }

func (d *wakingDriver) GetListener(*riverdriver.GetListenenerParams) riverdriver.Listener {
	return d.db.wakeup
}

// wakeup is a riverdriver.Listener with one thing to tell of each queue: there
// are new jobs.
type wakeup struct {
	reviews, publish chan struct{}
}

func newWakeup() *wakeup {
	return &wakeup{reviews: make(chan struct{}, 1), publish: make(chan struct{}, 1)}
}

func (w *wakeup) wake(queue string) {
	ch := w.reviews
	if queue == publishQueue {
		ch = w.publish
	}
	select {
	case ch <- struct{}{}:
	default: // one is waiting to be heard, which is enough
	}
}

func (w *wakeup) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-w.reviews:
		return insertedInto(river.QueueDefault), nil
	case <-w.publish:
		return insertedInto(publishQueue), nil
	}
}

// insertedInto is what River's PostgreSQL driver would say: topic and payload
// as in its notifier.NotificationTopicInsert and insertPayload.
func insertedInto(queue string) *riverdriver.Notification {
	return &riverdriver.Notification{Topic: "river_insert", Payload: `{"queue":"` + queue + `"}`}
}

func (w *wakeup) Close(context.Context) error            { return nil }
func (w *wakeup) Connect(context.Context) error          { return nil }
func (w *wakeup) Listen(context.Context, string) error   { return nil }
func (w *wakeup) Ping(context.Context) error             { return nil }
func (w *wakeup) Schema() string                         { return "" }
func (w *wakeup) SetAfterConnectExec(string)             {}
func (w *wakeup) Unlisten(context.Context, string) error { return nil }
