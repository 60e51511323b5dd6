package gen

import (
	"slices"

	"waybill/schema"
	"waybill/schema/codec"
	"waybill/schema/shape"
)

// The OpenRPC 1.3 document. It has no member for notifications of a server, which are in x-notifications.
type (
	rpcDocument struct {
		OpenRPC       string        `json:"openrpc"`
		Info          rpcInfo       `json:"info"`
		Methods       []rpcMethod   `json:"methods"`
		Components    rpcComponents `json:"components"`
		Notifications []rpcNote     `json:"x-notifications"`
		Errors        []rpcErrorRow `json:"x-errors"`
	}
	rpcInfo struct {
		Title       string `json:"title"`
		Description string `json:"description"`
		Version     string `json:"version"`
	}
	// A method without a result is a notification that the host sends.
	rpcMethod struct {
		Name      string     `json:"name"`
		Summary   string     `json:"summary"`
		Tags      []rpcTag   `json:"tags"`
		Structure string     `json:"paramStructure"`
		Params    []rpcParam `json:"params"`
		Result    *rpcParam  `json:"result,omitzero"`
		Errors    []rpcRef   `json:"errors,omitzero"`
		Aliases   []string   `json:"x-aliases,omitzero"`
		Kind      string     `json:"x-kind"`
	}
	rpcTag struct {
		Name string `json:"name"`
	}
	rpcParam struct {
		Name        string `json:"name"`
		Description string `json:"description,omitzero"`
		Required    bool   `json:"required,omitzero"`
		Schema      *node  `json:"schema"`
	}
	rpcRef struct {
		Ref string `json:"$ref"`
	}
	rpcComponents struct {
		Schemas codec.Ordered `json:"schemas"`
		Errors  codec.Ordered `json:"errors"`
	}
	rpcError struct {
		Code    int          `json:"code"`
		Message string       `json:"message"`
		Data    rpcErrorData `json:"data"`
	}
	rpcErrorData struct {
		Code      schema.Code `json:"code"`
		Retryable bool        `json:"retryable"`
	}
	rpcErrorRow struct {
		rpcError
		Everywhere bool `json:"everywhere" doc:"whether every method may answer it"`
	}
	rpcNote struct {
		Name    string     `json:"name"`
		Summary string     `json:"summary"`
		Params  []rpcParam `json:"params"`
	}
)

// OpenRPC returns the OpenRPC document of a binary of that version.
func OpenRPC(version string) []byte {
	comments := typeComments()
	sent, received := describer{comments: comments}, describer{"#/components/schemas/", comments}
	doc := rpcDocument{
		OpenRPC:    "1.3.2",
		Info:       rpcInfo{"waybill", "JSON-RPC 2.0 over stdio. " + generatedBy, version},
		Components: rpcComponents{received.definitions(), rpcErrors()},
		Errors:     rpcErrorRows(),
	}
	for _, m := range schema.Methods {
		doc.Methods = append(doc.Methods, rpcMethodOf(m, sent, received))
	}
	for _, n := range schema.Notifications {
		doc.Notifications = append(doc.Notifications, rpcNote{n.Name, n.Doc, received.params(shape.Of(n.Params))})
	}
	return pretty(doc)
}

func rpcMethodOf(m schema.Method, sent, received describer) rpcMethod {
	method := rpcMethod{
		Name: m.Name, Summary: m.Doc, Tags: []rpcTag{{m.Group}}, Structure: "by-name",
		Params: sent.params(shape.Of(m.Params)), Aliases: m.Aliases, Kind: m.Kind.String(),
	}
	if m.Notification {
		return method
	}
	result := shape.Of(m.Result)
	method.Result = &rpcParam{Name: "result", Schema: received.node(result, shape.Rules{})}
	for _, code := range m.Errors {
		method.Errors = append(method.Errors, rpcRef{"#/components/errors/" + string(code)})
	}
	return method
}

// params describes each member of an object.
func (d describer) params(s *shape.Shape) []rpcParam {
	var params []rpcParam
	for i := range s.Fields {
		f := &s.Fields[i]
		params = append(params, rpcParam{
			Name: f.Name, Description: f.Doc, Required: !f.Optional, Schema: d.node(f.Shape, f.Rules),
		})
	}
	return params
}

func rpcErrors() codec.Ordered {
	var all codec.Ordered
	for _, row := range schema.ErrorTable {
		all.Put(string(row.Code), rpcErrorOf(row))
	}
	return all
}

func rpcErrorRows() []rpcErrorRow {
	var all []rpcErrorRow
	for _, row := range schema.ErrorTable {
		all = append(all, rpcErrorRow{rpcErrorOf(row), everywhere(row)})
	}
	return all
}

func rpcErrorOf(row schema.ErrorRow) rpcError {
	return rpcError{row.Number, row.Doc, rpcErrorData{row.Code, row.Retryable}}
}

// everywhere reports whether every method may return the error.
func everywhere(row schema.ErrorRow) bool { return slices.Contains(schema.Everywhere, row.Code) }
