package ports

import "time"

// TokenAsk is a question that an agent is about to ask a model.
type TokenAsk struct {
	Target Target
	Agent  string
	Model  string
	Tokens int // the maximum that the question may read and write
	// The budgets, in tokens: for all reviews of the target, and for all reviews of its
	// repository within TokenDay.
	PerPull, PerRepositoryDay int
}

// TokenBudget is the name of a budget.
type TokenBudget string

// The budgets in the store.
const (
	BudgetPull       TokenBudget = "pull request"
	BudgetRepository TokenBudget = "repository and day"
)

// TokenDay is the period of a repository's budget.
const TokenDay = 24 * time.Hour
