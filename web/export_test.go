package web

import "waybill/schema"

// A Route is what tests see of one.
type Route struct {
	Verb, Path, Method, Fixed, Doc string
	Open                           bool
}

// Routes are the routes, for the tests that compare them with other tables.
var Routes = func() (all []Route) {
	for _, r := range routes {
		all = append(all, Route{r.verb, r.path, r.method, r.fixed, r.doc, r.open})
	}
	return all
}()

// KindsOf and StatusOf are tables, too.
var (
	KindsOf                        = kindsOf
	StatusOf func(schema.Code) int = statusOf
)
