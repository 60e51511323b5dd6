// Package linearizability checks the answers that clients got while processes that share a store were killed. One
// order of all calls, each between its start and end, must explain every answer. Its models follow the protocol, not
// the code of waybill. It starts nothing, and treats a lost answer as unknown.
package linearizability
