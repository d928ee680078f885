package store

// These lists say how the rows of each table are deleted with a target or a repository.
// A test compares them with the schema.

// targetTables have a column target_key. Their rows are deleted with the target.
// Deleting reviews also deletes their rows in review_configs and review_files. It comes
// before changed_files, which review_files refers to.
var targetTables = []string{"reviews", "review_files", "changed_files", "writes", "commands", "verdicts", "hand_decisions", "audit", "model_use", "pushes", "inline_comments", "config_backtests", "memory_sightings", "sessions", "session_events", "session_requests"}

// repositoryTables have a column repo_id. Their rows are deleted with the repository.
// Tables that refer to others come first.
var repositoryTables = []string{"good_layer_files", "good_layers", "repository_names", "deferred", "memory_votes", "memory_records", "memory_patterns", "repositories", "learning_logs", "learning", "probations", "api_tokens"}

// otherTables have statements of their own, or hold no data of a repository.
var otherTables = map[string]string{
	"targets":         "ForgetTarget",
	"leases":          "ForgetTarget, ForgetRepository",
	"deliveries":      "ForgetRepository, ForgetInstallation",
	"review_configs":  "deleted with the review",
	"texts":           "Prune deletes those that nothing refers to",
	"marks":           "ForgetInstallation",
	"refusals":        "ForgetInstallation",
	"lost_deliveries": "ForgetRepository, ForgetInstallation",
	"processes":       "the processes on the database",
}
