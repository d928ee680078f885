package aggregate

// suppress takes out of the gate what people have decided about. What it takes
// out keeps its fingerprint, so that it is known again.
func (w *work) suppress() {
	w.identify()
	w.keep(func(f *item) bool { return !w.inline(f) })
}
