package config

import "testing"

func TestDomainsForm(t *testing.T) {
	domains := func(name, text string) Layer {
		return Layer{Name: name, Source: "test", Files: []File{{Path: RepositoryDir + "/" + FileDomains, Text: []byte(text)}}}
	}
	tests := []struct {
		name   string
		layers []Layer
		want   string
	}{
		{"no repository layer", nil, FormNone},
		{"no file", []Layer{{Name: LayerRepository, Source: "test"}}, FormNone},
		{"list", []Layer{domains(LayerRepository, `[]`)}, FormList},
		{"items", []Layer{domains(LayerRepository, `{"items": []}`)}, FormItems},
		{"an object without items", []Layer{domains(LayerRepository, `{"extends": ["defaults"]}`)}, FormItems},
		{"the file of another layer", []Layer{domains(LayerServer, `[]`)}, FormNone},
		{"the file of a broken layer", []Layer{domains(LayerRepository, `[{}]`)}, FormNone},
	}
	for _, tt := range tests {
		if c, _ := Load(tt.layers...); c.DomainsForm != tt.want {
			t.Errorf("%s: form %q, want %q", tt.name, c.DomainsForm, tt.want)
		}
	}
}
