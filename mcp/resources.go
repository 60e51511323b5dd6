package mcp

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"waybill/schema"
)

// Resources are what a host can show, or put before a model, without a call: always as it is now, and as data.

// The addresses of the resources.
const (
	awaitingURI = "waybill://awaiting"
	progressURI = "waybill://ledger/progress"
	tasksURI    = "waybill://ledger/tasks"
	runsURI     = "waybill://runs/" // and the id of a run
)

const jsonType = "application/json"

// A resource is something that can be read and watched.
type resource struct {
	uri, name, title, doc string
	priority              float64
	read                  func(*server, context.Context) (any, *schema.Error)
}

var resources = []resource{
	{
		uri: awaitingURI, name: "awaiting", title: "Waiting questions", priority: 1, read: (*server).readAwaiting,
		doc: "The questions of agents that wait for a person, the oldest first.",
	},
	{
		uri: progressURI, name: "progress", title: "Plans", priority: 0.8, read: (*server).readProgress,
		doc: "The plans of the workspace, with their totals and the items that can be begun.",
	},
	{
		uri: tasksURI, name: "tasks", title: "Tasks", priority: 0.5, read: (*server).readTasks,
		doc: "The newest tasks, and how they stand.",
	},
}

// addResources adds the resources to the server.
func (s *server) addResources() {
	for _, r := range resources {
		s.sdk.AddResource(&sdk.Resource{
			URI: r.uri, Name: r.name, Title: r.title, Description: r.doc, MIMEType: jsonType, Annotations: forBoth(r.priority),
		}, func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			value, fault := r.read(s, ctx)
			return contents(req.Params.URI, value, fault)
		})
	}
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: runsURI + "{run_id}", Name: "run", Title: "A run", MIMEType: jsonType, Annotations: forBoth(0.5),
		Description: "The journey of one item of a plan: how it stands, and what is known about it.",
	}, func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		value, fault := s.readRun(ctx, strings.TrimPrefix(req.Params.URI, runsURI))
		return contents(req.Params.URI, value, fault)
	})
}

func forBoth(priority float64) *sdk.Annotations {
	return &sdk.Annotations{Audience: []sdk.Role{"user", "assistant"}, Priority: priority}
}

// contents gives what was read, as JSON in which the words of others are neutralised.
func contents(uri string, value any, fault *schema.Error) (*sdk.ReadResourceResult, error) {
	if fault != nil {
		return nil, unread(uri, fault)
	}
	text, err := schema.Encode(value)
	if err == nil {
		text, err = neutralJSON(text)
	}
	if err != nil {
		return nil, err
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: jsonType, Text: string(text)}}}, nil
}

// unread gives the error of the protocol for a resource that could not be read.
func unread(uri string, fault *schema.Error) error {
	if code := fault.Data.Code; code == schema.RunGone || code == schema.InvalidParams {
		return notFound(uri)
	}
	return wireError(fault)
}

// notFound is the error for a resource that is not there, in the era that says so with the code of wrong params.
func notFound(uri string) *jsonrpc.Error {
	data, err := schema.Encode(object{"uri": clip(strings.ToValidUTF8(uri, "\uFFFD"), maxSaid)})
	if err != nil {
		data = nil
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: missing, Data: data}
}

// missing is how the SDK and we say that a resource is not there.
const missing = "Resource not found"

func (s *server) readAwaiting(ctx context.Context) (any, *schema.Error) {
	var r schema.AwaitingList
	fault := s.caller.call(ctx, "list_awaiting", object{"limit": 50}, &r)
	return r, fault
}

func (s *server) readTasks(ctx context.Context) (any, *schema.Error) {
	var r schema.TaskList
	fault := s.caller.call(ctx, "list_tasks", object{"limit": 50, "order": "newest"}, &r)
	return r, fault
}

// A planState is a plan with what can be begun in it.
type planState struct {
	schema.PlanSummary
	Ready      []string `json:"ready"`
	ReadyTotal int      `json:"ready_total"`
	Completed  bool     `json:"completed"`
}

// readProgress gives the plans. One that cannot be read says why, and keeps no other from being told of.
func (s *server) readProgress(ctx context.Context) (any, *schema.Error) {
	var list schema.PlanList
	if fault := s.caller.call(ctx, "list_plans", object{}, &list); fault != nil {
		return nil, fault
	}
	out := struct {
		Plans []planState `json:"plans"`
		Total int         `json:"plans_total"`
	}{Total: len(list.Items)}
	for _, p := range list.Items[:min(len(list.Items), maxPlans)] {
		var r schema.ReadyItems
		if fault := s.caller.call(ctx, "ready_items", object{"plan": p.Plan}, &r); fault != nil && ctx.Err() != nil {
			return nil, fault
		}
		out.Plans = append(out.Plans, planState{p, r.Ready, r.ReadyTotal, r.Completed})
	}
	return out, nil
}

// readRun gives a run with its ledgers.
func (s *server) readRun(ctx context.Context, id string) (any, *schema.Error) {
	var list schema.RunList
	if fault := s.caller.call(ctx, "list_runs", object{"run_id": id}, &list); fault != nil {
		return nil, fault
	}
	if len(list.Items) == 0 {
		return nil, schema.NewError(schema.RunGone, "no run has this id")
	}
	var ledgers jsontext.Value
	if fault := s.caller.call(ctx, "get_ledger", object{"run_id": id}, &ledgers); fault != nil {
		return nil, fault
	}
	return object{"run": list.Items[0], "ledgers": ledgers}, nil
}
