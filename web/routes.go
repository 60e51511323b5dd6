package web

import (
	"net/http"
	"net/url"
	"strings"

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
	doc        string
}

// routes lists all paths. Methods that hand out work, such as dispatch_instructions and claim_task, have none, because
// an HTTP server cannot know whether their answer has arrived.
var routes = []route{
	{verb: "GET", path: "/healthz", handle: (*server).healthz, open: true, doc: "Reports that the process answers."},
	{verb: "GET", path: "/readyz", handle: (*server).readyz, open: true, doc: "Reports whether the store can be read."},
	{verb: "GET", path: "/metrics", handle: (*server).metrics, doc: "Returns metrics in the Prometheus text format."},

	{verb: "POST", path: "/api/login", handle: (*server).login, open: true, doc: "Exchanges a one-time code for the token of one browser."},
	{verb: "POST", path: "/api/codes", handle: (*server).issue, doc: "Returns a one-time code for the fragment of a URL."},
	{verb: "GET", path: "/api/events", handle: (*server).stream, doc: "Streams the event log."},
	{verb: "POST", path: "/api/markdown", handle: (*server).markdown, doc: "Parses Markdown and returns a tree of nodes."},

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
	{verb: "POST", path: "/api/runs/{run_id}/unblock", method: "unblock_run"},
	{verb: "GET", path: "/api/telemetry", method: "get_telemetry"},

	{verb: "GET", path: "/api/log", method: "events_since"},
	{verb: "GET", path: "/api/notices", method: "list_notices", fixed: `"peek":true`},
	{verb: "POST", path: "/api/notices/consume", method: "consume_notices"},
	{verb: "GET", path: "/api/explain", method: "explain"},
}

// goneCodes maps params of a path to the error for a value that cannot be an id.
var goneCodes = map[string]schema.Code{
	"task_id": schema.TaskGone, "run_id": schema.RunGone, "instruction_id": schema.InstructionGone,
}

// A pathParam is a param of the path.
type pathParam struct{ name, value string }

// find returns the route for a path and a verb, with the params of the path. It neither cleans nor redirects paths.
func find(verb string, path *url.URL) (*route, []pathParam, *schema.Error) {
	parts := strings.Split(path.EscapedPath(), "/")
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
		return nil, nil, schema.NewError(schema.MethodNotFound, "there is nothing at this path").
			Hint("docs/http.md lists the paths")
	}
	return nil, nil, wrongVerb(allow)
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
		if code, isID := goneCodes[a.name]; isID && !isPossibleID(a.value) {
			return schema.NewError(code, a.name+" in the path is not a valid id")
		}
	}
	return nil
}

// isPossibleID reports whether a string has the form of an id.
func isPossibleID(s string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-"
	return s != "" && len(s) <= 128 && strings.Trim(s, letters) == ""
}

// takesBody reports whether requests have their params in a body.
func (r *route) takesBody() bool { return r.verb == http.MethodPost }
