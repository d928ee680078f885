package ports

import "time"

// Access is the access that the App has to a repository. Owner, Name and Installation are
// the current ones, which differ from the target's after a rename or a transfer.
type Access struct {
	Installed    bool
	Suspended    bool
	Installation int64
	Owner, Name  string
	// Missing lists permissions that reviews need but that were not granted, such as
	// "checks: write".
	Missing []string
}

// Moved reports whether the target's repository was renamed or transferred, and corrects
// the target.
func (a Access) Moved(t *Target) bool {
	if !a.Installed || a.Suspended {
		return false
	}
	here := *t
	if a.Installation != 0 {
		t.Installation = a.Installation
	}
	if a.Owner != "" && a.Name != "" {
		t.Owner, t.Name = a.Owner, a.Name
	}
	return *t != here
}

// Quota is what GitHub says about an installation's primary rate limit.
type Quota struct {
	Limit, Left int       // calls
	Reset       time.Time // when all of them are available again
}

// Installation is an account on which the App is installed.
type Installation struct {
	ID        int64
	Account   string
	CreatedAt time.Time
	Suspended bool
}

// Permission is what a person may do in a repository.
type Permission string

// GitHub's repository permissions, least first.
const (
	PermissionNone     Permission = "none"
	PermissionRead     Permission = "read"
	PermissionTriage   Permission = "triage"
	PermissionWrite    Permission = "write"
	PermissionMaintain Permission = "maintain"
	PermissionAdmin    Permission = "admin"
)

// CanWrite reports whether the permission includes write.
func (p Permission) CanWrite() bool {
	return p == PermissionWrite || p.CanMaintain()
}

// CanMaintain reports whether the permission includes maintain.
func (p Permission) CanMaintain() bool { return p == PermissionMaintain || p == PermissionAdmin }
