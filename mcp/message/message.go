// Package message declares the messages of the Model Context Protocol that the server uses, as they are on the wire.
//
// It knows no tool and no connection.
package message

import (
	"github.com/go-json-experiment/json/jsontext"
)

// Versions lists the versions of the protocol that the server speaks, the newest first.
var Versions = []string{FirstModern, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// FirstModern is the first version without a handshake. From it on every request names its version, and a result asks
// for a form; before, the server sends a request.
const FirstModern = "2026-07-28"

// An Implementation names a client or a server.
type Implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitzero"`
	Version string `json:"version,omitzero"`
}

// ClientCapabilities are the capabilities of a client that the server uses.
type ClientCapabilities struct {
	Elicitation *struct {
		Form jsontext.Value `json:"form"`
		URL  jsontext.Value `json:"url"`
	} `json:"elicitation"`
}

// HasForms reports whether the client can show a form. A client that lists no elicitation modes can.
func (c *ClientCapabilities) HasForms() bool {
	return c.Elicitation != nil && (Present(c.Elicitation.Form) || !Present(c.Elicitation.URL))
}

// Present reports whether a member is there and not null.
func Present(value jsontext.Value) bool { return len(value) > 0 && value.Kind() != 'n' }

// ServerCapabilities are the capabilities of the server.
type ServerCapabilities struct {
	Tools     struct{} `json:"tools"`
	Prompts   struct{} `json:"prompts"`
	Resources struct {
		Subscribe bool `json:"subscribe"`
	} `json:"resources"`
}

// A Head is the part of a result that the modern era adds.
type Head struct {
	ResultType string `json:"resultType,omitzero"`
	Meta       Meta   `json:"_meta,omitzero"`
}

type Meta struct {
	ServerInfo   *Implementation `json:"io.modelcontextprotocol/serverInfo,omitzero"`
	Subscription jsontext.Value  `json:"io.modelcontextprotocol/subscriptionId,omitzero"` // the id of its request
}

// Set sets the type of the result and the name of the server.
func (h *Head) Set(resultType string, server *Implementation) {
	if h.ResultType == "" {
		h.ResultType = resultType
	}
	h.Meta.ServerInfo = server
}

// A Validity says that a result is private and valid only now.
type Validity struct {
	TTLMs int    `json:"ttlMs"`
	Scope string `json:"cacheScope"`
}

// OnlyNow is the validity of every result.
var OnlyNow = Validity{Scope: "private"}

type InitializeParams struct {
	Version      string             `json:"protocolVersion"`
	Capabilities ClientCapabilities `json:"capabilities"`
	Client       Implementation     `json:"clientInfo"`
}

type InitializeResult struct {
	Version      string             `json:"protocolVersion"`
	Capabilities ServerCapabilities `json:"capabilities"`
	Server       *Implementation    `json:"serverInfo"`
	Instructions string             `json:"instructions"`
}

type DiscoverResult struct {
	Head
	Validity
	Versions     []string           `json:"supportedVersions"`
	Capabilities ServerCapabilities `json:"capabilities"`
	Instructions string             `json:"instructions"`
}

// An EmptyResult is the result of a method that has none.
type EmptyResult struct{}

// ListParams are the params of every list. All lists are one page.
type ListParams struct {
	Cursor string `json:"cursor"`
}

type ToolList struct {
	Head
	Validity
	Tools []ListedTool `json:"tools"`
}

type ListedTool struct {
	Name        string         `json:"name"`
	Title       string         `json:"title"`
	Description string         `json:"description"`
	InputSchema jsontext.Value `json:"inputSchema"`
	Annotations ToolHints      `json:"annotations"`
}

type ToolHints struct {
	Title       string `json:"title"`
	ReadOnly    bool   `json:"readOnlyHint"`
	Destructive bool   `json:"destructiveHint"`
	Idempotent  bool   `json:"idempotentHint"`
	OpenWorld   bool   `json:"openWorldHint"`
}

type ToolParams struct {
	Name           string                    `json:"name"`
	Arguments      jsontext.Value            `json:"arguments"`
	InputResponses map[string]jsontext.Value `json:"inputResponses"`
	RequestState   string                    `json:"requestState"`
}

type ToolResult struct {
	Head
	Content       []Text          `json:"content"`
	Structured    any             `json:"structuredContent,omitzero"`
	IsError       bool            `json:"isError,omitzero"`
	InputRequests map[string]Form `json:"inputRequests,omitzero"`
	RequestState  string          `json:"requestState,omitzero"`
}

// A Text is content for a model.
type Text struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// TextOf returns content for a model.
func TextOf(content string) Text { return Text{"text", content} }

// A Form is a request to show a form to a person, as it is in a result.
type Form struct {
	Method string     `json:"method"`
	Params FormParams `json:"params"`
}

type FormParams struct {
	Mode    string         `json:"mode"`
	Message string         `json:"message"`
	Schema  jsontext.Value `json:"requestedSchema"`
}

// A FormResult is what became of a form.
type FormResult struct {
	Action  string `json:"action"`
	Content struct {
		Option jsontext.Value `json:"option"`
		Reply  jsontext.Value `json:"reply"`
	} `json:"content"`
}

type ResourceList struct {
	Head
	Validity
	Resources []ListedResource `json:"resources"`
}

type TemplateList struct {
	Head
	Validity
	Templates []ListedResource `json:"resourceTemplates"`
}

// A ListedResource is a resource, which has an address, or a template of resources, which has a template.
type ListedResource struct {
	URI         string      `json:"uri,omitzero"`
	Template    string      `json:"uriTemplate,omitzero"`
	Name        string      `json:"name"`
	Title       string      `json:"title"`
	Description string      `json:"description"`
	MIMEType    string      `json:"mimeType"`
	Annotations Annotations `json:"annotations"`
}

type Annotations struct {
	Audience []string `json:"audience"`
	Priority float64  `json:"priority"`
}

type ResourceParams struct {
	URI string `json:"uri"`
}

type ResourceResult struct {
	Head
	Validity
	Contents []ResourceContents `json:"contents"`
}

type ResourceContents struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType"`
	Text     string `json:"text"`
}

type ListenParams struct {
	Notifications *Subscriptions `json:"notifications"`
}

// Subscriptions are the Subscriptions that a host can have; its lists never change.
type Subscriptions struct {
	Resources []string `json:"resourceSubscriptions,omitempty"`
}

type ListenResult struct{ Head }

type Acknowledgement struct {
	Meta          Meta          `json:"_meta"`
	Notifications Subscriptions `json:"notifications"`
}

type ResourceUpdate struct {
	Meta Meta   `json:"_meta,omitzero"`
	URI  string `json:"uri"`
}

type PromptList struct {
	Head
	Validity
	Prompts []ListedPrompt `json:"prompts"`
}

type ListedPrompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Arguments   []PromptArgument `json:"arguments,omitempty"`
}

type PromptArgument struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type PromptParams struct {
	Name      string            `json:"name"`
	Arguments map[string]string `json:"arguments"`
}

type PromptResult struct {
	Head
	Messages []PromptMessage `json:"messages"`
}

type PromptMessage struct {
	Role    string `json:"role"`
	Content Text   `json:"content"`
}

// These are the codes of the protocol's errors.
const (
	CodeInvalidRequest     = -32600
	CodeMethodNotFound     = -32601
	CodeInvalidParams      = -32602
	CodeUnsupportedVersion = -32022
	CodeResourceNotFound   = -32002 // in the legacy era
)
