package config

import "testing"

// Each category of security is one of the shipped rules or of models.
func TestSecurityCategoriesExist(t *testing.T) {
	known := map[string]bool{}
	for _, c := range Categories() {
		known[c.ID] = true
	}
	for _, r := range mustLoad(t).Rules {
		known[r.Category] = true
	}
	for _, c := range securityCategories {
		if !known[c] {
			t.Errorf("nothing has the category %s", c)
		}
	}
}
