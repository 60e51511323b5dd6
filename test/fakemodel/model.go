// Package fakemodel is a language model that plays a script, so that tests run real coding agents without a network and
// without a key. It speaks Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and Gemini generateContent,
// streamed and not, as far as the agents of test/e2e/hosts need them.
//
// It keeps no conversation: the answer to a request is a function of that request. It counts no tokens and checks no keys.
package fakemodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A Request is a question to the model, in the same shape for every protocol.
type Request struct {
	System string   // the text of the host about the model's work
	Tools  []string // the names of the offered tools, as the model calls them
	Turns  []Turn
	Raw    string // the body as it came
}

// A Turn is one message of the conversation. The results of tools are turns of the user, or of a tool.
type Turn struct {
	Role    string // "user", "assistant" or "tool"
	Text    string
	Calls   []Call
	Results []string // the texts that tools returned
}

// An Answer is a turn of the model: a text, calls of tools, or both.
type Answer struct {
	Text  string
	Calls []Call
	// Hold keeps the answer back until the client hangs up. The model has begun to work, and never ends.
	Hold bool
}

// A Call is a call of a tool. Args is a value for encoding/json.
type Call struct {
	Tool string
	Args any
	id   string
	room string // the namespace in which OpenAI Responses offer the tool, or ""
}

// Said returns how many turns the model had since the first turn of another that contains the text. Some hosts begin with
// an exchange of their own.
func (r Request) Said(since string) (n int) {
	begun := false
	for _, turn := range r.Turns {
		begun = begun || turn.Role != "assistant" && strings.Contains(turn.Text, since)
		if begun && turn.Role == "assistant" {
			n++
		}
	}
	return n
}

// Has reports whether the model was shown the text: by the host, the user or a tool.
func (r Request) Has(text string) bool {
	return strings.Contains(r.System, text) || slices.ContainsFunc(r.Turns, func(turn Turn) bool {
		return turn.Role != "assistant" && (strings.Contains(turn.Text, text) || strings.Contains(strings.Join(turn.Results, "\n"), text))
	})
}

// Tool returns the name of the first offered tool that ends with one of the names, or "".
func (r Request) Tool(names ...string) string {
	for _, name := range names {
		for _, tool := range r.Tools {
			if strings.HasSuffix(tool, name) {
				return tool
			}
		}
	}
	return ""
}

// A Model listens on the loopback interface until its test ends.
type Model struct {
	URL    string
	script func(Request) Answer

	mu    sync.Mutex // guards what follows
	asked []Request
	lost  []string // requests that no protocol explains
	calls int
}

// New starts a model. The script answers every request that offers tools; the others, for titles and summaries, are
// answered with a title. It is called on several goroutines.
func New(t testing.TB, script func(Request) Answer) *Model {
	t.Helper()
	m := &Model{script: script}
	server := httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(func() {
		server.CloseClientConnections() // a held answer would keep Close waiting
		server.Close()
	})
	m.URL = server.URL
	return m
}

// Asked returns the requests that offered tools, oldest first.
func (m *Model) Asked() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asked)
}

// Lost returns the requests that the model did not understand, each as method and path.
func (m *Model) Lost() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.lost)
}

// A protocol reads a request and writes an answer, as a whole or as a stream of events.
type protocol struct {
	read   func(body []byte) (Request, error)
	write  func(a Answer, id string) any
	stream func(a Answer, id string, event func(name string, data any))
}

// speaks returns the protocol of a path, and whether the path alone asks for a stream.
func speaks(path string) (p protocol, streamed, known bool) {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return messages, false, true
	case strings.HasSuffix(path, "/responses"):
		return responses, false, true
	case strings.HasSuffix(path, "/chat/completions"):
		return completions, false, true
	case strings.HasSuffix(path, ":generateContent"):
		return gemini, false, true
	case strings.HasSuffix(path, ":streamGenerateContent"):
		return gemini, true, true
	}
	return protocol{}, false, false
}

func (m *Model) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client hung up
	}
	p, streamed, known := speaks(r.URL.Path)
	if r.Method != http.MethodPost || !known {
		m.besides(w, r)
		return
	}
	request, err := p.read(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	request.Raw = string(body)
	answer, id := m.answer(request)
	if answer.Hold {
		<-r.Context().Done()
		return
	}
	var wants struct{ Stream bool }
	_ = json.Unmarshal(body, &wants) // it was read once already
	if streamed || wants.Stream {
		w.Header().Set("Content-Type", "text/event-stream")
		p.stream(answer, id, func(name string, data any) { event(w, name, data) })
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(p.write(answer, id)) // a client that hung up needs no answer
}

// besides answers what hosts ask beside the conversation.
func (m *Model) besides(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case strings.HasSuffix(r.URL.Path, "/count_tokens"):
		_, _ = io.WriteString(w, `{"input_tokens":10}`)
	case strings.HasSuffix(r.URL.Path, ":countTokens"):
		_, _ = io.WriteString(w, `{"totalTokens":10}`)
	case strings.HasSuffix(r.URL.Path, "/models"):
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"scripted","object":"model","created":0,"owned_by":"test"}],"models":[]}`)
	case r.URL.Path == "/":
	default:
		m.mu.Lock()
		m.lost = append(m.lost, r.Method+" "+r.URL.Path)
		m.mu.Unlock()
		http.NotFound(w, r)
	}
}

// answer plays the script, and names the answer and its calls by ids that no other has.
func (m *Model) answer(r Request) (a Answer, id string) {
	if len(r.Tools) == 0 {
		a = Answer{Text: "A title"}
	} else {
		m.mu.Lock()
		m.asked = append(m.asked, r)
		m.mu.Unlock()
		a = m.script(r)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	id = fmt.Sprintf("scripted_%d", m.calls)
	a.Calls = slices.Clone(a.Calls)
	for i := range a.Calls {
		call := &a.Calls[i]
		call.id = fmt.Sprintf("call_%d_%d", m.calls, i)
		if room, name, found := strings.Cut(call.Tool, "/"); found {
			call.room, call.Tool = room, name
		}
	}
	return a, id
}

// event writes an event of a stream. Data that is a string is written as it is.
func event(w io.Writer, name string, data any) {
	text, raw := data.(string)
	if !raw {
		text = encoded(data)
	}
	if name != "" {
		name = "event: " + name + "\n"
	}
	_, _ = fmt.Fprintf(w, "%sdata: %s\n\n", name, text) // a client that hung up needs no more events
}

// encoded returns a value as JSON. Scripts have values that can be encoded.
func encoded(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// text returns what a reader sees of a content, which is a string, a block, or a list of blocks.
func text(content any) string {
	switch content := content.(type) {
	case string:
		return content
	case []any:
		var all []string
		for _, block := range content {
			if part := text(block); part != "" {
				all = append(all, part)
			}
		}
		return strings.Join(all, "\n")
	case map[string]any:
		for _, key := range []string{"text", "content", "output"} {
			if inner, found := content[key]; found {
				return text(inner)
			}
		}
		if content["type"] == nil {
			return encoded(content)
		}
	}
	return ""
}

// object is a JSON object.
type object = map[string]any
