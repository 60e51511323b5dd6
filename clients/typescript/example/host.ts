import { Waybill } from "waybill-client";

const waybill = new Waybill({ restart: true }); // if it dies, another one takes over
try {
  await waybill.start(); // from here on notifications come
  waybill.on("task/awaiting_response", ({ task_id, question }) => {
    console.log("asked:", question);
    void waybill.call("reply", { task_id, reply: "Drop it." });
  });
  // An instruction is handed out before each turn of the agent until an event acknowledges it.
  await waybill.call("queue_instruction_with_ack", { content: "Run the tests.", ack_on: { event_type: "tests.passed" } });
  const { instructions } = await waybill.call("dispatch_instructions");
  for (const { text } of instructions) console.log("to the agent:", text);
  const { acknowledged } = await waybill.call("report_event", { type: "tests.passed" });
  console.log("acknowledged:", acknowledged.length);
  // A task asks a person, and the answer continues it.
  const { task } = await waybill.call("create_task", { prompt: "Migrate the loans." });
  for (let done = false; !done; ) {
    const { claim } = await waybill.call("claim_task", { worker: "me", wait_ms: 25_000 });
    if (!claim) continue;
    done = claim.continuation;
    const mine = { task_id: task.task_id, lease_token: claim.lease.token };
    if (done) await waybill.call("finish_attempt", { ...mine, status: "completed", output: "Dropped." });
    else await waybill.call("finish_attempt", { ...mine, status: "awaiting_response", question: "Keep the old column?" });
  }
  for await (const event of waybill.events({ cursor: "0" })) {
    console.log(event.seq, event.type);
    if (event.type === "notice.posted" && event.data["kind"] === "task.finished") break;
  }
} finally {
  await waybill.close();
}
