package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// The help of every command with --organisation says that the organisation's name may stand
// before the directory.
func TestOrganisationIsExplainedAlike(t *testing.T) {
	found := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if f := c.Flags().Lookup("organisation"); f != nil {
			found++
			if !strings.HasPrefix(f.Usage, organisationUsage) {
				t.Errorf("%s --organisation: %s", c.CommandPath(), f.Usage)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(rootCommand())
	if found < 5 {
		t.Errorf("%d commands take --organisation", found)
	}
}
