package web

import (
	"net/http"
	"net/url"
	"strings"

	"waybill/internal/lazy"
	"waybill/schema"
)

// A route is a verb and a path. A part of the path in braces is a param of the method.
type route struct {
	verb, path string
	method     string // of the table; "" if handle answers
	fixed      string // params that the route sets, as JSON members
	handle     func(s *server, req *request)
	open       bool // needs no token
	page       bool // a link of another origin may open it
	everywhere bool // needs Options.Workspaces
	doc        string
}

// goneCodes maps params of a path to the error for a value that cannot be an id.
var goneCodes = lazy.Value[map[string]schema.Code]{Of: func() map[string]schema.Code {
	return map[string]schema.Code{
		"task_id": schema.TaskGone, "run_id": schema.RunGone, "instruction_id": schema.InstructionGone,
	}
}}

// find returns the route for a path and a verb, with the params of the path. It neither cleans nor redirects paths.
func find(routes []route, verb, path string) (*route, []pathParam, *schema.Error) {
	parts := strings.Split(path, "/")
	var allow []string
	for i := range routes {
		args, ok := routes[i].match(parts)
		switch {
		case !ok:
		case routes[i].verb == verb:
			return &routes[i], args, refuseImpossibleIDs(args)
		default:
			allow = append(allow, routes[i].verb)
		}
	}
	if allow == nil {
		return nil, nil, nothingThere()
	}
	return nil, nil, wrongVerb(allow)
}

func nothingThere() *schema.Error {
	return schema.NewError(schema.MethodNotFound, "there is nothing at this path").Hint("docs/http.md lists the paths")
}

func wrongVerb(allow []string) *schema.Error {
	return schema.NewError(schema.WrongVerb, "the path does not take this verb; it takes "+strings.Join(allow, ", ")).
		With("allow", allow)
}

// match reports whether the parts of a path match the route, and returns the params.
func (r *route) match(parts []string) (args []pathParam, ok bool) {
	wanted := strings.Split(r.path, "/")
	if len(wanted) != len(parts) {
		return nil, false
	}
	for i, part := range parts {
		name, isParam := strings.CutPrefix(wanted[i], "{")
		if !isParam {
			if part != wanted[i] {
				return nil, false
			}
			continue
		}
		value, err := url.PathUnescape(part)
		if err != nil || value == "" {
			return nil, false
		}
		args = append(args, pathParam{strings.TrimSuffix(name, "}"), value})
	}
	return args, true
}

// refuseImpossibleIDs returns an error for a path with an invalid id.
func refuseImpossibleIDs(args []pathParam) *schema.Error {
	for _, a := range args {
		if code, isID := goneCodes.Get()[a.name]; isID && !schema.IsID(a.value) {
			return schema.NewError(code, a.name+" in the path is not a valid id")
		}
	}
	return nil
}

// takesBody reports whether requests have their params in a body.
func (r *route) takesBody() bool { return r.verb == http.MethodPost }
