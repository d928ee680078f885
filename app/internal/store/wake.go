package store

import (
	"context"
	"sync"

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
	some chan struct{} // gets a value if queues has names

	mu     sync.Mutex
	queues map[string]bool // with new jobs that were not reported
}

func newWakeup() *wakeup {
	return &wakeup{some: make(chan struct{}, 1), queues: map[string]bool{}}
}

func (w *wakeup) wake(queue string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queues[queue] = true
	w.signal()
}

// signal wakes WaitForNotification. The caller has locked w.
func (w *wakeup) signal() {
	select {
	case w.some <- struct{}{}:
	default: // one wake-up is waiting already, which is enough
	}
}

func (w *wakeup) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-w.some:
		}
		if queue := w.next(); queue != "" {
			return insertedInto(queue), nil
		}
	}
}

// next returns a queue with new jobs, or "".
func (w *wakeup) next() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for queue := range w.queues {
		delete(w.queues, queue)
		if len(w.queues) > 0 {
			w.signal()
		}
		return queue
	}
	return ""
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
