// Package message has the messages of the Agent Client Protocol, version 1, that waybill reads or writes. The types are those
// of the published schema in testdata, version 2.4.0 of the npm package @agentclientprotocol/sdk.
//
// It has no type for other messages: those pass through waybill as they are.
package message
