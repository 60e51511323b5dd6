package mcp

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"waybill/api"
	"waybill/mcp/inert"
	"waybill/mcp/message"
	"waybill/mcp/tool"
	"waybill/schema"
	"waybill/schema/codec"
	"waybill/wire/conn"
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
	read                  func(context.Context, *tool.Caller) (any, *schema.Error)
}

var resources = []resource{
	{
		uri: awaitingURI, name: "awaiting", title: "Waiting questions", priority: 1, read: readAwaiting,
		doc: "The questions of agents that wait for a person, the oldest first.",
	},
	{
		uri: progressURI, name: "progress", title: "Plans", priority: 0.8, read: readProgress,
		doc: "The plans of the workspace, with their totals and the items that can begin.",
	},
	{
		uri: tasksURI, name: "tasks", title: "Tasks", priority: 0.5, read: readTasks,
		doc: "The newest tasks with their status.",
	},
}

func (s *server) listResources(_ context.Context, r *request) (any, *conn.Fault) {
	list := &message.ResourceList{Validity: message.OnlyNow}
	for _, each := range resources {
		list.Resources = append(list.Resources, message.ListedResource{
			URI: each.uri, Name: each.name, Title: each.title, Description: each.doc, MIMEType: jsonType, Annotations: forBoth(each.priority),
		})
	}
	return list, onePage(r)
}

func (s *server) listTemplates(_ context.Context, r *request) (any, *conn.Fault) {
	return &message.TemplateList{Validity: message.OnlyNow, Templates: []message.ListedResource{{
		Template: runsURI + "{run_id}", Name: "run", Title: "A run", MIMEType: jsonType, Annotations: forBoth(0.5),
		Description: "The run of one item of a plan: its state, its facts, and the receipts of its checks.",
	}}}, onePage(r)
}

func forBoth(priority float64) message.Annotations {
	return message.Annotations{Audience: []string{"user", "assistant"}, Priority: priority}
}

// readResource returns a resource as JSON in which untrusted text is neutralised.
func (s *server) readResource(ctx context.Context, r *request) (any, *conn.Fault) {
	p, bad := params[message.ResourceParams](r)
	if bad != nil {
		return nil, bad
	}
	if !watchable(p.URI) {
		return nil, notFound(p.URI, r.client)
	}
	value, fault := s.valueOf(ctx, p.URI)
	switch {
	case fault != nil && (fault.Data.Code == schema.RunGone || fault.Data.Code == schema.InvalidParams):
		return nil, notFound(p.URI, r.client)
	case fault != nil:
		return nil, conn.FaultOf(fault)
	}
	text, err := codec.Encode(value)
	if err == nil {
		text, err = inert.JSON(text)
	}
	if err != nil {
		return nil, conn.FaultOf(s.tools.Caller.WithIncident(api.Answer{Err: schema.NewError(schema.Internal, "the resource cannot be encoded"), Cause: err}, r.Method))
	}
	return &message.ResourceResult{Validity: message.OnlyNow, Contents: []message.ResourceContents{{URI: p.URI, MIMEType: jsonType, Text: string(text)}}}, nil
}

// valueOf returns the value of a resource.
func (s *server) valueOf(ctx context.Context, uri string) (any, *schema.Error) {
	for _, each := range resources {
		if each.uri == uri {
			return each.read(ctx, s.tools.Caller)
		}
	}
	return readRun(ctx, s.tools.Caller, strings.TrimPrefix(uri, runsURI))
}

// notFound returns the error for an unknown resource, with the code of the era.
func notFound(uri string, by *tool.Client) *conn.Fault {
	fault := invalidParams("Resource not found")
	if fault.Data = (map[string]any{"uri": inert.Truncate(strings.ToValidUTF8(uri, "\uFFFD"), 1<<10)}); !by.Modern {
		fault.Code = message.CodeResourceNotFound
	}
	return fault
}

func readAwaiting(ctx context.Context, c *tool.Caller) (any, *schema.Error) {
	var r schema.AwaitingList
	fault := c.Call(ctx, "list_awaiting", map[string]any{"limit": 50}, &r)
	return r, fault
}

func readTasks(ctx context.Context, c *tool.Caller) (any, *schema.Error) {
	var r schema.TaskList
	fault := c.Call(ctx, "list_tasks", map[string]any{"limit": 50, "order": "newest"}, &r)
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
func readProgress(ctx context.Context, c *tool.Caller) (any, *schema.Error) {
	var list schema.PlanList
	if fault := c.Call(ctx, "list_plans", map[string]any{}, &list); fault != nil {
		return nil, fault
	}
	out := struct {
		Plans []planState `json:"plans"`
		Total int         `json:"plans_total"`
	}{Total: len(list.Items)}
	for _, p := range list.Items[:min(len(list.Items), tool.MaxPlans)] {
		var r schema.ReadyItems
		if fault := c.Call(ctx, "ready_items", map[string]any{"plan": p.Plan}, &r); fault != nil && ctx.Err() != nil {
			return nil, fault
		}
		out.Plans = append(out.Plans, planState{p, r.Ready, r.ReadyTotal, r.Completed})
	}
	return out, nil
}

// readRun returns a run with its ledgers.
func readRun(ctx context.Context, c *tool.Caller, id string) (any, *schema.Error) {
	var list schema.RunList
	if fault := c.Call(ctx, "list_runs", map[string]any{"run_id": id}, &list); fault != nil {
		return nil, fault
	}
	if len(list.Items) == 0 {
		return nil, schema.NewError(schema.RunGone, "no run has this id")
	}
	var ledgers jsontext.Value
	if fault := c.Call(ctx, "get_ledger", map[string]any{"run_id": id}, &ledgers); fault != nil {
		return nil, fault
	}
	var receipts schema.ReceiptList
	if fault := c.Call(ctx, "list_receipts", map[string]any{"run_id": id, "limit": schema.MaxPage}, &receipts); fault != nil {
		return nil, fault
	}
	view := map[string]any{"run": list.Items[0], "ledgers": ledgers, "receipts": receipts.Items}
	if receipts.NextCursor != "" {
		view["receipts_next_cursor"] = receipts.NextCursor
	}
	return view, nil
}
