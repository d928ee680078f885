package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Whichever command takes an organisation's directory, its help says that the directory
// may have the organisation's name before it.
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
