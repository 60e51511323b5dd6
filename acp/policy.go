package acp

import (
	"context"
	"encoding/json"

	"waybill/acp/message"
)

// A Policy decides what an agent gets and whether its turn may end. All sessions use one policy, on several goroutines. Its
// methods keep to their context, and a fault of theirs never stops the conversation.
type Policy interface {
	// Server returns the MCP server that an agent gets for a session in the folder. ok is false if there is none.
	Server(folder string) (server message.McpServerStdio, ok bool)
	// Open is called when a session was created, loaded or resumed.
	Open(session, folder string)
	// Prompt returns what goes in front of a prompt.
	Prompt(ctx context.Context, session string) (Text, error)
	// Tool is called once for each tool call that has ended.
	Tool(ctx context.Context, session string, call ToolCall) error
	// Compacted is called when the agent has replaced its conversation by a summary.
	Compacted(ctx context.Context, session string) error
	// Stop decides whether a turn that was held so often may end.
	Stop(ctx context.Context, session string, held int) (Text, error)
	// Asked is called when the agent asks the person, and Answered when the editor has answered, or no longer can.
	Asked(ctx context.Context, session string, q Question) error
	Answered(ctx context.Context, session string, q Question) error
	// Lost is called when the agent has ended before its editor, with the open sessions.
	Lost(ctx context.Context, sessions []string, cause string)
}

// A Text is a message for the agent and one for the person.
type Text struct {
	Agent  string // at a stop: why the turn goes on
	Person string
	Undo   func() // takes back what was handed out, if the agent does not get it; may be nil
}

// undo takes the text back.
func (t Text) undo() {
	if t.Undo != nil {
		t.Undo()
	}
}

// A ToolCall is a tool call that has ended.
type ToolCall struct {
	ID, Name, Kind, Title string
	Input, Output         json.RawMessage // nil if the agent sent none
	Failed                bool
}

// A Question is what the agent asks the person.
type Question struct {
	ID         string // no other question of the agent has it
	Text       string
	Permission bool // to run a tool
}
