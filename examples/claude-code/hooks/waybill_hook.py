"""Hooks of Claude Code for waybill: tool calls are reported as events, and due instructions are handed to the agent.

The event comes as JSON on standard input, and what Claude Code is to do goes to standard output. Whatever goes wrong is
one line on standard error and the exit code 0: the agent goes on as if there were no hook. Python 3.8 or newer, the
standard library, no daemon: each call is a `waybill call` on the store of the workspace.
"""
import json
import math
import os
import re
import subprocess
import sys
import threading

MAX_INPUT = 32 << 20  # bytes; what is longer is not read
MAX_TEXT, MAX_MEMBERS, MAX_DEPTH, MAX_DATA = 4096, 100, 8, 200_000  # of what is reported
MAX_HANDED = 8000  # bytes; Claude Code puts what has more than 10,000 characters into a file
ID = re.compile(r"[A-Za-z0-9._:-]{1,128}\Z")
ending = threading.Lock()  # whoever holds it says the last word


def seconds(text):
    """Gives how long the hook may take: less than the timeout of its settings."""
    try:
        return min(max(float(text), 0.1), 600)
    except ValueError:
        return 8


ALL_S = seconds(os.environ.get("WAYBILL_HOOK_S", ""))
CALL_S = ALL_S * 3 / 4  # how long waybill may take


class Trouble(Exception):
    """Something that is told in one line."""


def plain(text, most=500):
    """Gives text on one line, without what moves the cursor of a terminal."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:most]


def complain(what):
    line = f"waybill hook: {plain(str(what))}\n"
    try:
        os.write(2, line.encode("utf-8", "replace"))
    except OSError:  # nobody listens
        pass


def leave(trouble=None):
    """Ends the process, whatever another thread of it waits for. An agent is not to stand still because of a hook."""
    ending.acquire()
    if trouble is not None:
        complain(trouble)
    os._exit(0)


def cut(value, depth=0):
    """Gives a JSON value as it can be reported: long texts, lists and objects lose their ends, and what waybill refuses
    is replaced, such as U+0000."""
    if isinstance(value, str):
        return value[:MAX_TEXT].replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    if isinstance(value, int) and abs(value) >= 2**53:
        return str(value)
    if isinstance(value, float) and not math.isfinite(value) or depth > MAX_DEPTH:
        return None
    if isinstance(value, list):
        return [cut(v, depth + 1) for v in value[:MAX_MEMBERS]]
    if isinstance(value, dict):
        return {cut(k): cut(v, depth + 1) for k, v in list(value.items())[:MAX_MEMBERS]}
    return value


def read_event(stream):
    raw = stream.read(MAX_INPUT + 1)
    if len(raw) > MAX_INPUT:
        while stream.read(1 << 20):  # whoever writes is not to be cut off
            pass
        raise Trouble(f"the event has more than {MAX_INPUT} bytes and is left out")
    try:
        event = json.loads(raw)
    except (ValueError, RecursionError) as err:
        raise Trouble(f"the event is not JSON: {err}") from None
    if not isinstance(event, dict):
        raise Trouble("the event is not a JSON object")
    return event


def call(method, params):
    """Carries out one method. $WAYBILL says where the program is, if it is not on the path."""
    program = os.environ.get("WAYBILL") or "waybill"
    try:
        done = subprocess.run([program, "call", method, "-"], input=json.dumps(params).encode(),
                              capture_output=True, timeout=CALL_S)
        if done.returncode == 0:
            answer = json.loads(done.stdout)
            if isinstance(answer, dict) and "seq" in answer:
                return answer
            raise Trouble(f"{program} printed no result of {method}")
    except subprocess.TimeoutExpired:
        raise Trouble(f"{method} took more than {CALL_S:g} s") from None
    except OSError as err:
        raise Trouble(f"{program} cannot be run: {err}; install it, or name it in $WAYBILL") from None
    except ValueError:
        raise Trouble(f"{program} printed something that is not JSON for {method}") from None
    raise Trouble(f"{method}: {done.stderr.decode(errors='replace') or f'exit code {done.returncode}'}")


def session(event):
    name = os.environ.get("WAYBILL_SESSION") or event.get("session_id")
    if not isinstance(name, str) or not ID.match(name):
        raise Trouble(f"{str(name)[:80]!r} cannot be the name of a session")
    return name


def report(event):
    """Reports a tool call, so that instructions whose ack_on matches are acknowledged. Nothing goes to the agent."""
    failed = event.get("hook_event_name") == "PostToolUseFailure"
    names = ("tool_name", "tool_input", "error" if failed else "tool_response", "cwd", "agent_type")
    data = {name: cut(event[name]) for name in names if name in event}
    for name in ("tool_response", "tool_input"):
        if len(json.dumps(data)) > MAX_DATA:
            data.pop(name, None)
    params = {"session_id": session(event), "type": "tool_failed" if failed else "tool", "data": data}
    once = f"claude-code:{event.get('tool_use_id', '')}"
    if "tool_use_id" in event and ID.match(once):
        params["idempotency_key"] = once
    call("report_event", params)


def dispatch(event):
    """Does one dispatch pass. Gives what to tell the agent, and what to tell the person."""
    done = call("dispatch_instructions", {"session_id": session(event), "max_bytes": MAX_HANDED})
    texts = [send["text"] for send in done["instructions"]]
    lost = [f"never confirmed after {i['sends']} sends: {plain(i['content'], 200)}" for i in done["failed"]]
    return "\n\n".join(texts), "\n".join(f"waybill: {line}" for line in lost)


def inform(event):
    """Hands instructions over with the prompt of the person. No other event begins a turn: a pass at the start of a session
    would use up a send before the model runs."""
    told, lost = dispatch(event)
    output = {"systemMessage": lost} if lost else {}
    if told:
        output["hookSpecificOutput"] = {"hookEventName": event["hook_event_name"], "additionalContext": told}
    return output


def stop(event):
    """Lets the agent go on if something came while it worked; once, for it would never come to an end otherwise."""
    if event.get("stop_hook_active"):
        return {}
    told, lost = dispatch(event)
    output = {"systemMessage": lost} if lost else {}
    if told:
        output.update(decision="block", reason=told)
    return output


HOOKS = {
    "PostToolUse": report, "PostToolUseFailure": report,
    "UserPromptSubmit": inform, "Stop": stop,
}


def main():
    clock = threading.Timer(ALL_S, leave, [f"gave up after {ALL_S:g} s"])
    clock.daemon = True
    clock.start()
    try:
        event = read_event(sys.stdin.buffer)
        name = event.get("hook_event_name")
        if not isinstance(name, str) or name not in HOOKS:
            raise Trouble(f"{str(name)[:80]!r} is no event that it is for; see settings.json of the example")
        output = HOOKS[name](event)
        if output:
            print(json.dumps(output), flush=True)
    except Trouble as trouble:
        leave(trouble)
    except Exception as fault:  # a fault in here
        leave(f"{type(fault).__name__}: {fault}")
    leave()


if __name__ == "__main__":
    main()
