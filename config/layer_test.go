package config

import "testing"

// The key of a config changes with each text that is in force, whatever name a
// text came with, and with nothing else.
func TestKeyTellsConfigsApart(t *testing.T) {
	settings := func(text, sha string) Layer {
		l := layer(FileSettings, text)
		l.Files[0].BlobSHA = sha
		return l
	}
	base := mustLoad(t, settings(`{"mode": "off"}`, "1"))
	for name, c := range map[string]*Config{
		"another text of the same name": mustLoad(t, settings(`{"mode": "enforce"}`, "1")),
		"another text as long":          mustLoad(t, settings(`{"mode":"off" }`, "1")),
		"another layer":                 mustLoad(t, named(settings(`{"mode": "off"}`, "1"), LayerOrganisation)),
		"another file besides":          mustLoad(t, layer(FileSettings, `{"mode": "off"}`, FileRules, `[]`)),
		"another layer below":           mustLoad(t, named(layer(FileRules, `[]`), LayerServer), settings(`{"mode": "off"}`, "1")),
		"the defaults":                  mustLoad(t),
	} {
		if c.Key == base.Key {
			t.Errorf("%s: the same key", name)
		}
	}
	if c := mustLoad(t, settings(`{"mode": "enforce"}`, "1")); c.InForce.Version != base.InForce.Version {
		t.Error("the version tells of texts: then it would do as a key")
	}

	elsewhere := settings(`{"mode": "off"}`, "2")
	elsewhere.Source, elsewhere.Files[0].Path = "elsewhere", RepositoryDir+"/"+FileSettings
	broken := named(layer(FileSettings, `{"mode": "of"}`), LayerOrganisation)
	withBroken, _ := Load(broken, settings(`{"mode": "off"}`, "1"))
	for name, c := range map[string]*Config{
		"read elsewhere": mustLoad(t, elsewhere), "beside a broken layer": withBroken,
		"remembered": func() *Config { c, _ := NewLoader(1).Load(elsewhere); return c }(),
	} {
		if c.Key != base.Key {
			t.Errorf("%s: another key", name)
		}
	}
	one, other := layer(FileSettings, `{}`, FileRules, `[]`), layer(FileRules, `[]`, FileSettings, `{}`)
	if mustLoad(t, one).Key != mustLoad(t, other).Key {
		t.Error("the order of files makes another key")
	}
}
