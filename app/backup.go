package app

import (
	"context"
	"errors"

	"github.com/reviewgate/reviewgate/app/internal/store"
)

// Backup is what a backup came to.
type Backup = store.Backup

// MakeBackup copies the SQLite database at a URL to a new file, whether a server
// uses it or not. The copy is checked before it has its name.
func MakeBackup(ctx context.Context, databaseURL, file string) (Backup, error) {
	return store.MakeBackup(ctx, databaseURL, file)
}

// IsRefusedBackup reports whether err says that a backup was not begun for what
// was asked: the operator's to mend.
func IsRefusedBackup(err error) bool {
	var refused *store.RefusedError
	return errors.As(err, &refused)
}
