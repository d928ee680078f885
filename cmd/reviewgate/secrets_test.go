package main

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reviewgate/reviewgate/pipeline"
)

// writeSecret writes a file whose TOKEN looks like a token of GitHub: secret FILE NAME. The
// same name gives the same token. A token in the script itself would alarm secret scanners.
func writeSecret(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: secret FILE NAME")
	}
	sum := sha256.Sum256([]byte(args[1]))
	token := "ghp_" + base32.StdEncoding.EncodeToString(sum[:])[:36]
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte("NAME=shop\nTOKEN="+token+"\n"), 0o600))
}

// findingID sets FINDING to the id of the one finding of a rule in a report:
// findingid REPORT RULE.
func findingID(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: findingid REPORT RULE")
	}
	var out struct {
		Report   pipeline.Report                 `json:"report"`
		Findings pipeline.List[pipeline.Finding] `json:"findings"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &out))
	var ids []string
	for _, f := range append(out.Findings, out.Report.Findings...) {
		if f.RuleID == args[1] {
			ids = append(ids, f.ID)
		}
	}
	if len(ids) != 1 {
		ts.Fatalf("%d findings of %s: %s", len(ids), args[1], strings.Join(ids, " "))
	}
	ts.Setenv("FINDING", ids[0])
}
