"""A worker: create a task if it is given one, then claim tasks until none is left, and run each in a session."""
import itertools, json, subprocess, sys, threading, uuid

LEASE_MS = 60_000
waybill = subprocess.Popen(["waybill"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
ids, lock = itertools.count(1), threading.Lock()

def call(method, **params):
    with lock:  # one call at a time: the heart beats in a thread of its own
        request = {"jsonrpc": "2.0", "id": next(ids), "method": method, "params": params}
        print(json.dumps(request), file=waybill.stdin, flush=True)
        for line in waybill.stdout:  # notifications may come in between; they have no id
            answer = json.loads(line)
            if answer.get("id") == request["id"]:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']['message']}")
                return answer["result"]
        raise SystemExit(f"{method}: waybill has gone")

def agent(prompt, stop):  # here an agent would work, and look at stop.is_set() now and then
    return {"status": "completed", "output": f"I was told: {prompt}"}

def beat(mine, stop, over, heard):  # a lease that is not renewed goes to another worker
    try:
        while heard["applied"] and not heard.get("cancel_requested") and not over.wait(LEASE_MS / 3000):
            heard.update(call("heartbeat", **mine))
    finally: stop.set()  # nobody waits for this attempt any more

for prompt in sys.argv[1:]:
    call("create_task", prompt=prompt, models=[{"provider_id": "acme", "model_id": "large"}])
while claim := call("claim_task", worker="worker.py", lease_ms=LEASE_MS)["claim"]:
    mine = {"task_id": claim["task"]["task_id"], "lease_token": claim["lease"]["token"]}
    heard = call("bind_session", **mine, attempt_id=claim["attempt"]["attempt_id"], session_id=f"ses_{uuid.uuid4()}")
    stop, over = threading.Event(), threading.Event()
    heart = threading.Thread(target=beat, args=(mine, stop, over, heard))
    heart.start()
    try: report = agent(claim["prompt"], stop) if heard["applied"] else {}
    except Exception as failure: report = {"status": "error", "error": {"message": repr(failure)}}
    finally: over.set(), heart.join()
    if heard.get("cancel_requested"): report = {"status": "cancelled"}
    if heard["applied"]: heard = call("finish_attempt", **mine, **report)
    print(mine["task_id"], heard.get("task", {}).get("status", "is not mine any more"), "applied:", heard["applied"])
waybill.stdin.close()
sys.exit(waybill.wait())
