// Package linear judges what several clients were told while processes that share a store were killed: whether there is
// one order of all calls, each between its beginning and its end, that explains every answer. It says first what an
// instruction and a task may do, in the words of the protocol and without looking at how waybill does it. It refuses to
// run anything itself and to take an answer that never came for a no: such a call took effect, or it did not.
package linear
