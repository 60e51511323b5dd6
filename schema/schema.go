// Package schema declares every word that a host can say or hear: the methods with their params,
// results and errors, the notifications, the objects, and the error table. Documentation, JSON
// Schema, OpenRPC, TypeScript, strict decoding and the table of handlers all follow from these
// declarations.
//
// The package refuses to do anything: it reads no clock and no file, knows no rule of the domain
// beyond the shape of a value, and holds no handler.
//
// Struct tags of the wire types:
//
//	json:"name"         the member's name; omitzero marks one that may be absent in a result
//	doc:"…"             one sentence for the reader of the generated documents
//	schema:"a,b=c"      rules, in any order:
//	    required        must be present and not empty
//	    nonblank        must be more than white space, or the answer is EMPTY_CONTENT
//	    min=N max=N     bounds of a number, both inclusive
//	    default=V       what an absent param means (documentation; the engine fills it in)
//	    enum=a|b        the only allowed strings
//	    id              ^[A-Za-z0-9._:-]{1,128}$
//	    object          a raw value that must be a JSON object
//
// Rules for strings hold for each string of a list or a map. A blank field with schema:"open" marks
// an object whose unknown members are ignored, and where null means that the member is absent.
package schema

import (
	"fmt"
	"reflect"
)

// ProtocolVersion is the version of the wire that this package declares. Within it we only add.
const ProtocolVersion = 1

// The limits that a host may rely on unless `initialize` says otherwise.
const (
	MaxMessageBytes = 8 << 20   // one message
	MaxContentBytes = 1 << 20   // the content of one instruction
	MaxReplyBytes   = 64 << 10  // one reply, one reason, one acknowledgement rule
	MaxPending      = 1_000_000 // instructions that wait for something
	MaxDepth        = 128       // levels of JSON
	MaxBatch        = 100       // members of a batch
	MaxPage         = 500       // items of a list
	DefaultPage     = 50
	MaxRetries      = 1000
	MaxWaitMS       = 25_000
)

// A Kind says how a method may be carried out beside others.
type Kind uint8

// The kinds of methods.
const (
	// Connection methods are carried out by the front door itself: they concern the connection.
	Connection Kind = iota + 1
	// Control methods are answered at once, on the spot, and never wait for a disk.
	Control
	// Read methods change nothing that a host can see; they run beside others and may overtake.
	Read
	// Change methods take effect in the order in which one connection sent them.
	Change
)

// String gives the kind's name.
func (k Kind) String() string {
	switch k {
	case Connection:
		return "connection"
	case Control:
		return "control"
	case Read:
		return "read"
	case Change:
		return "change"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// A Method is the declaration of one method.
type Method struct {
	Name    string
	Aliases []string
	Group   string
	Kind    Kind
	// Notification marks a method that is sent without an id and never answered.
	Notification bool
	Doc          string
	Errors       []Code // beside those that every method may answer
	Params       reflect.Type
	Result       reflect.Type
}

// method completes a declaration with its types.
func method[P, R any](m Method) Method {
	m.Params, m.Result = reflect.TypeFor[P](), reflect.TypeFor[R]()
	return m
}

// A Notification is the declaration of a message that waybill sends unasked.
type Notification struct {
	Name   string
	Doc    string
	Params reflect.Type
}

func notification[P any](name, doc string) Notification {
	return Notification{Name: name, Doc: doc, Params: reflect.TypeFor[P]()}
}
