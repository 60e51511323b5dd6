package web

// routes lists all paths. Methods that hand out work, such as dispatch_instructions and claim_task, have none, because
// an HTTP server cannot know whether their answer has arrived.
var routes = []route{
	{verb: "GET", path: "/healthz", handle: (*server).healthz, open: true, doc: "Reports that the process answers."},
	{verb: "GET", path: "/readyz", handle: (*server).readyz, open: true, doc: "Reports whether the store can be read."},
	{verb: "GET", path: "/metrics", handle: (*server).exposeMetrics, doc: "Returns metrics in the Prometheus text format."},

	{verb: "POST", path: "/api/login", handle: (*server).login, open: true, doc: "Exchanges a one-time code for the token of one browser."},
	{verb: "POST", path: "/api/codes", handle: (*server).issue, doc: "Returns a one-time code for the fragment of a URL."},
	{verb: "GET", path: "/api/events", handle: (*server).stream, doc: "Streams the event log."},

	{verb: "GET", path: "/api/inbox", handle: (*server).inbox, everywhere: true, doc: "Returns what waits for a person."},
	{verb: "POST", path: "/api/inbox/looked", handle: (*server).looked, everywhere: true, doc: "Notes when the person looked at the inbox."},

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
	{verb: "GET", path: "/api/runs/{run_id}/receipts", method: "list_receipts"},
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
