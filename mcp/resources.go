package mcp

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"waybill/mcp/inert"
	"waybill/schema"
	"waybill/schema/codec"
)

// This file has the resources, which a host can show or pass to a model without a call. They are always current.

// These are the addresses of the resources.
const (
	awaitingURI = "waybill://awaiting"
	progressURI = "waybill://ledger/progress"
	tasksURI    = "waybill://ledger/tasks"
	runsURI     = "waybill://runs/" // followed by the id of a run
)

const jsonType = "application/json"

// A resource is a document that a host can read and watch.
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
		doc: "The plans of the workspace, with their totals and the items that can begin.",
	},
	{
		uri: tasksURI, name: "tasks", title: "Tasks", priority: 0.5, read: (*server).readTasks,
		doc: "The newest tasks with their status.",
	},
}

// addResources registers the resources with the SDK.
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
		Description: "The run of one item of a plan: its state, its facts, and the receipts of its checks.",
	}, func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		value, fault := s.readRun(ctx, strings.TrimPrefix(req.Params.URI, runsURI))
		return contents(req.Params.URI, value, fault)
	})
}

func forBoth(priority float64) *sdk.Annotations {
	return &sdk.Annotations{Audience: []sdk.Role{"user", "assistant"}, Priority: priority}
}

// contents returns a value as JSON in which untrusted text is neutralised.
func contents(uri string, value any, fault *schema.Error) (*sdk.ReadResourceResult, error) {
	if fault != nil {
		return nil, resourceError(uri, fault)
	}
	text, err := codec.Encode(value)
	if err == nil {
		text, err = inert.JSON(text)
	}
	if err != nil {
		return nil, err
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: jsonType, Text: string(text)}}}, nil
}

// resourceError returns the protocol's error for a resource that cannot be read.
func resourceError(uri string, fault *schema.Error) error {
	if code := fault.Data.Code; code == schema.RunGone || code == schema.InvalidParams {
		return notFound(uri)
	}
	return wireError(fault)
}

// notFound returns the error for an unknown resource, with the code of the modern era.
func notFound(uri string) *jsonrpc.Error {
	data, err := codec.Encode(object{"uri": inert.Truncate(strings.ToValidUTF8(uri, "\uFFFD"), maxShort)})
	if err != nil {
		data = nil
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: resourceNotFound, Data: data}
}

// resourceNotFound is the message for an unknown resource; the SDK uses the same.
const resourceNotFound = "Resource not found"

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

// A planState is a plan with its ready items.
type planState struct {
	schema.PlanSummary
	Ready      []string `json:"ready"`
	ReadyTotal int      `json:"ready_total"`
	Completed  bool     `json:"completed"`
}

// readProgress returns the plans. A plan that cannot be read carries its error and does not hide the others.
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

// readRun returns a run with its ledgers.
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
	var receipts schema.ReceiptList
	if fault := s.caller.call(ctx, "list_receipts", object{"run_id": id, "limit": schema.MaxPage}, &receipts); fault != nil {
		return nil, fault
	}
	journey := object{"run": list.Items[0], "ledgers": ledgers, "receipts": receipts.Items}
	if receipts.NextCursor != "" {
		journey["receipts_next_cursor"] = receipts.NextCursor
	}
	return journey, nil
}
