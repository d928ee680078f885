// Package app wires the App together: settings, store, queue, GitHub client,
// pipeline and HTTP server. [New] builds it, [App.Run] serves until its
// context ends, and then drains: it accepts no more webhooks, and finishes the
// running reviews or puts them back into the queue.
package app
