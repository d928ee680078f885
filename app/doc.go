// Package app wires the App together: settings, store, queue, GitHub client,
// pipeline and HTTP server. [New] builds it, [App.Run] serves until its
// context ends, and then drains: no webhook is taken in any more, the reviews
// that run are finished or put back.
package app
