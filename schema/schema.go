// Package schema declares every word that a host can send or receive: methods with params, results and errors,
// notifications, objects, settings and the error table. Package schema/codec decodes by these declarations, and package
// schema/gen writes documents, clients and the table of handlers from them.
//
// It refuses to do anything: it reads no clock and no file, knows no rule beyond the shape of a value, and has no
// handler.
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
// Rules for strings apply to each string of a list or a map. A blank field with schema:"open" marks an object whose
// unknown members are ignored, and in which null means absent.
package schema

import (
	"fmt"
	"reflect"
)

// ProtocolVersion is the version of the wire that this package declares. Within a version, names are only added.
const ProtocolVersion = 1

// Limits that a host may rely on unless `initialize` reports others.
const (
	MaxMessageBytes = 8 << 20  // one message
	MaxContentBytes = 1 << 20  // the content of one instruction
	MaxReplyBytes   = 64 << 10 // one reply, one reason, one acknowledgement rule
	// MaxAnchorTokens bounds the text of compile_anchor.
	MaxAnchorTokens = 800
	MaxCheckOutput  = 8 << 10   // the output in a receipt
	MaxPending      = 1_000_000 // instructions that wait
	MaxDepth        = 128       // levels of JSON
	MaxBatch        = 100       // members of a batch
	MaxPage         = 500       // items of a list
	DefaultPage     = 50
	MaxRetries      = 1000
	MaxWaitMS       = 25_000
)

// A Kind says how a method may run at the same time as others.
type Kind uint8

// The kinds of methods.
const (
	// Connection methods are carried out by the front door itself.
	Connection Kind = iota + 1
	// Control methods are answered at once and never wait for a disk.
	Control
	// Read methods change nothing that a host can see. They run concurrently with others and may overtake them.
	Read
	// Change methods take effect in the order in which a connection sent them.
	Change
)

// String returns the kind's name.
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
	// Notification marks a method without an id, which is never answered.
	Notification bool
	Doc          string
	Errors       []Code // beyond those of every method
	Params       reflect.Type
	Result       reflect.Type
}

// method returns the declaration with its types.
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
