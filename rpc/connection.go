package rpc

import (
	"encoding/json"
	"time"

	"waybill/api"
	"waybill/schema"
)

const (
	// grace is how long what is in hand may stand still, on the way out, until it is cancelled.
	grace = time.Second
	// lastCall is how long it may stand still until it is answered in place of its method.
	lastCall = 1150 * time.Millisecond
	// hardStop is how long it may stand still until it is left behind. With two times linger, Serve
	// returns 1.5 s after the last movement.
	hardStop = 1300 * time.Millisecond
	// openTime is how long a store that is being opened counts as movement on the way out. A script that pipes a
	// line in and closes the pipe asks for nothing else, and on a slow disk this takes longer than the rest.
	openTime = 3 * time.Second
)

// connectionWords maps every name of a method that concerns the connection to the name that
// connection knows.
func connectionWords() map[string]string {
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

// connection carries out a method that concerns the connection itself.
func (d *dispatcher) connection(word string, m message) {
	switch word {
	case "shutdown":
		d.shutdown(m)
		return
	case "exit":
		d.exited.Store(true)
		d.stop()
	case "$/cancelRequest":
		d.cancel(m.Params)
	}
	if m.ID != nil {
		d.gate.enter(0)
		d.reply(m)
	}
}

// reply answers null.
func (d *dispatcher) reply(m message) {
	d.outbox.put(m.batch, m.place, item{id: m.ID, answer: api.Answer{}, held: 1})
}

// shutdown lets nothing new in, and answers when everything in hand has its answer, or was given up.
func (d *dispatcher) shutdown(m message) {
	d.polite.Store(true)
	d.open.close()
	d.gate.moved.Beat()
	if m.ID == nil {
		return
	}
	d.gate.enter(0)
	d.running.Go(func() {
		d.settle(d.open.zero)
		d.reply(m)
		d.outbox.kick()
	})
}

// settle waits for done, as long as something moves. What has stood still for a while is cancelled,
// then answered as given up; if that does not help either, settle reports false.
func (d *dispatcher) settle(done <-chan struct{}) bool {
	var said time.Time // when everything was answered; that itself is no movement
	opening := time.Now().Add(openTime)
	for {
		if d.table.Opening() && time.Now().Before(opening) {
			d.gate.moved.Beat()
		}
		idle := d.gate.moved.Idle()
		if !said.IsZero() {
			idle = lastCall + time.Since(said)
		}
		idle = min(idle, d.outbox.moved.Idle())
		wait := hardStop - idle
		switch {
		case idle < grace:
			wait = grace - idle
		case idle >= hardStop && !said.IsZero():
			return false
		case idle < lastCall:
			d.giveUp()
			wait = lastCall - idle
		case said.IsZero():
			d.giveUp()
			d.answerLeft()
			said = time.Now()
			wait = hardStop - lastCall
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

// cancel ends the context of the request that the params name, in the word of any protocol.
func (d *dispatcher) cancel(params []byte) {
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
