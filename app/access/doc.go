// Package access finds out why GitHub refuses the App, and what people can do about it.
package access
