"""A host: spawn waybill, hand an instruction over, confirm it, compile a prompt."""
import itertools, json, subprocess, sys

waybill = subprocess.Popen(sys.argv[1:] or ["waybill"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
ids = itertools.count(1)

def call(method, **params):
    request = {"jsonrpc": "2.0", "id": next(ids), "method": method, "params": params}
    print(json.dumps(request), file=waybill.stdin, flush=True)
    for line in waybill.stdout:  # notifications may come in between; they have no id
        answer = json.loads(line)
        if answer.get("id") == request["id"]:
            if "error" in answer:
                raise SystemExit(f"{method}: {answer['error']['message']}")
            return answer["result"]

queued = call("queue_instruction_with_ack", content="Run the tests.", ack_on={"event_type": "tests.passed"})
for send in call("dispatch_instructions")["instructions"]:
    print("to the agent:", send["text"])
print("acknowledged:", call("report_event", type="tests.passed")["acknowledged"] == [queued["instruction_id"]])
item = next(i for i in call("get_plan", plan="tasks.md")["items"] if i["status"] == "in_progress")
run = call("init_run", plan="tasks.md", item_id=item["item_id"])["run"]
print(call("compile_prompt", run_id=run["run_id"], role="worker")["prompt"])
waybill.stdin.close()
sys.exit(waybill.wait())
