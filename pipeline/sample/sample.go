// Package sample decides how much of a large test runs.
//
// By default a test runs a few of its cases, and variants of other tests are skipped, so that all
// tests of the module take under two minutes together. With the flag -full, or if the environment
// variable CI is set, everything runs.
package sample

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

var full = flag.Bool("full", false, "run every case of every test, as CI does")

// Full reports whether every case of every test should run. Tests must call it after flags are
// parsed.
func Full() bool { return *full || OnCI() }

// OnCI reports whether the environment variable CI is set, and not to 0 or false.
func OnCI() bool { return !slices.Contains([]string{"", "0", "false"}, os.Getenv("CI")) }

// Of returns the cases that a test runs: all of them, or by default n, spread evenly from the first
// to the last. It logs how many it leaves out.
func Of[T any](t testing.TB, n int, cases []T) []T {
	t.Helper()
	if Full() || len(cases) <= n {
		return cases
	}
	t.Logf("%d of %d cases; -full runs all", n, len(cases))
	return spread(n, cases)
}

// Keys is Of for the keys of a map, in order.
func Keys[K cmp.Ordered, V any](t testing.TB, n int, cases map[K]V) []K {
	t.Helper()
	return Of(t, n, slices.Sorted(maps.Keys(cases)))
}

// Variant skips a test outside the full run. It is for behaviour beside the main paths, or in
// circumstances that other tests vary too.
func Variant(t testing.TB) {
	t.Helper()
	if !Full() {
		t.Skip("SKIPPED by default: -full or CI=true runs it") //nolint:forbidigo // Nothing is missing.
	}
}

// Map is Of for the cases of a map, in the order of their keys.
func Map[K cmp.Ordered, V any](t testing.TB, n int, cases map[K]V) map[K]V {
	t.Helper()
	some := map[K]V{}
	for _, k := range Keys(t, n, cases) {
		some[k] = cases[k]
	}
	return some
}

func spread[T any](n int, cases []T) []T {
	if n == 1 {
		return cases[:1]
	}
	some := make([]T, n)
	for i := range some {
		some[i] = cases[i*(len(cases)-1)/(n-1)]
	}
	return some
}

// Size returns all if every case should run, and few by default.
func Size(few, all int) int {
	if Full() {
		return all
	}
	return few
}

// Parallel lets up to n parallel tests of a binary run at once, for tests that mostly wait. The
// flag -parallel overrides it, and fuzzing uses one worker for each processor. It parses the flags.
// Call it in TestMain.
func Parallel(n int) {
	flag.Parse()
	given := flag.Lookup("test.fuzz").Value.String() != ""
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err)
	}
}

// draws is how often a property is checked by default. rapid's own default is 100.
const draws = 6

// Check is rapid.Check. By default it checks a property on fewer draws, unless the flag
// -rapid.checks or the environment variable RAPID_CHECKS sets the number. It sets that flag for the
// whole test binary, so all properties of a package use Check.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	fewerDraws()
	rapid.Check(t, property)
}

var fewerDraws = sync.OnceFunc(func() {
	const name = "rapid.checks"
	given := Full() || os.Getenv("RAPID_CHECKS") != ""
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if given {
		return
	}
	if err := flag.Set(name, fmt.Sprint(draws)); err != nil {
		panic(err)
	}
})
