package config

import "testing"

// The key of a config changes with every text in force, whatever name came with the text, and with
// nothing else.
func TestDifferentConfigsHaveDifferentKeys(t *testing.T) {
	settings := func(text, sha string) Layer {
		l := layer(FileSettings, text)
		l.Files[0].BlobSHA = sha
		return l
	}
	base := mustLoad(t, settings(`{"mode": "off"}`, "1"))
	for name, c := range map[string]*Config{
		"another text with the same name": mustLoad(t, settings(`{"mode": "enforce"}`, "1")),
		"another text as long":            mustLoad(t, settings(`{"mode":"off" }`, "1")),
		"another layer":                   mustLoad(t, named(settings(`{"mode": "off"}`, "1"), LayerOrganisation)),
		"an additional file":              mustLoad(t, layer(FileSettings, `{"mode": "off"}`, FileRules, `[]`)),
		"another layer below":             mustLoad(t, named(layer(FileRules, `[]`), LayerServer), settings(`{"mode": "off"}`, "1")),
		"the defaults":                    mustLoad(t),
	} {
		if c.Key == base.Key {
			t.Errorf("%s: the same key", name)
		}
	}
	if c := mustLoad(t, settings(`{"mode": "enforce"}`, "1")); c.InForce.Version != base.InForce.Version {
		t.Error("the version depends on the text itself, so the key is not needed")
	}

	elsewhere := settings(`{"mode": "off"}`, "2")
	elsewhere.Source, elsewhere.Files[0].Path = "elsewhere", RepositoryDir+"/"+FileSettings
	broken := named(layer(FileSettings, `{"mode": "of"}`), LayerOrganisation)
	withBroken, _ := Load(broken, settings(`{"mode": "off"}`, "1"))
	for name, c := range map[string]*Config{
		"read from another place": mustLoad(t, elsewhere), "beside a broken layer": withBroken,
		"read from the loader's memory": func() *Config { c, _ := NewLoader(1).Load(elsewhere); return c }(),
	} {
		if c.Key != base.Key {
			t.Errorf("%s: a different key", name)
		}
	}
	one, other := layer(FileSettings, `{}`, FileRules, `[]`), layer(FileRules, `[]`, FileSettings, `{}`)
	if mustLoad(t, one).Key != mustLoad(t, other).Key {
		t.Error("the order of files changes the key")
	}
}
