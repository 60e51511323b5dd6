package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"waybill/schema"
)

// A tool is a method as a model is shown it.
type tool struct {
	name, title string
	doc         string // the first sentence says when to use it
	params      []param
	idempotent  bool // the same arguments again change nothing more, whatever they are
	// run carries a call out.
	run func(*server, *call) (facts, *schema.Error)
}

// A call is one call of a tool.
type call struct {
	ctx    context.Context
	req    *sdk.CallToolRequest
	args   args
	params object // for the method
}

var tools = []tool{
	{
		name: "acknowledge", title: "Acknowledge an instruction", idempotent: true,
		doc:    "Use when you have carried out a tracked instruction from dispatch_instructions; until then it is sent again, and fails in the end. Instruction ids stay valid.",
		params: []param{{name: "instruction_id"}},
		run:    (*server).acknowledge,
	},
}

// addTool adds a tool to the server.
func (s *server) addTool(t *tool) {
	m, no := s.declared(t.name), false
	s.sdk.AddTool(&sdk.Tool{
		Name: t.name, Title: t.title, Description: t.doc, InputSchema: input(m, t.params),
		Annotations: &sdk.ToolAnnotations{
			Title: t.title, ReadOnlyHint: m.Kind == schema.Read, IdempotentHint: t.idempotent || m.Kind == schema.Read,
			DestructiveHint: &no, OpenWorldHint: &no,
		},
	}, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return s.use(ctx, t, req)
	})
}

// declared gives the declaration of a method.
func (s *server) declared(name string) schema.Method {
	for _, m := range schema.Methods {
		if m.Name == name {
			return m
		}
	}
	panic("mcp: no method is called " + name)
}

// use carries out one call of a tool. What the model can put right is told to the model; a defect is told to the host.
func (s *server) use(ctx context.Context, t *tool, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	a, fault := t.read(req.Params.Arguments)
	if fault != nil {
		return refusal(fault), nil
	}
	f, fault := t.run(s, &call{ctx: ctx, req: req, args: a, params: t.arrange(a)})
	switch {
	case fault == nil:
		return s.shelf.result(f), nil
	case fault.Data.Code == schema.Internal:
		return nil, wireError(fault)
	}
	return refusal(t.asArguments(fault)), nil
}
