// Package sample decides how much of a large test runs.
//
// By default a test takes a few of its cases, and variants of other tests are left
// out, so that all tests of the module together take under two minutes. With the flag
// -full, or where the environment variable CI is set, everything runs.
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

// Full reports whether every case of every test is to run. Call it in a test, once
// flags are parsed.
func Full() bool { return *full || OnCI() }

// OnCI reports whether the environment variable CI is set, and not to 0 or false.
func OnCI() bool { return !slices.Contains([]string{"", "0", "false"}, os.Getenv("CI")) }

// Of returns the cases that a test runs: all of them, or by default n, spread
// evenly from the first to the last. It logs how many it left out.
func Of[T any](t testing.TB, n int, cases []T) []T {
	t.Helper()
	if Full() || len(cases) <= n {
		return cases
	}
	t.Logf("%d of %d cases; -full runs all", n, len(cases))
	return spread(n, cases)
}

// Keys is Of for the keys of a map, in their order.
func Keys[K cmp.Ordered, V any](t testing.TB, n int, cases map[K]V) []K {
	t.Helper()
	return Of(t, n, slices.Sorted(maps.Keys(cases)))
}

// Variant leaves a test to the full run: one of behaviour beside the main paths, or in
// circumstances that other tests vary, too.
func Variant(t testing.TB) {
	t.Helper()
	if !Full() {
		t.Skip("SKIPPED by default: -full or CI=true runs it") //nolint:forbidigo // Nothing is missing.
	}
}

// Map is Of for the cases of a map, by their keys' order.
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

// Size returns all where every case is to run, and few by default.
func Size(few, all int) int {
	if Full() {
		return all
	}
	return few
}

// Parallel lets up to n parallel tests of a binary run at once, for tests that mostly
// wait. The flag -parallel overrides it, and fuzzing uses one worker for each
// processor. Call it in TestMain; it parses the flags.
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

// draws is how often a property is tried by default. rapid's own number is 100.
const draws = 6

// Check is rapid.Check. By default it tries a property on fewer draws, unless the
// flag -rapid.checks or the environment variable RAPID_CHECKS says how many. It sets
// that flag for the whole test binary, so all properties of a package use Check.
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
