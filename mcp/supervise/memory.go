package supervise

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"waybill/schema"
	"waybill/schema/codec"
	"waybill/wire"
)

// StateMethod is a notification by which a worker leaves its successor a state, as params that nothing else reads. The
// successor gets them in the same notification. The host sees and sends none.
const StateMethod = "notifications/waybill/state"

// listening is the request of a subscription, which lasts as long as the conversation.
const listening = "subscriptions/listen"

// maxRepeats is how often a request is sent to a new worker, because it may be what workers die of.
const maxRepeats = 1

// A memory has the part of a conversation that the next worker must be told, and the requests without an answer.
type memory struct {
	host, worker wire.Scanner // each of one goroutine

	mu            sync.Mutex // guards the fields below
	spoken        bool       // a worker has written a line
	deaths        int
	requests      int
	lines         int      // written to the present worker
	handshake     *request // the accepted initialize of the older era, or nil
	initialized   []byte   // the line of the notification after it
	subscriptions map[string]*request
	state         []byte
	open          map[string]*request // without an answer, by id
	asked         map[string][]byte   // ids of the worker's requests to the host
	replayed      map[string]chan struct{}
}

// A request is a request of the host.
type request struct {
	number  int
	id      []byte
	method  string
	uri     string // of a subscription
	line    []byte
	at      int  // which line of the present worker it was, 0 if it was not written, or notYet
	again   bool // it can be repeated
	repeats int
	// untilAnswer says that the request cannot be repeated any more after an answer to a question of the worker.
	untilAnswer bool
}

// notYet is the place of a request that was written to an earlier worker and not to the present one.
const notYet = math.MaxInt

// A step is a part of what a new worker is told.
type step struct {
	lines    []byte
	request  *request        // of the line, if it is repeated
	answered <-chan struct{} // closed when it is answered; nil if nothing waits for that
}

func (m *memory) init() {
	m.subscriptions, m.open, m.asked = map[string]*request{}, map[string]*request{}, map[string][]byte{}
	m.replayed = map[string]chan struct{}{}
}

// hasSpoken reports whether a worker has written a line.
func (m *memory) hasSpoken() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spoken
}

// recordHost records a line of the host. It returns the request of the line, and whether the worker may see the line.
func (m *memory) recordHost(line []byte, repeatable func(string, []byte) (bool, bool)) (r *request, pass bool) {
	msg, ok := m.host.ReadLine(line)
	if !ok {
		return nil, true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	method := textOf(msg.Method)
	switch {
	case msg.Response:
		if m.asked[keyOf(msg.ID)] != nil {
			delete(m.asked, keyOf(msg.ID))
			m.answerArrived()
		}
	case msg.ID != nil:
		m.requests++
		again, untilAnswer := repeatable(method, msg.Params)
		r = &request{
			number: m.requests, id: bytes.Clone(msg.ID), method: method, uri: member(msg.Params, "uri"),
			line: bytes.Clone(line), again: again, untilAnswer: untilAnswer,
		}
		m.open[wire.Key(msg.ID)] = r
	case method == StateMethod:
		return nil, false
	case method == "notifications/initialized":
		m.initialized = bytes.Clone(line)
	case method == "notifications/cancelled":
		delete(m.open, keyOf([]byte(member(msg.Params, "requestId"))))
	}
	return r, true
}

// answerArrived records that the worker may apply the host's answer to a question. A question does not name the request
// that it belongs to, so all requests that may ask count. The caller holds mu.
func (m *memory) answerArrived() {
	for _, r := range m.open {
		if r.untilAnswer {
			r.again = false
		}
	}
}

// textOf is wire.Text of a value that may be absent.
func textOf(value []byte) string {
	if len(value) == 0 {
		return ""
	}
	return wire.Text(value)
}

// keyOf is wire.Key of an id that may be absent.
func keyOf(id []byte) string {
	if len(id) == 0 {
		return ""
	}
	return wire.Key(id)
}

// member returns a member of an object: the text of a string, or the JSON of a requestId.
func member(params []byte, name string) string {
	var members map[string]jsontext.Value
	if len(params) == 0 || json.Unmarshal(params, &members) != nil || len(members[name]) == 0 {
		return ""
	}
	if name == "requestId" {
		return string(members[name])
	}
	return wire.Text(members[name])
}

// sent records that a line, of a request or not, was written to the present worker.
func (m *memory) sent(line []byte, r *request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines += bytes.Count(line, []byte("\n"))
	if r != nil {
		r.at = m.lines
	}
}

// recordWorker records a line of the worker. It reports whether the host may see the line.
func (m *memory) recordWorker(line []byte) (pass bool) {
	msg, ok := m.worker.ReadLine(line)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spoken = true
	if !ok {
		return true
	}
	key, method := keyOf(msg.ID), textOf(msg.Method)
	switch {
	case msg.Response:
		if answered := m.replayed[key]; answered != nil {
			delete(m.replayed, key)
			close(answered)
			return false
		}
		if r := m.open[key]; r != nil {
			delete(m.open, key)
			m.rememberAnswer(r, line)
		}
	case msg.ID != nil:
		m.asked[key] = bytes.Clone(msg.ID)
	case method == StateMethod:
		m.state = bytes.Clone(msg.Params)
		return false
	case method == "notifications/cancelled":
		delete(m.asked, keyOf([]byte(member(msg.Params, "requestId"))))
	}
	return true
}

// rememberAnswer remembers what an answer has changed for later workers. The caller holds mu.
func (m *memory) rememberAnswer(r *request, answer []byte) {
	if bytes.Contains(answer[:min(len(answer), 200)], []byte(`"error":`)) {
		return
	}
	switch r.method {
	case "initialize":
		m.handshake = r
	case "resources/subscribe":
		m.subscriptions[r.uri] = r
	case "resources/unsubscribe":
		delete(m.subscriptions, r.uri)
	}
}

// workerDied forgets a worker that died with so many unread lines. It returns the requests that are lost with it, and the
// ids of its own requests.
func (m *memory) workerDied(unread int) (lost []*request, asked [][]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.deaths++
	for key, r := range m.open {
		switch {
		case r.at == 0 || r.at > m.lines-unread: // the worker has not seen all of it
		case r.again && (r.repeats < maxRepeats || r.method == listening):
			r.repeats++
		default:
			lost = append(lost, r)
			delete(m.open, key)
		}
		if r.at > 0 {
			r.at = notYet
		}
	}
	m.lines = 0
	for _, key := range slices.Sorted(maps.Keys(m.asked)) {
		asked = append(asked, m.asked[key])
	}
	clear(m.asked)
	clear(m.replayed)
	return inOrder(lost), asked
}

// takeLost returns all requests without an answer.
func (m *memory) takeLost() []*request {
	m.mu.Lock()
	defer m.mu.Unlock()
	lost := slices.Collect(maps.Values(m.open))
	clear(m.open)
	return inOrder(lost)
}

func inOrder(all []*request) []*request {
	return slices.SortedFunc(slices.Values(all), func(a, b *request) int { return cmp.Compare(a.number, b.number) })
}

// introduction returns what a new worker is told: the state of its predecessor, the handshake, the subscriptions, and the
// requests that are repeated.
func (m *memory) introduction() []step {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.deaths == 0 {
		return nil
	}
	steps := []step{{lines: stateLine(m.deaths, m.state)}}
	if m.handshake != nil {
		steps = append(steps, m.replay(m.handshake), step{lines: m.initialized})
	}
	for _, uri := range slices.Sorted(maps.Keys(m.subscriptions)) {
		steps = append(steps, m.replay(m.subscriptions[uri]))
	}
	for _, r := range inOrder(slices.Collect(maps.Values(m.open))) {
		if r.at > 0 {
			steps = append(steps, step{lines: r.line, request: r})
		}
	}
	return steps
}

// replay returns the step that repeats an answered request. Its second answer is not passed on. The caller holds mu.
func (m *memory) replay(r *request) step {
	answered := make(chan struct{})
	m.replayed[wire.Key(r.id)] = answered
	return step{lines: r.line, answered: answered}
}

// State is what a worker is told of its predecessors.
type State struct {
	// Deaths is how many workers have died. The ids of the worker's requests differ from theirs by it.
	Deaths int `json:"deaths"`
	// Left is the state that the last one left, or nil.
	Left jsontext.Value `json:"left,omitzero"`
}

func stateLine(deaths int, left []byte) []byte { return notification(StateMethod, State{deaths, left}) }

// notification returns a line. Only values that can be encoded are passed.
func notification(method string, params any) []byte {
	text, err := codec.Encode(params)
	if err != nil {
		panic("supervise: " + err.Error())
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":%s}`+"\n", method, text)
}

// withdrawal returns the line that withdraws a request of a worker that died.
func withdrawal(id []byte) []byte {
	return notification("notifications/cancelled", map[string]any{"requestId": jsontext.Value(id), "reason": "the server has started again"})
}

// unanswered returns the answer to a request whose worker died.
func unanswered(id []byte) []byte {
	fault := schema.NewError(schema.Internal, "the waybill process that served this call died; whether the call took effect is unknown").
		Hint("look at what is there, such as with get_task or ready_items, before you repeat the call; " +
			"`waybill call list_instructions` shows the instructions that were handed out")
	fault.Data.Outcome = schema.OutcomeUnknown
	text, err := codec.Encode(fault)
	if err != nil {
		panic("supervise: " + err.Error())
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", id, text)
}
