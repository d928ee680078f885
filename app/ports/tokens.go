package ports

import "time"

// TokenAsk is what an agent is about to ask of a model.
type TokenAsk struct {
	Target Target
	Agent  string
	Model  string
	Tokens int // read and written, that the question may take at most
	// The budgets, in tokens: of all the target's reviews, and of all of its
	// repository's within TokenDay.
	PerPull, PerRepositoryDay int
}

// TokenBudget names a budget that was used up.
type TokenBudget string

// The budgets that the store keeps.
const (
	BudgetPull       TokenBudget = "pull request"
	BudgetRepository TokenBudget = "repository and day"
)

// TokenDay is the time that a repository's budget is for.
const TokenDay = 24 * time.Hour
