package model

import (
	"strings"
	"testing"

	"github.com/reviewgate/reviewgate/app/llm"
	"github.com/reviewgate/reviewgate/app/llm/llmtest"
	"github.com/reviewgate/reviewgate/app/llm/sdk"
	"github.com/reviewgate/reviewgate/config"
)

// A vendor's own key is sent to no other server, unless the endpoint names it.
func TestVendorKeysStayWithTheVendor(t *testing.T) {
	keys := map[string]string{"OPENAI_API_KEY": "sk-of-the-vendor", "MY_KEY": "sk-of-mine"}
	for name, test := range map[string]struct {
		variable, sent string
	}{
		"not named": {"", ""}, "named": {"MY_KEY", "sk-of-mine"}, "the vendor's key, by name": {"OPENAI_API_KEY", "sk-of-the-vendor"},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.Start(t, llmtest.Options{Key: test.sent, Keyless: test.sent == ""}, llmtest.Always(llmtest.Text("{}")))
			e := server.Endpoint(config.APIOpenAI)
			e.KeyEnv = test.variable
			s, err := Open([]config.ModelEndpoint{e}, sdk.New, func(name string) string { return keys[name] })
			if err != nil {
				t.Fatal(err)
			}
			q := llm.Question{System: "s", Text: "t", Schema: llm.Schema{Name: "answer", JSON: []byte(`{"type":"object","properties":{},"required":[],"additionalProperties":false}`)}, MaxTokens: 600}
			if _, err := s.endpoints[e.Name].Model.Ask(t.Context(), q); err != nil {
				t.Fatal(err)
			}
			for _, key := range keys {
				if has := strings.Contains(string(server.Sent()), key); has != (key == test.sent) {
					t.Errorf("%s was sent: %t", key, has)
				}
			}
		})
	}
}

// Open reports everything that can't be used at once, and without keys.
func TestOpenReportsAllFaults(t *testing.T) {
	_, err := Open([]config.ModelEndpoint{
		{Name: "a", API: config.APIAnthropic, Model: "m"},
		{Name: "b", API: config.APIOpenAI, Model: "m", KeyEnv: "MY_KEY"},
		{Name: "c", API: config.APIOpenAI, Model: "m", BaseURL: "ftp://models.example"},
		{Name: "d", API: config.APIOpenAI, Model: "m", BaseURL: "https://models.example", KeyEnv: "UNSET"},
	}, sdk.New, func(string) string { return "" })
	if err == nil {
		t.Fatal("all endpoints were accepted")
	}
	for _, text := range []string{"a (key in ANTHROPIC_API_KEY): there is no key: set ANTHROPIC_API_KEY, or the base_url", "b (key in MY_KEY): there is no key: set MY_KEY, or leave", "c (without a key)", "d (key in UNSET): there is no key: set UNSET, or leave key_env out"} {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the error lacks %q:\n%v", text, err)
		}
	}
	if _, err := Open([]config.ModelEndpoint{{Name: "a", API: config.APIAnthropic, Model: "m"}}, sdk.New, func(string) string { return "sk-secret\x00" }); err == nil || strings.Contains(err.Error(), "sk-secret") {
		t.Errorf("a key that no header can hold: %v", err)
	}
}
