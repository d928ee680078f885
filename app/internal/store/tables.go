package store

// What the tables hold of targets and repositories, so that it can be deleted.
// A test holds these lists complete against the schema.

// targetTables have a column target_key, and their rows go with the target.
// Those of reviews take the rows of review_configs and review_files with them, and
// come before those of changed_files that these refer to.
var targetTables = []string{"reviews", "review_files", "changed_files", "writes", "commands", "verdicts", "hand_decisions", "audit", "model_use", "pushes"}

// repositoryTables have a column repo_id, and their rows go with the repository.
// Those that refer to others come first.
var repositoryTables = []string{"good_layer_files", "good_layers", "repository_names", "deferred", "repositories"}

// otherTables are dealt with one by one, or hold nothing of a repository.
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
