package config

import (
	"encoding/json"
	"fmt"
	"sync"
)

// Category is a kind of defect. Language models sort their findings by it.
type Category struct {
	ID          string `json:"const"`
	Description string `json:"description"` // a sentence
}

// CategoryOther is the category of findings that fit no other.
const CategoryOther = "other"

// Categories returns the closed list of categories, CategoryOther last.
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

// Specific reports whether an id is a category of the list other than CategoryOther.
func Specific(id string) bool { return specific()[id] }

var specific = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for _, c := range categories() {
		set[c.ID] = c.ID != CategoryOther
	}
	return set
})
