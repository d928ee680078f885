package store

import (
	"context"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"
)

// To wake workers on SQLite, River uses a table of notifications that it writes at
// each insert and polls every 50 ms. Here only one process uses the file, so a channel
// is enough: nothing is written or polled, and a job starts within a millisecond or two
// of its commit. If a wake-up is lost, River finds the job at its next fetch interval.

// wakingDriver is River's SQLite driver, but with the channel instead of the
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

// wakeup is a riverdriver.Listener that reports new jobs in a queue.
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
	default: // one wake-up is waiting already, which is enough
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

// insertedInto returns the notification that River's PostgreSQL driver would send. Topic
// and payload are River's notifier.NotificationTopicInsert and insertPayload.
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
