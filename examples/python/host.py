"""A host: spawn waybill, hand an instruction over, confirm it, compile a prompt for the first item that can be begun."""
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
    raise SystemExit(f"{method}: waybill has gone")

queued = call("queue_instruction_with_ack", content="Run the tests.", ack_on={"event_type": "tests.passed"})
for send in call("dispatch_instructions")["instructions"]:
    print("to the agent:", send["text"])
print("acknowledged:", queued["instruction_id"] in call("report_event", type="tests.passed")["acknowledged"])
for plan in (p["path"] for p in call("list_plans")["items"] if "error" not in p):
    if ready := call("ready_items", plan=plan)["ready"]:
        run = call("init_run", plan=plan, item_id=ready[0])["run"]
        print(call("compile_prompt", run_id=run["run_id"], role="worker")["prompt"])
        break
else: print("no plan has an item that can be begun")
waybill.stdin.close()
sys.exit(waybill.wait())
