package rpc

import (
	"encoding/json"
	"time"

	"waybill/api"
	"waybill/schema"
)

const (
	// cancelAfter is how long calls may make no progress during shutdown before they are cancelled.
	cancelAfter = time.Second
	// answerAfter is how long they may make no progress before they are answered with SHUTTING_DOWN.
	answerAfter = 1150 * time.Millisecond
	// abandonAfter is how long they may make no progress before Serve stops waiting for them. With two closeTimeouts,
	// Serve returns 1.5 s after the last progress.
	abandonAfter = 1300 * time.Millisecond
	// storeTime is how long opening or writing a store counts as progress during shutdown. On a slow disk, one commit
	// takes longer than cancelAfter, and a script that closes its pipe would lose the change.
	storeTime = 3 * time.Second
)

// connectionMethods maps every name and alias of the connection's own methods to the name in handleConnection.
func connectionMethods() map[string]string {
	words := map[string]string{"notifications/cancelled": "$/cancelRequest"}
	for _, m := range schema.Methods {
		if m.Kind != schema.Connection {
			continue
		}
		for _, name := range append([]string{m.Name}, m.Aliases...) {
			words[name] = m.Name
		}
	}
	return words
}

// handleConnection runs one of the connection's own methods, such as shutdown.
func (d *dispatcher) handleConnection(word string, m message) {
	switch word {
	case "shutdown":
		d.shutdown(m)
		return
	case "exit":
		d.exitAsked.Store(true)
		d.stop()
	case "$/cancelRequest":
		d.cancelRequest(m.Params)
	}
	if m.ID != nil {
		d.limiter.acquire(0)
		d.replyNull(m)
	}
}

// replyNull answers a request with null.
func (d *dispatcher) replyNull(m message) {
	d.outbox.put(m.batch, m.index, item{id: m.ID, answer: api.Answer{}, slots: 1})
}

// shutdown refuses further calls, and answers when every accepted call is answered or abandoned.
func (d *dispatcher) shutdown(m message) {
	d.shutdownAsked.Store(true)
	d.unanswered.close()
	d.limiter.activity.Beat()
	if m.ID == nil {
		return
	}
	d.limiter.acquire(0)
	d.running.Go(func() {
		d.waitWhileActive(d.unanswered.zero)
		d.replyNull(m)
		d.outbox.wakeWriter()
	})
}

// waitWhileActive blocks until done is closed, and reports true. Without progress it cancels the calls, then answers
// them with SHUTTING_DOWN, and finally reports false.
func (d *dispatcher) waitWhileActive(done <-chan struct{}) bool {
	var answeredAt time.Time // when the calls were answered, which does not count as progress
	storeDeadline := time.Now().Add(storeTime)
	for {
		if d.table.AtWork() && time.Now().Before(storeDeadline) {
			d.limiter.activity.Beat()
		}
		idle := d.limiter.activity.Idle()
		if !answeredAt.IsZero() {
			idle = answerAfter + time.Since(answeredAt)
		}
		idle = min(idle, d.outbox.activity.Idle())
		wait := abandonAfter - idle
		switch {
		case idle < cancelAfter:
			wait = cancelAfter - idle
		case idle >= abandonAfter && !answeredAt.IsZero():
			return false
		case idle < answerAfter:
			d.cancelCalls()
			wait = answerAfter - idle
		case answeredAt.IsZero():
			d.cancelCalls()
			d.answerUnfinished()
			answeredAt = time.Now()
			wait = abandonAfter - answerAfter
		}
		timer := time.NewTimer(wait)
		select {
		case <-done:
			timer.Stop()
			return true
		case <-timer.C:
		}
	}
}

// cancelRequest cancels the request that the params name, as LSP does (id) or as MCP does (requestId).
func (d *dispatcher) cancelRequest(params []byte) {
	var p struct {
		ID        json.RawMessage `json:"id"`
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	for _, id := range [][]byte{p.ID, p.RequestID} {
		if len(id) > 0 {
			d.calls.cancel(id)
		}
	}
}
