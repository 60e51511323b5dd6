package rpc

import (
	"waybill/schema"
	"waybill/wire"
)

// A message is one message of the host and the position of its answer.
type message struct {
	wire.Message
	batch *batch // that contains the message, or nil
	index int    // of its answer in the batch
}

// refused returns a message without an id that is answered with fault.
func refused(fault *schema.Error) message {
	return message{Message: wire.Message{ID: wire.Null, Fault: fault}}
}
