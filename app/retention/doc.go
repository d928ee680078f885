// Package retention deletes stored data that is no longer needed: old data, and the data of
// repositories that the App may no longer access.
package retention
