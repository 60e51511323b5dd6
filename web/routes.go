package web

import (
	"net/http"
	"net/url"
	"strings"

	"waybill/schema"
)

// A route is a path that takes one verb. A part of its path in braces is a param of the method, by its name.
type route struct {
	verb, path string
	method     string // of the table; "" for what is carried out here
	fixed      string // params that the route sets, as JSON members
	do         func(s *server, v *visit)
	open       bool // no token is asked for
	shell      bool // it is what a person goes to, from wherever they are
	doc        string
}

// routes are all there is. What hands work out, as dispatch_instructions and claim_task do, is not there: it has
// to be known whether such an answer has arrived, and over HTTP it is not.
var routes = []route{
	{verb: "GET", path: "/healthz", do: (*server).healthz, open: true, doc: "Says that the process answers."},
	{verb: "GET", path: "/readyz", do: (*server).readyz, open: true, doc: "Says whether the store can be read."},
	{verb: "GET", path: "/metrics", do: (*server).metrics, doc: "Gives counts and sizes in the text format of Prometheus."},

	{verb: "POST", path: "/api/login", do: (*server).login, open: true, doc: "Exchanges a one-time code for a token that one browser has."},
	{verb: "POST", path: "/api/codes", do: (*server).issue, doc: "Gives a one-time code, to be handed to a browser behind the `#` of a URL."},
	{verb: "GET", path: "/api/events", do: (*server).stream, doc: "Streams the event log."},
	{verb: "POST", path: "/api/markdown", do: (*server).markdown, doc: "Gives the markup of a text as a tree of nodes."},

	{verb: "GET", path: "/api/status", method: "get_status"},
	{verb: "GET", path: "/api/openrpc", method: "rpc.discover"},

	{verb: "GET", path: "/api/tasks", method: "list_tasks"},
	{verb: "GET", path: "/api/tasks/{task_id}", method: "get_task"},
	{verb: "GET", path: "/api/tasks/{task_id}/timeline", method: "get_timeline"},
	{verb: "POST", path: "/api/tasks/{task_id}/reply", method: "reply"},
	{verb: "POST", path: "/api/tasks/{task_id}/retry", method: "retry_task"},
	{verb: "POST", path: "/api/tasks/{task_id}/cancel", method: "cancel_task"},
	{verb: "GET", path: "/api/awaiting", method: "list_awaiting"},

	{verb: "GET", path: "/api/instructions", method: "list_instructions"},
	{verb: "GET", path: "/api/instructions/failed", method: "get_failed_instructions"},
	{verb: "GET", path: "/api/instructions/{instruction_id}", method: "list_instructions"},
	{verb: "POST", path: "/api/instructions", method: "queue_instruction_with_ack"},
	{verb: "POST", path: "/api/instructions/cancel", method: "cancel_instruction"},
	{verb: "POST", path: "/api/instructions/{instruction_id}/cancel", method: "cancel_instruction"},

	{verb: "GET", path: "/api/plans", method: "list_plans"},
	{verb: "GET", path: "/api/plans/{plan}", method: "get_plan"},
	{verb: "GET", path: "/api/plans/{plan}/ready", method: "ready_items"},
	{verb: "POST", path: "/api/plans/{plan}/items/{item_id}/status", method: "set_item_status"},
	{verb: "GET", path: "/api/plans/{plan}/items/{item_id}/run", method: "resume_run"},
	{verb: "POST", path: "/api/plans/{plan}/items/{item_id}/run", method: "init_run"},

	{verb: "GET", path: "/api/runs", method: "list_runs"},
	{verb: "GET", path: "/api/runs/{run_id}", method: "get_snapshot"},
	{verb: "GET", path: "/api/runs/{run_id}/ledger", method: "get_ledger"},
	{verb: "GET", path: "/api/runs/{run_id}/telemetry", method: "get_telemetry"},
	{verb: "POST", path: "/api/runs/{run_id}/prompt", method: "compile_prompt", fixed: `"preview":true`},
	{verb: "POST", path: "/api/runs/{run_id}/replan", method: "replan"},
	{verb: "GET", path: "/api/telemetry", method: "get_telemetry"},

	{verb: "GET", path: "/api/log", method: "events_since"},
	{verb: "GET", path: "/api/notices", method: "list_notices", fixed: `"peek":true`},
	{verb: "POST", path: "/api/notices/consume", method: "consume_notices"},
	{verb: "GET", path: "/api/explain", method: "explain"},
}

// nobody is what is not there when a part of a path cannot be an id at all.
var nobody = map[string]schema.Code{
	"task_id": schema.TaskGone, "run_id": schema.RunGone, "instruction_id": schema.InstructionGone,
}

// An arg is a param that the path gives.
type arg struct{ name, value string }

// find gives the route for a path and a verb, with the params that are in the path. Paths are taken as they are:
// none is cleaned, and nobody is sent from one to another.
func find(verb string, path *url.URL) (*route, []arg, *schema.Error) {
	parts := strings.Split(path.EscapedPath(), "/")
	var allow []string
	for i := range routes {
		args, ok := routes[i].match(parts)
		switch {
		case !ok:
		case routes[i].verb == verb:
			return &routes[i], args, strangers(args)
		default:
			allow = append(allow, routes[i].verb)
		}
	}
	if allow == nil {
		return nil, nil, schema.NewError(schema.MethodNotFound, "there is nothing at this path").
			Hint("docs/http.md lists the paths")
	}
	return nil, nil, wrongVerb(allow)
}

func wrongVerb(allow []string) *schema.Error {
	return schema.NewError(schema.WrongVerb, "the path does not take this verb; it takes "+strings.Join(allow, ", ")).
		With("allow", allow)
}

// match compares a path part by part.
func (r *route) match(parts []string) (args []arg, ok bool) {
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
		args = append(args, arg{strings.TrimSuffix(name, "}"), value})
	}
	return args, true
}

// strangers refuses a path with an id that nothing can have.
func strangers(args []arg) *schema.Error {
	for _, a := range args {
		if code, isID := nobody[a.name]; isID && !looksLikeID(a.value) {
			return schema.NewError(code, a.name+" in the path is no id, so nothing has it")
		}
	}
	return nil
}

// looksLikeID reports whether an id can be spelt so.
func looksLikeID(s string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-"
	return s != "" && len(s) <= 128 && strings.Trim(s, letters) == ""
}

// takesBody reports whether requests bring params in a body.
func (r *route) takesBody() bool { return r.verb == http.MethodPost }
