package store

import (
	"context"
	"database/sql"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"
)

// River's own way of waking a worker on SQLite is a table of notifications
// that it writes at each insert and polls every 50 ms. One process has the
// file to itself here, so a channel does it: nothing is written or polled,
// and a job starts within a millisecond or two of its commit. Should a wake-up
// be lost, River's fetch interval finds the job.

// wakingDriver is River's SQLite driver with the channel in place of the
// table.
type wakingDriver struct {
	*riversqlite.Driver
	wakeup *wakeup
}

func newWakingDriver(db *sql.DB) *wakingDriver {
	return &wakingDriver{Driver: riversqlite.New(db), wakeup: &wakeup{ch: make(chan struct{}, 1)}}
}

func (d *wakingDriver) SupportsListenNotify() bool { return false }

func (d *wakingDriver) GetListener(*riverdriver.GetListenenerParams) riverdriver.Listener {
	return d.wakeup
}

// wakeup is a riverdriver.Listener with one thing to tell: there are new jobs.
type wakeup struct {
	ch chan struct{}
}

func (w *wakeup) wake() {
	select {
	case w.ch <- struct{}{}:
	default: // one is waiting to be heard, which is enough
	}
}

func (w *wakeup) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-w.ch:
		// Topic and payload as in River's notifier.NotificationTopicInsert and
		// its insertPayload.
		return &riverdriver.Notification{Topic: "river_insert", Payload: `{"queue":"default"}`}, nil
	}
}

func (w *wakeup) Close(context.Context) error            { return nil }
func (w *wakeup) Connect(context.Context) error          { return nil }
func (w *wakeup) Listen(context.Context, string) error   { return nil }
func (w *wakeup) Ping(context.Context) error             { return nil }
func (w *wakeup) Schema() string                         { return "" }
func (w *wakeup) SetAfterConnectExec(string)             {}
func (w *wakeup) Unlisten(context.Context, string) error { return nil }
