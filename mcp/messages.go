package mcp

import (
	"github.com/go-json-experiment/json/jsontext"

	"waybill/wire/conn"
)

// This file has the messages of the protocol that the server uses, as they are on the wire.

// versions lists the versions of the protocol that the server speaks, the newest first.
var versions = []string{firstModern, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// firstModern is the first version without a handshake. From it on every request names its version, and a result asks
// for a form; before, the server sends a request.
const firstModern = "2026-07-28"

// An implementation names a client or a server.
type implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitzero"`
	Version string `json:"version,omitzero"`
}

// clientCapabilities are the capabilities of a client that the server uses.
type clientCapabilities struct {
	Elicitation *struct {
		Form jsontext.Value `json:"form"`
		URL  jsontext.Value `json:"url"`
	} `json:"elicitation"`
}

// hasForms reports whether the client can show a form. A client that lists no elicitation modes can.
func (c *clientCapabilities) hasForms() bool {
	return c.Elicitation != nil && (present(c.Elicitation.Form) || !present(c.Elicitation.URL))
}

// present reports whether a member is there and not null.
func present(value jsontext.Value) bool { return len(value) > 0 && value.Kind() != 'n' }

// serverCapabilities are the capabilities of the server.
type serverCapabilities struct {
	Tools     struct{} `json:"tools"`
	Prompts   struct{} `json:"prompts"`
	Resources struct {
		Subscribe bool `json:"subscribe"`
	} `json:"resources"`
}

// A head is the part of a result that the modern era adds.
type head struct {
	ResultType string `json:"resultType,omitzero"`
	Meta       meta   `json:"_meta,omitzero"`
}

type meta struct {
	ServerInfo   *implementation `json:"io.modelcontextprotocol/serverInfo,omitzero"`
	Subscription jsontext.Value  `json:"io.modelcontextprotocol/subscriptionId,omitzero"` // the id of its request
}

// set sets the type of the result and the name of the server.
func (h *head) set(resultType string, server *implementation) {
	if h.ResultType == "" {
		h.ResultType = resultType
	}
	h.Meta.ServerInfo = server
}

// A validity says that a result is private and valid only now.
type validity struct {
	TTLMs int    `json:"ttlMs"`
	Scope string `json:"cacheScope"`
}

var onlyNow = validity{Scope: "private"}

type initializeParams struct {
	Version      string             `json:"protocolVersion"`
	Capabilities clientCapabilities `json:"capabilities"`
	Client       implementation     `json:"clientInfo"`
}

type initializeResult struct {
	Version      string             `json:"protocolVersion"`
	Capabilities serverCapabilities `json:"capabilities"`
	Server       *implementation    `json:"serverInfo"`
	Instructions string             `json:"instructions"`
}

type discoverResult struct {
	head
	validity
	Versions     []string           `json:"supportedVersions"`
	Capabilities serverCapabilities `json:"capabilities"`
	Instructions string             `json:"instructions"`
}

// An emptyResult is the result of a method that has none.
type emptyResult struct{}

// listParams are the params of every list. All lists are one page.
type listParams struct {
	Cursor string `json:"cursor"`
}

type toolList struct {
	head
	validity
	Tools []listedTool `json:"tools"`
}

type listedTool struct {
	Name        string         `json:"name"`
	Title       string         `json:"title"`
	Description string         `json:"description"`
	InputSchema jsontext.Value `json:"inputSchema"`
	Annotations toolHints      `json:"annotations"`
}

type toolHints struct {
	Title       string `json:"title"`
	ReadOnly    bool   `json:"readOnlyHint"`
	Destructive bool   `json:"destructiveHint"`
	Idempotent  bool   `json:"idempotentHint"`
	OpenWorld   bool   `json:"openWorldHint"`
}

type toolParams struct {
	Name           string                    `json:"name"`
	Arguments      jsontext.Value            `json:"arguments"`
	InputResponses map[string]jsontext.Value `json:"inputResponses"`
	RequestState   string                    `json:"requestState"`
}

type toolResult struct {
	head
	Content       []text          `json:"content"`
	Structured    facts           `json:"structuredContent,omitzero"`
	IsError       bool            `json:"isError,omitzero"`
	InputRequests map[string]form `json:"inputRequests,omitzero"`
	RequestState  string          `json:"requestState,omitzero"`
}

// A text is content for a model.
type text struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func textOf(content string) text { return text{"text", content} }

// A form is a request to show a form to a person, as it is in a result.
type form struct {
	Method string     `json:"method"`
	Params formParams `json:"params"`
}

type formParams struct {
	Mode    string         `json:"mode"`
	Message string         `json:"message"`
	Schema  jsontext.Value `json:"requestedSchema"`
}

// A formResult is what became of a form.
type formResult struct {
	Action  string `json:"action"`
	Content struct {
		Reply jsontext.Value `json:"reply"`
	} `json:"content"`
}

type resourceList struct {
	head
	validity
	Resources []listedResource `json:"resources"`
}

type templateList struct {
	head
	validity
	Templates []listedResource `json:"resourceTemplates"`
}

// A listedResource is a resource, which has an address, or a template of resources, which has a template.
type listedResource struct {
	URI         string      `json:"uri,omitzero"`
	Template    string      `json:"uriTemplate,omitzero"`
	Name        string      `json:"name"`
	Title       string      `json:"title"`
	Description string      `json:"description"`
	MIMEType    string      `json:"mimeType"`
	Annotations annotations `json:"annotations"`
}

type annotations struct {
	Audience []string `json:"audience"`
	Priority float64  `json:"priority"`
}

type resourceParams struct {
	URI string `json:"uri"`
}

type resourceResult struct {
	head
	validity
	Contents []resourceContents `json:"contents"`
}

type resourceContents struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType"`
	Text     string `json:"text"`
}

type listenParams struct {
	Notifications *subscriptions `json:"notifications"`
}

// subscriptions are the subscriptions that a host can have; its lists never change.
type subscriptions struct {
	Resources []string `json:"resourceSubscriptions,omitempty"`
}

type listenResult struct{ head }

type acknowledgement struct {
	Meta          meta          `json:"_meta"`
	Notifications subscriptions `json:"notifications"`
}

type resourceUpdate struct {
	Meta meta   `json:"_meta,omitzero"`
	URI  string `json:"uri"`
}

type promptList struct {
	head
	validity
	Prompts []listedPrompt `json:"prompts"`
}

type listedPrompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Arguments   []promptArgument `json:"arguments,omitempty"`
}

type promptArgument struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type promptParams struct {
	Name      string            `json:"name"`
	Arguments map[string]string `json:"arguments"`
}

type promptResult struct {
	head
	Messages []promptMessage `json:"messages"`
}

type promptMessage struct {
	Role    string `json:"role"`
	Content text   `json:"content"`
}

// These are the codes of the protocol's errors.
const (
	codeInvalidRequest     = -32600
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeUnsupportedVersion = -32022
	codeResourceNotFound   = -32002 // in the legacy era
)

func methodNotFound(method string) *conn.Fault {
	return &conn.Fault{Code: codeMethodNotFound, Message: "method not found: " + quote(method)}
}

func invalidParams(message string) *conn.Fault {
	return &conn.Fault{Code: codeInvalidParams, Message: message}
}
