package mcp

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"waybill/api"
	"waybill/mcp/inert"
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

func (s *server) listResources(_ context.Context, r *request) (any, *conn.Fault) {
	list := &resourceList{validity: onlyNow}
	for _, each := range resources {
		list.Resources = append(list.Resources, listedResource{
			URI: each.uri, Name: each.name, Title: each.title, Description: each.doc, MIMEType: jsonType, Annotations: forBoth(each.priority),
		})
	}
	return list, onePage(r)
}

func (s *server) listTemplates(_ context.Context, r *request) (any, *conn.Fault) {
	return &templateList{validity: onlyNow, Templates: []listedResource{{
		Template: runsURI + "{run_id}", Name: "run", Title: "A run", MIMEType: jsonType, Annotations: forBoth(0.5),
		Description: "The run of one item of a plan: its state, its facts, and the receipts of its checks.",
	}}}, onePage(r)
}

func forBoth(priority float64) annotations {
	return annotations{Audience: []string{"user", "assistant"}, Priority: priority}
}

// readResource returns a resource as JSON in which untrusted text is neutralised.
func (s *server) readResource(ctx context.Context, r *request) (any, *conn.Fault) {
	p, bad := params[resourceParams](r)
	if bad != nil {
		return nil, bad
	}
	if !watchable(p.URI) {
		return nil, notFound(p.URI, r.client.era)
	}
	value, fault := s.valueOf(ctx, p.URI)
	switch {
	case fault != nil && (fault.Data.Code == schema.RunGone || fault.Data.Code == schema.InvalidParams):
		return nil, notFound(p.URI, r.client.era)
	case fault != nil:
		return nil, conn.FaultOf(fault)
	}
	text, err := codec.Encode(value)
	if err == nil {
		text, err = inert.JSON(text)
	}
	if err != nil {
		return nil, conn.FaultOf(s.caller.withIncident(api.Answer{Err: schema.NewError(schema.Internal, "the resource cannot be encoded"), Cause: err}, r.Method))
	}
	return &resourceResult{validity: onlyNow, Contents: []resourceContents{{URI: p.URI, MIMEType: jsonType, Text: string(text)}}}, nil
}

// valueOf returns the value of a resource.
func (s *server) valueOf(ctx context.Context, uri string) (any, *schema.Error) {
	for _, each := range resources {
		if each.uri == uri {
			return each.read(s, ctx)
		}
	}
	return s.readRun(ctx, strings.TrimPrefix(uri, runsURI))
}

// notFound returns the error for an unknown resource, with the code of the era.
func notFound(uri string, e era) *conn.Fault {
	fault := invalidParams("Resource not found")
	if fault.Data = (object{"uri": inert.Truncate(strings.ToValidUTF8(uri, "\uFFFD"), maxShort)}); e == legacy {
		fault.Code = codeResourceNotFound
	}
	return fault
}

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
