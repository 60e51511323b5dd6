"""A worker: create a task if it is given one, then claim tasks until none is left, and run each in a session."""
import itertools, json, subprocess, sys, threading, uuid

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

def agent(prompt):  # here an agent would work
    return f"I was told: {prompt}"

for prompt in sys.argv[1:]:
    call("create_task", prompt=prompt, models=[{"provider_id": "acme", "model_id": "large"}])
while claim := call("claim_task", worker="worker.py", lease_ms=60000)["claim"]:
    mine = {"task_id": claim["task"]["task_id"], "lease_token": claim["lease"]["token"]}
    call("bind_session", **mine, attempt_id=claim["attempt"]["attempt_id"], session_id=f"ses_{uuid.uuid4()}")
    done = threading.Event()
    def beat():  # until it is done: a lease that is not renewed goes to another worker
        while not call("heartbeat", **mine)["cancel_requested"] and not done.wait(20): pass
    heart = threading.Thread(target=beat)
    heart.start()
    output = agent(claim["prompt"])
    done.set()
    heart.join()
    report = call("finish_attempt", **mine, status="completed", output=output)
    print(mine["task_id"], report["task"]["status"], "applied:", report["applied"])
waybill.stdin.close()
sys.exit(waybill.wait())
