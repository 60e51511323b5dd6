package acp_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"waybill/acp"
	"waybill/acp/message"
)

func TestWhatIsDueGoesInFrontOfAPrompt(t *testing.T) {
	converse(t, &policy{due: "Run <the> tests."}, func(c *talk) {
		c.opened()
		c.editor.says(asks)
		c.agent.hears(strings.Replace(asks, `"prompt":[`, `"prompt":[{"type":"text","text":"Run <the> tests."},`, 1))
		c.agent.says(works, ends)
		c.editor.hears(works, ends)
		require.Equal(t, []string{"open s in /work", "stop s"}, c.policy.heard())
	})
}

// A text in front of /compact would make it a sentence.
func TestACommandOfTheAgentStaysTheFirstText(t *testing.T) {
	converse(t, &policy{due: "Run the tests."}, func(c *talk) {
		c.opened()
		command := strings.Replace(asks, "Go.", "/compact now", 1)
		c.editor.says(command)
		c.agent.hears(command)
	})
}

func TestATurnIsHeldUntilItMayEnd(t *testing.T) {
	p := &policy{stops: []acp.Text{{Agent: "The check a is red.\n  | more"}, {Agent: "The check b is red.", Person: "Look at b."}, {Person: "It may end."}}}
	converse(t, p, func(c *talk) {
		c.opened()
		c.editor.says(asks)
		c.agent.hears(asks)
		c.agent.says(ends)
		c.editor.hears(said("waybill: the turn goes on: The check a is red."))
		first := c.agent.all()
		require.Len(t, first, 1)
		id := idOf(t, first[0])
		require.Equal(t, `{"jsonrpc":"2.0","id":`+id+`,"method":"session/prompt","params":{"prompt":[{"type":"text","text":"The check a is red.\n  | more"}],"sessionId":"s"}}`, first[0])
		c.agent.says(works, strings.Replace(ends, "7", id, 1))
		c.editor.hears(works, said("Look at b."), said("waybill: the turn goes on: The check b is red."))
		second := c.agent.all()
		require.Len(t, second, 1)
		require.NotEqual(t, id, idOf(t, second[0]))
		c.agent.says(`{"id":` + idOf(t, second[0]) + `, "jsonrpc":"2.0","result":{"stopReason":"end_turn","usage":{"n":1e2}}}`)
		c.editor.hears(said("It may end."), `{"id":7, "jsonrpc":"2.0","result":{"stopReason":"end_turn","usage":{"n":1e2}}}`)
	})
}

// While an end is decided, other sessions go on.
func TestADecisionHoldsOnlyItsOwnTurn(t *testing.T) {
	p := &policy{hangs: true}
	converse(t, p, func(c *talk) {
		c.opened()
		c.editor.says(asks)
		c.agent.says(ends)
		other := strings.ReplaceAll(works, `"s"`, `"other"`)
		c.agent.says(other)
		c.editor.hears(other)
		close(p.block)
		c.editor.hears(ends)
	})
}

func TestACancelledTurnEndsAtOnce(t *testing.T) {
	cancel := `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`
	byID := `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}`
	for _, how := range []string{cancel, byID} {
		p := &policy{hangs: true}
		converse(t, p, func(c *talk) { // during the decision
			c.opened()
			c.editor.says(asks)
			c.agent.says(ends)
			c.editor.hears()
			c.editor.says(how)
			c.editor.hears(`{"jsonrpc":"2.0","id":7,"result":{"stopReason":"cancelled"}}`)
			c.agent.hears(asks, how)
		})
		p = &policy{stops: []acp.Text{{Agent: "red"}, {Agent: "red"}}}
		converse(t, p, func(c *talk) { // while the agent works on
			c.opened()
			c.editor.says(asks)
			c.agent.says(ends)
			lines := c.agent.all()
			require.Len(t, lines, 2)
			id := idOf(t, lines[1])
			c.editor.says(how)
			c.agent.hears(strings.Replace(how, `"requestId":7`, `"requestId":`+id, 1))
			c.agent.says(strings.Replace(ends, "7", id, 1)) // even if it ended by itself meanwhile
			c.editor.hears(said("waybill: the turn goes on: red"), ends)
		})
	}
}

// An editor that sends the next prompt does not wait for the decision about the one before.
func TestTheNextPromptEndsADecision(t *testing.T) {
	p := &policy{hangs: true}
	converse(t, p, func(c *talk) {
		c.opened()
		next := strings.Replace(asks, "7", "8", 1)
		c.editor.says(asks)
		c.agent.says(ends)
		c.editor.says(next)
		c.agent.hears(asks, next)
		c.editor.hears(ends)
	})
}

// While the person is told that a turn goes on, the editor can send the next prompt. The agent gets no other behind it.
func TestAPromptThatComesAfterTheDecisionEndsTheTurn(t *testing.T) {
	cancelled := `{"jsonrpc":"2.0","id":7,"result":{"stopReason":"cancelled"}}`
	for line, answer := range map[string]string{
		strings.Replace(asks, "7", "8", 1):                                       ends,
		`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`: cancelled,
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}`: cancelled,
	} {
		converse(t, &policy{stops: []acp.Text{{Agent: "red", Person: "Look."}}}, func(c *talk) {
			c.opened()
			c.editor.says(asks)
			c.editor.pauses()
			c.agent.says(ends)
			c.editor.says(line)
			synctest.Wait()
			c.editor.resumes()
			c.editor.hears(said("Look."), said("waybill: the turn goes on: red"), answer)
			c.agent.hears(asks, line)
			require.Equal(t, "undo stop", c.policy.heard()[2])
		})
	}
}

// A turn is not held any more when the agent has the next prompt.
func TestTheNextPromptLetsATurnEnd(t *testing.T) {
	converse(t, &policy{stops: []acp.Text{{Agent: "red"}}}, func(c *talk) {
		c.opened()
		c.editor.says(asks, strings.Replace(asks, "7", "8", 1))
		c.agent.says(ends)
		c.editor.hears(ends)
		require.NotContains(t, c.policy.heard(), "stop s")
		c.agent.says(strings.Replace(ends, "7", "8", 1))
		c.editor.hears(said("waybill: the turn goes on: red"))
	})
}

func TestOnlyATurnThatTheAgentEndedIsHeld(t *testing.T) {
	for _, answer := range []string{
		`{"jsonrpc":"2.0","id":7,"result":{"stopReason":"max_tokens"}}`,
		`{"jsonrpc":"2.0","id":7,"result":{"stopReason":"max_turn_requests"}}`,
		`{"jsonrpc":"2.0","id":7,"result":{"stopReason":"refusal"}}`,
		`{"jsonrpc":"2.0","id":7,"result":{"stopReason":"cancelled"}}`,
		`{"jsonrpc":"2.0","id":7,"result":{"stopReason":"a_later_one"}}`,
		`{"jsonrpc":"2.0","id":7,"result":7}`,
		`{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"Log in."}}`,
	} {
		converse(t, &policy{due: "Do.", stops: []acp.Text{{Agent: "red"}}}, func(c *talk) {
			c.opened()
			c.editor.says(asks)
			c.agent.says(answer)
			c.editor.hears(answer)
			heard := c.policy.heard()
			require.NotContains(t, heard, "stop s")
			require.Equal(t, !strings.Contains(answer, "stopReason"), strings.Contains(strings.Join(heard, "\n"), "undo prompt"), answer)
		})
	}
}

func TestAnAgentThatAnswersTwiceIsHeardOnce(t *testing.T) {
	p := &policy{hangs: true, stops: []acp.Text{{Agent: "red"}}}
	converse(t, p, func(c *talk) {
		c.opened()
		c.editor.says(asks)
		c.agent.says(ends, ends)
		c.editor.hears()
		close(p.block)
		lines := c.agent.all()
		own := strings.Replace(ends, "7", idOf(t, lines[1]), 1)
		c.agent.says(ends, own, own)
		c.editor.hears(said("waybill: the turn goes on: red"), ends)
	})
}

func TestAnAgentThatEndsLeavesNoRequestOpen(t *testing.T) {
	converse(t, &policy{due: "Do."}, func(c *talk) {
		c.opened()
		c.editor.says(asks, `{"jsonrpc":"2.0","id":"x","method":"session/set_mode","params":{}}`)
		_ = c.agent.all()
		require.NoError(t, c.agent.conn.Close())
		lines := c.editor.all()
		require.ElementsMatch(t, []string{
			`{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"the agent ended: exit status 3"}}`,
			`{"jsonrpc":"2.0","id":"x","error":{"code":-32603,"message":"the agent ended: exit status 3"}}`,
		}, lines)
		require.Equal(t, []string{"open s in /work", "undo prompt", "lost s: exit status 3"}, c.policy.heard())
		err := <-c.end
		require.ErrorIs(t, err, acp.ErrAgentEnded)
		c.end <- err
	})
}

func TestAnAgentThatDiesDuringADecisionIsAnsweredForOnce(t *testing.T) {
	converse(t, &policy{hangs: true}, func(c *talk) {
		c.opened()
		c.editor.says(asks)
		c.agent.says(ends)
		c.editor.hears()
		require.NoError(t, c.agent.conn.Close())
		c.editor.hears(`{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"the agent ended: exit status 3"}}`)
	})
}

// A broken is an input that its reader has closed.
type broken struct{ io.Closer }

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// The output of an agent may still be read when its input has ended.
func TestAnAnswerAfterTheErrorIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		editor, toEditor := newSide(t)
		agent, toAgent := newSide(t)
		p := &policy{}
		p.lost = func() {
			_, err := io.WriteString(agent.conn, ends+"\n"+works+"\n")
			require.NoError(t, err)
			synctest.Wait()
		}
		go func() { // ends with Run
			_, err := io.WriteString(editor.conn, asks+"\n")
			require.NoError(t, err)
		}()
		err := acp.Run(t.Context(), acp.Options{
			Editor: toEditor, Agent: acp.Pipe{In: toAgent.In, Out: broken{toAgent.Out}}, Policy: p,
			Ended: func() string { return "exit status 3" }, Logger: slog.New(slog.DiscardHandler), MaxMessageBytes: 1 << 20,
		})
		require.ErrorIs(t, err, acp.ErrAgentEnded)
		editor.hears(`{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"the agent ended: exit status 3"}}`, works)
		require.NoError(t, errors.Join(editor.conn.Close(), agent.conn.Close()))
	})
}

func TestTheEndOfTheEditorEndsTheAgent(t *testing.T) {
	p := &policy{hangs: true}
	converse(t, p, func(c *talk) {
		c.opened()
		c.editor.says(asks)
		c.agent.says(ends) // the decision goes on
		require.NoError(t, c.editor.conn.Close())
		for range c.agent.lines { // they end
		}
		require.NoError(t, <-c.end)
		c.end <- nil
		require.NotContains(t, strings.Join(c.policy.heard(), "\n"), "lost")
	})
}

// An acknowledgement that is lost has its instruction sent again.
func TestAtTheEndTheReportsThatWaitAreMade(t *testing.T) {
	for _, which := range []string{"agent", "editor"} {
		p := &policy{hangs: true}
		converse(t, p, func(c *talk) {
			c.opened()
			for i := range 20 {
				c.agent.says(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"%d","title":"ls","status":"completed"}}}`, i))
			}
			want := append([]string{"open s in /work"}, slices.Repeat([]string{"tool s ls "}, 20)...)
			if which == "agent" {
				require.NoError(t, c.agent.conn.Close())
				want = append(want, "lost s: exit status 3")
			} else {
				require.NoError(t, c.editor.conn.Close())
				synctest.Wait() // the end of the editor is noticed first
				require.NoError(t, c.agent.conn.Close())
			}
			synctest.Wait()
			close(p.block)
			err := <-c.end
			require.Equal(t, want, c.policy.heard())
			c.end <- err
		})
	}
	p := &policy{hangs: true}
	converse(t, p, func(c *talk) { // and reports that never end hold nothing up
		c.opened()
		c.agent.says(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"1","title":"ls","status":"completed"}}}`)
		require.NoError(t, c.agent.conn.Close())
		err := <-c.end
		require.Equal(t, []string{"open s in /work", "lost s: exit status 3"}, c.policy.heard())
		c.end <- err
	})
}

func TestToolCallsAreReported(t *testing.T) {
	tool := func(of, rest string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"` + of + `","toolCallId":"1"` + rest + `}}}`
	}
	converse(t, &policy{}, func(c *talk) {
		c.opened()
		lines := []string{
			tool("tool_call", `,"title":"Terminal","rawInput":{},"status":"pending"`),
			tool("tool_call_update", `,"title":"ls","rawInput":{"command":"ls"}`),
			tool("tool_call_update", `,"status":"completed","rawOutput":"a"`),
			tool("tool_call_update", `,"content":[]`), // late
			tool("tool_call", `,"title":"rm","status":"failed"`),
			tool("tool_call", `,"title":7`), // no tool call
			`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"compaction_update","compactionId":"c","status":"completed"}}}`,
		}
		c.agent.says(lines...)
		c.editor.hears(lines...)
		require.Equal(t, []string{"open s in /work", `tool s ls {"command":"ls"}`, "tool s rm  failed", "compacted s"}, c.policy.heard())
	})
}

// Some agents complete the title or the input of a call after its end, and some use an id again.
func TestAToolCallThatHasEndedIsReportedOnce(t *testing.T) {
	tool := func(of, rest string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"` + of + `","toolCallId":"1"` + rest + `}}}`
	}
	converse(t, &policy{}, func(c *talk) {
		c.opened()
		c.agent.says(
			tool("tool_call", `,"title":"ls","status":"completed"`),
			tool("tool_call_update", `,"title":"ls -l","status":"completed"`),
			tool("tool_call_update", `,"rawInput":{"command":"ls"}`),
			tool("tool_call_update", `,"status":"completed"`),
			tool("tool_call", `,"title":"rm"`),
			tool("tool_call_update", `,"status":"completed"`),
			`{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"1","title":"mv"},"options":[]}}`,
			tool("tool_call_update", `,"status":"failed"`),
			tool("tool_call_update", `,"status":"failed"`),
		)
		require.Len(t, c.editor.all(), 9)
		require.Equal(t, []string{"open s in /work", "tool s ls ", "tool s rm ", "asked s May it run this tool? mv", "tool s mv  failed"}, c.policy.heard())
	})
}

// The agent repeats the updates of a session that it loads.
func TestTheToolCallsOfALoadedSessionAreNoNews(t *testing.T) {
	converse(t, &policy{}, func(c *talk) {
		c.editor.says(`{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s","cwd":"/work","mcpServers":[]}}`)
		old := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"1","title":"old","status":"completed"}}}`
		c.agent.says(old, `{"jsonrpc":"2.0","id":1,"result":{}}`, strings.Replace(old, "old", "new", 1))
		require.Len(t, c.editor.all(), 3)
		require.Equal(t, []string{"open s in /work", "tool s new "}, c.policy.heard())
	})
}

func TestQuestionsAreNotedUntilTheyAreAnswered(t *testing.T) {
	converse(t, &policy{}, func(c *talk) {
		c.opened()
		c.agent.says(
			`{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"1","title":"ls"},"options":[]}}`,
			`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"sessionId":"s","mode":"form","message":"Which?","requestedSchema":{}}}`,
		)
		c.editor.says(`{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}`, `{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}`)
		require.Len(t, c.editor.all(), 2)
		require.Len(t, c.agent.all(), 2)
		require.Equal(t, []string{"open s in /work", "asked s May it run this tool? ls", "asked s Which?", "answered s Which?"}, c.policy.heard())
	})
}

func TestAQuestionEndsWithEitherSide(t *testing.T) {
	for _, which := range []string{"agent", "editor"} {
		converse(t, &policy{}, func(c *talk) {
			c.opened()
			c.agent.says(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"sessionId":"s","mode":"form","message":"Which?","requestedSchema":{}}}`)
			want := []string{"open s in /work", "asked s Which?", "answered s Which?"}
			_ = c.editor.all()
			if which == "agent" {
				require.NoError(t, c.agent.conn.Close())
				want = append(want, "lost s: exit status 3")
			} else {
				require.NoError(t, c.editor.conn.Close())
			}
			err := <-c.end
			require.Equal(t, want, c.policy.heard())
			c.end <- err
		})
	}
}

func TestASessionGetsTheServer(t *testing.T) {
	server := message.McpServerStdio{Name: "waybill", Command: "/bin/waybill", Args: []string{"mcp"}, Env: []message.EnvVariable{}}
	entry := `{"args":["mcp"],"command":"/bin/waybill","env":[],"name":"waybill"}`
	for method, rows := range map[string][][2]string{
		"session/new": {
			{`{"cwd":"/w","mcpServers":[]}`, `{"cwd":"/w","mcpServers":[` + entry + `]}`},
			{`{"mcpServers": [ ], "cwd":"/w"}`, `{"mcpServers": [` + entry + `], "cwd":"/w"}`},
			{`{"cwd":"/w","mcpServers":[{"name":"a"} ]}`, `{"cwd":"/w","mcpServers":[{"name":"a"} ,` + entry + `]}`},
			{`{"cwd":"/w","mcpServers":null}`, `{"cwd":"/w","mcpServers":[` + entry + `]}`},
			{`{"cwd":"/w","mcpServers":[{"name":"waybill"}]}`, `{"cwd":"/w","mcpServers":[{"name":"waybill"}]}`},
			{`{"cwd":"/w","mcpServers":7}`, `{"cwd":"/w","mcpServers":7}`},
			{`[]`, `[]`},
		},
		"session/resume": {
			{`{"sessionId":"s","cwd":"/w"}`, `{"mcpServers":[` + entry + `],"sessionId":"s","cwd":"/w"}`},
			{`{}`, `{"mcpServers":[` + entry + `]}`},
		},
		"session/load":  {{`{"sessionId":"s","cwd":"/w","mcpServers":[]}`, `{"sessionId":"s","cwd":"/w","mcpServers":[` + entry + `]}`}},
		"session/other": {{`{"mcpServers":[]}`, `{"mcpServers":[]}`}},
	} {
		for _, row := range rows {
			converse(t, &policy{server: &server}, func(c *talk) {
				line := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":%s}`
				c.editor.says(fmt.Sprintf(line, row[0]))
				c.agent.hears(fmt.Sprintf(line, row[1]))
			})
		}
	}
}

func TestAnotherVersionOfTheProtocolPasses(t *testing.T) {
	converse(t, &policy{due: "Do.", stops: []acp.Text{{Agent: "red"}}}, func(c *talk) {
		c.editor.says(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2}}`)
		c.agent.says(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2}}`)
		require.Len(t, c.editor.all(), 1)
		c.editor.says(asks)
		c.agent.says(ends)
		c.editor.hears(ends)
		require.Equal(t, asks, c.agent.all()[1])
	})
}

func TestAFaultOfThePolicyStopsNothing(t *testing.T) {
	converse(t, &policy{fault: errors.New("no disk")}, func(c *talk) {
		c.opened()
		c.editor.says(asks)
		c.agent.hears(asks)
		c.agent.says(ends)
		c.editor.hears(said("waybill: the turn ends unchecked: no disk"), ends)
	})
}

// A store that hangs delays a prompt, and an agent that reports more than fits waits. Nothing is lost.
func TestAPolicyThatHangsDelaysAndLosesNothing(t *testing.T) {
	p := &policy{hangs: true}
	converse(t, p, func(c *talk) {
		c.opened()
		const calls = 1000
		sent := make(chan error, 1)
		go func() { // ends when the proxy has taken all
			var err error
			for i := range calls {
				_, fault := fmt.Fprintf(c.agent.conn, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"%d","title":"ls","status":"completed"}}}`+"\n", i)
				err = errors.Join(err, fault)
			}
			sent <- err
		}()
		synctest.Wait()
		require.Empty(t, sent)
		close(p.block)
		require.NoError(t, <-sent)
		require.Len(t, c.editor.all(), calls)
		require.Len(t, c.policy.heard(), calls+1)
	})
}

func TestLinesThatAreNoMessagePass(t *testing.T) {
	long := `{"jsonrpc":"2.0","id":9,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"` + strings.Repeat("x", 3<<20) + `"}]}}`
	lines := []string{
		"Warning: deprecated", "", "\x00\xff\xfe", "{", `[` + asks + `]`, `{"jsonrpc":"1.0","id":1,"method":"session/prompt"}`,
		`{"id":-1,"method":"session/prompt","params":{}}`, `{"id":1,"id":2,"method":"session/prompt"}`, `null`, `{"method":"session/update","params":[]}`, long,
		strings.Repeat("x", 17<<16) + asks, // the last part of a long line looks like a prompt
		strings.Repeat("[", 20_000), `{"jsonrpc":"2.0","id":null,"result":{}}`, `{"jsonrpc":"2.0","id":4711,"result":{"stopReason":"end_turn"}}`,
	}
	converse(t, &policy{due: "Do.", stops: []acp.Text{{Agent: "red"}}}, func(c *talk) {
		c.editor.says(lines...)
		c.agent.hears(lines...)
		c.agent.says(lines...)
		c.editor.hears(lines...)
		_, err := io.WriteString(c.agent.conn, "an end without a newline")
		require.NoError(t, err)
		require.NoError(t, c.agent.conn.Close())
		synctest.Wait()
		require.Equal(t, "an end without a newline", <-c.editor.lines)
	})
}

// The last piece of a long line ends exactly where the input does, so no text is left that could end the line.
func TestASideThatEndsInsideALongLineHoldsNothingUp(t *testing.T) {
	long := strings.Repeat("x", 17<<16)
	converse(t, &policy{}, func(c *talk) {
		c.opened()
		c.editor.says(asks)
		_, err := io.WriteString(c.agent.conn, long)
		require.NoError(t, err)
		require.NoError(t, c.agent.conn.Close())
		c.editor.hears(long, `{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"the agent ended: exit status 3"}}`)
	})
}
