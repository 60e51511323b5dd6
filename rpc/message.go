package rpc

import (
	"waybill/schema"
	"waybill/wire"
)

// A message is one message of the host, and where its answer belongs.
type message struct {
	wire.Message
	batch *batch // that the message is a member of, or nil
	place int    // of its answer in the batch
}

// refused is a message whose id is not known.
func refused(fault *schema.Error) message {
	return message{Message: wire.Message{ID: wire.Null, Fault: fault}}
}
