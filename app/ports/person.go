package ports

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
