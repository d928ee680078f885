package ghtest

// Match finds the route of a request, for the tests that compare exchanges with the route's
// description.
func Match(method, path string) (name string, params map[string]string) {
	rt, params := match(method, path)
	if rt == nil {
		return "", nil
	}
	return rt.name(), params
}
