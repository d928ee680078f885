package config

import (
	"encoding/json"
	"fmt"
	"sync"
)

// Category is a kind of defect that language models tell findings by.
type Category struct {
	ID          string `json:"const"`
	Description string `json:"description"` // a sentence
}

// CategoryOther is that of what fits no other.
const CategoryOther = "other"

// Categories returns the closed list of them, CategoryOther last.
func Categories() []Category { return categories() }

var categories = sync.OnceValue(func() []Category {
	text, err := SchemaText("defect-category")
	if err != nil {
		panic(err)
	}
	var schema struct {
		OneOf []Category `json:"oneOf"`
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		panic(fmt.Errorf("read the schema of categories: %w", err))
	}
	return schema.OneOf
})

// Specific reports whether a category is one of the list that says what a finding is about.
func Specific(id string) bool { return specific()[id] }

var specific = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for _, c := range categories() {
		set[c.ID] = c.ID != CategoryOther
	}
	return set
})
