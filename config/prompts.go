package config

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed prompts/*.md
var promptFiles embed.FS

// PromptNames lists the shipped prompts, sorted.
func PromptNames() []string { return embedded(promptFiles, "prompts", ".md") }

// DefaultPrompt returns the shipped prompt with this name, in Markdown, or an error if there is
// none.
func DefaultPrompt(name string) (string, error) {
	text, err := promptFiles.ReadFile("prompts/" + name + ".md")
	if err != nil {
		return "", fmt.Errorf("find the prompt %q: there is none of that name; use %s", name, strings.Join(PromptNames(), ", "))
	}
	return string(text), nil
}
