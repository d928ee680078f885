package app

import (
	"context"
	"errors"

	"github.com/reviewgate/reviewgate/app/internal/store"
)

// Backup is the result of a backup.
type Backup = store.Backup

// MakeBackup copies the SQLite database at a URL to a new file. A server may use the
// database meanwhile. The copy gets its name only after it was checked.
func MakeBackup(ctx context.Context, databaseURL, file string) (Backup, error) {
	return store.MakeBackup(ctx, databaseURL, file)
}

// IsRefusedBackup reports whether err says that the request for a backup was refused. The
// operator has to correct the request.
func IsRefusedBackup(err error) bool {
	var refused *store.RefusedError
	return errors.As(err, &refused)
}
