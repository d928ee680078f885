// Package admission holds back reviews that would use too much of this process's memory, or
// of the calls that GitHub grants an installation in an hour.
package admission
