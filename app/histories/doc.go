// Package histories tries the shipped config on what people really merged, and
// on defects that they really made. It has no code outside its tests.
//
//	go test ./app/histories -run TestHistories -v -args -repos DIR -out FILE
//
// reviews the newest merged changes of every git repository in DIR as if each
// had just been opened, writes all findings to FILE and prints a sample to be
// judged by people. The verdicts stand in testdata/usefulness.md, and TestVerdicts
// computes what that page claims from them. TestDefects seeds the defects of
// testdata/defects into clean changes and counts what is found.
package histories
