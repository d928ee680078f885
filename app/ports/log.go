package ports

import (
	"time"
)

// HookAttempt is one attempt at a webhook delivery, as GitHub logged it.
type HookAttempt struct {
	ID           int64
	GUID         string
	Event        string
	Action       string
	Status       int // of our answer, 0 if there was none
	At           time.Time
	Installation int64
	RepoID       int64
}

// Delivered reports whether the attempt was answered with success.
func (a HookAttempt) Delivered() bool { return a.Status >= 200 && a.Status < 300 }

// LostDelivery is a delivery that failed and was not taken in since.
type LostDelivery struct {
	HookAttempt     // the newest that was seen, with the time of the first
	Urgency     int // higher for those to look for sooner
	Looks       int // how often it was looked for
}

// LogRead is what was read of the App's delivery log.
type LogRead struct {
	Lost []LostDelivery
	// Before is since when GitHub sends deliveries again: what is older is dropped.
	Before time.Time
	UpTo   time.Time // how far the log was read
}
