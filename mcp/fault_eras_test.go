package mcp_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Without a handshake a host has to say which version it speaks.
func TestRequestBeforeInitializeIsRefused(t *testing.T) {
	_, c := connectRaw(t, setup{})
	for _, request := range []string{
		inLegacy("1", "tools/list", ""), inLegacy("1", "tools/call", tool("ready_items", "")), inLegacy("1", "resources/list", ""),
		inLegacy("1", "no/such", ""), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
	} {
		c.send(request)
		a := parse(t, c.nextAnswer())
		require.Equal(t, "1", string(a.ID))
		require.Equal(t, -32600, a.Error.Code, request)
		require.Contains(t, a.Error.Data.Hint, "initialize")
	}
	require.Equal(t, "2 result", c.ask(inLegacy("2", "ping", "")), "this is allowed")
	require.Equal(t, "3 -32602", c.ask(`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":7}}`)[:8])
	c.send(inLegacy("4", "tools/list", ""))
	require.Equal(t, "4 -32600 INVALID_REQUEST", brief(t, c.nextAnswer()), "that was no handshake")
	c.initialize()
	require.Equal(t, "5 result", c.ask(inLegacy("5", "tools/list", "")))
	c.requireAlive()
}

// Hosts that know both eras ask what there is, and then shake hands all the same.
func TestInitializeMayFollowDiscover(t *testing.T) {
	_, c := connectRaw(t, setup{})
	c.send(inModern("0", "server/discover", ""))
	a := parse(t, c.nextAnswer())
	require.Nil(t, a.Error)
	require.Contains(t, a.Result.SupportedVersions, modern)
	c.initialize()
	require.Equal(t, "1 result", c.ask(inLegacy("1", "tools/list", "")))
	require.Equal(t, "2 result", c.ask(inLegacy("2", "tools/call", tool("ready_items", `"plan":"tasks.md"`))))
	require.Equal(t, `"again" -32600 INVALID_REQUEST`, c.ask(inLegacy(`"again"`, "initialize", hello)))
	c.requireAlive()
}

// The server does not use capabilities that a host lacks, and asks for what a request must have.
func TestClientWithoutCapabilitiesIsNotAsked(t *testing.T) {
	_, c := connectRaw(t, setup{})
	require.Equal(t, "1 -32602", c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`))
	require.Equal(t, "2 version 2025-06-18", c.ask(inLegacy("2", "initialize", `"protocolVersion":"2025-06-18"`)))
	require.Equal(t, "3 result", c.ask(inLegacy("3", "tools/list", "")))
	require.Equal(t, "4 complete", c.ask(inModern("4", "tools/list", "")))
}

// The versions that hosts name come and go.
func TestUnknownVersionsAreRefused(t *testing.T) {
	_, c := connectRaw(t, setup{})
	named := func(version string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":%s,"io.modelcontextprotocol/clientCapabilities":{}}}}`, version)
	}
	require.Equal(t, "1 -32022", c.ask(named(`"2027-01-01"`)))
	require.Equal(t, "1 -32600 INVALID_REQUEST", c.ask(named(`"1999-01-01"`)), "that was before each request named its version")
	require.Equal(t, "1 -32600 INVALID_REQUEST", c.ask(named(`7`)))
	require.Equal(t, "1 version 2025-11-25", c.ask(inLegacy("1", "initialize", `"protocolVersion":"2099-01-01","capabilities":{}`)), "it is told the newest with a handshake")
	require.Equal(t, "2 -32601", c.ask(inModern("2", "initialize", hello)))
	require.Equal(t, "3 -32601", c.ask(inLegacy("3", "server/discover", "")))
	c.requireAlive()
}
