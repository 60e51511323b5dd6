// Proof: how much the checks of a run prove, and the receipts of their executions.
import type { JSX } from "preact";
import type { Receipt, Run } from "../../../schema/gen/protocol.ts";
import { Age, Fact, Facts } from "./parts.tsx";
import { Block, Text } from "./text.tsx";
import { duration } from "./words.ts";

const meanings: Record<string, string> = {
  none_required: "said, not proven",
  missing: "a check was not run",
  stale: "the files changed after a check",
  untrusted: "a person must look",
  refuted: "a check failed",
  proven: "proven",
};

export function Proof({ run, receipts }: { run: Run; receipts: readonly Receipt[] }): JSX.Element | null {
  const { state, required = [], green = [], red = [], due = [] } = run.proof;
  if (required.length === 0 && receipts.length === 0) return null;
  return (
    <section>
      <h3>Proof</h3>
      <Facts>
        <Fact name="Now">{meanings[state] ?? state}</Fact>
        <Fact name="Required">{names(required)}</Fact>
        <Fact name="Green">{names(green)}</Fact>
        <Fact name="Red">{names(red)}</Fact>
        <Fact name="To run">{names(due.filter((check) => !red.includes(check)))}</Fact>
      </Facts>
      {receipts.length > 0 && <ul class="plain">{[...receipts].reverse().map((r) => <li key={r.receipt_id}><One of={r} /></li>)}</ul>}
    </section>
  );
}

function names(checks: readonly string[]): JSX.Element | undefined {
  return checks.length > 0 ? <Text of={checks.join(", ")} /> : undefined;
}

function One({ of: r }: { of: Receipt }): JSX.Element {
  const how = r.reason ?? (r.exit_code === undefined ? "" : `exit status ${r.exit_code}`);
  return (
    <details>
      <summary>
        <Text of={r.check} />: {r.outcome}{how && <> (<Text of={how} />)</>}, in {duration(r.duration_ms ?? 0)}, <Age of={r.at} />
      </summary>
      {r.command && <p><code><Text of={r.command} /></code></p>}
      {r.output ? <Block of={r.output} label={`Output of ${r.check}`} code /> : <p class="faint">It had no output.</p>}
    </details>
  );
}
