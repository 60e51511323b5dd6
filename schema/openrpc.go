package schema

import "slices"

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
		Schemas Ordered `json:"schemas"`
		Errors  Ordered `json:"errors"`
	}
	rpcError struct {
		Code    int          `json:"code"`
		Message string       `json:"message"`
		Data    rpcErrorData `json:"data"`
	}
	rpcErrorData struct {
		Code      Code `json:"code"`
		Retryable bool `json:"retryable"`
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

// OpenRPCDocument returns the OpenRPC document of a binary of that version.
func OpenRPCDocument(version string) []byte {
	comments := typeComments()
	sent, received := describer{comments: comments}, describer{"#/components/schemas/", comments}
	doc := rpcDocument{
		OpenRPC:    "1.3.2",
		Info:       rpcInfo{"waybill", "JSON-RPC 2.0 over stdio. " + generatedBy, version},
		Components: rpcComponents{received.definitions(), rpcErrors()},
		Errors:     rpcErrorRows(),
	}
	for _, m := range Methods {
		doc.Methods = append(doc.Methods, rpcMethodOf(m, sent, received))
	}
	for _, n := range Notifications {
		doc.Notifications = append(doc.Notifications, rpcNote{n.Name, n.Doc, received.params(shapeOf(n.Params))})
	}
	return pretty(doc)
}

func rpcMethodOf(m Method, sent, received describer) rpcMethod {
	method := rpcMethod{
		Name: m.Name, Summary: m.Doc, Tags: []rpcTag{{m.Group}}, Structure: "by-name",
		Params: sent.params(shapeOf(m.Params)), Aliases: m.Aliases, Kind: m.Kind.String(),
	}
	if m.Notification {
		return method
	}
	result := compiler{}.shape(m.Result)
	method.Result = &rpcParam{Name: "result", Schema: received.node(result, rules{})}
	for _, code := range m.Errors {
		method.Errors = append(method.Errors, rpcRef{"#/components/errors/" + string(code)})
	}
	return method
}

// params describes each member of an object.
func (d describer) params(s *shape) []rpcParam {
	var params []rpcParam
	for i := range s.fields {
		f := &s.fields[i]
		params = append(params, rpcParam{
			Name: f.name, Description: f.doc, Required: !f.optional, Schema: d.node(f.shape, f.rules),
		})
	}
	return params
}

func rpcErrors() Ordered {
	var all Ordered
	for _, row := range ErrorTable {
		all = append(all, Member{string(row.Code), row.rpc()})
	}
	return all
}

func rpcErrorRows() []rpcErrorRow {
	var all []rpcErrorRow
	for _, row := range ErrorTable {
		all = append(all, rpcErrorRow{row.rpc(), row.everywhere()})
	}
	return all
}

func (row ErrorRow) rpc() rpcError {
	return rpcError{row.Number, row.Doc, rpcErrorData{row.Code, row.Retryable}}
}

// everywhere reports whether every method may return the error.
func (row ErrorRow) everywhere() bool { return slices.Contains(Everywhere, row.Code) }
