// The prompt that an agent of a role would get now, with the sources of its parts. Looking at it has no effect.
import type { JSX } from "preact";
import { useSignal } from "@preact/signals";
import type { CompilePromptResult, PromptBlock } from "../../../schema/gen/protocol.ts";
import { diff, near } from "./diff.ts";
import { At, Fact, Facts, Trouble } from "./parts.tsx";
import { Block, Text } from "./text.tsx";
import { address, ask, asFault } from "./wire.ts";
import type { Fault } from "./wire.ts";
import { count, many } from "./words.ts";

const roles = ["worker", "spec-reviewer", "code-quality-reviewer"] as const;
type Role = (typeof roles)[number];

export function PromptPreview({ run }: { run: string }): JSX.Element {
  const role = useSignal<Role>("worker");
  const got = useSignal<{ run: string; role: Role; result: CompilePromptResult } | undefined>(undefined);
  const fault = useSignal<Fault | undefined>(undefined);
  const busy = useSignal(false);
  const look = async () => {
    const wanted = role.value;
    busy.value = true;
    fault.value = undefined;
    try {
      got.value = { run, role: wanted, result: await ask("compile_prompt", address`/api/runs/${run}/prompt`, { role: wanted, blocks: true }) };
    } catch (thrown) {
      got.value = undefined;
      fault.value = asFault(thrown);
    } finally {
      busy.value = false;
    }
  };
  const choose = (other: Role) => {
    role.value = other;
    fault.value = undefined; // it was about another one
  };
  // A prompt is shown only for its own role.
  const shown = got.value?.run === run && got.value.role === role.value ? got.value.result : undefined;
  return (
    <section class="prompt" aria-labelledby="prompt-title">
      <h3 id="prompt-title">Prompt</h3>
      <p class="buttons">
        <label class="inline">
          for{" "}
          <select value={role.value} onChange={(e) => choose(roles[e.currentTarget.selectedIndex] ?? "worker")}>
            {roles.map((r) => <option key={r}>{r}</option>)}
          </select>
        </label>
        <button type="button" aria-disabled={busy.value} onClick={() => busy.value || void look()}>
          {busy.value ? "Compiling…" : shown ? "Compile again" : "Preview"}
        </button>
      </p>
      {fault.value && <Trouble fault={fault.value} />}
      {shown && <Compiled of={shown} />}
    </section>
  );
}

function Compiled({ of: p }: { of: CompilePromptResult }): JSX.Element {
  return (
    <>
      <Facts>
        <Fact name="Tokens">{count(p.prompt_tokens_after)} of {count(p.prompt_token_budget)}, by {p.tokenizer}</Fact>
        <Fact name="Made smaller">{p.compaction.applied && <>{p.compaction.stage}, from {count(p.prompt_tokens_before)}</>}</Fact>
        <Fact name="Packet">{p.packet.mode}{p.packet.why_full && ` (${p.packet.why_full.replaceAll("_", " ")})`}</Fact>
        <Fact name="Plan read">{p.ledger_mode === "ledger_only" ? "as it is" : <>not as it is: <Text of={p.fallback_detail ?? p.fallback_reason} /></>}</Fact>
        <Fact name="Left out">
          {p.omitted.length > 0 && <ul class="plain">{p.omitted.map((o, i) => <li key={i}><Text of={o.what} />: <Text of={o.why} /></li>)}</ul>}
        </Fact>
        <Fact name="Version">{p.prompt_version}, <code>{p.stable_prefix_hash.slice(0, 12)}</code></Fact>
      </Facts>
      <div class="blocks">{(p.blocks ?? []).map((b, i) => <Part key={i} of={b} open={i > 0} />)}</div>
      <Before of={p} />
    </>
  );
}

function Part({ of: b, open }: { of: PromptBlock; open: boolean }): JSX.Element {
  return (
    <details open={open} class={`part ${b.trust}`}>
      <summary>
        <strong><Text of={b.name} /></strong>{" "}
        <span class={`trust ${b.trust}`}>{b.trust}</span>{" "}
        <span class="faint">
          from <Text of={b.sources.join(", ")} />
          {b.ref && <>, <Text of={b.ref} /></>} · {many(b.tokens, "token")}
          {b.neutralised > 0 && ` · ${b.neutralised} made harmless`}
        </span>
      </summary>
      <Block of={b.text} label={b.name} code />
    </details>
  );
}

/** The difference from the last prompt. */
function Before({ of: p }: { of: CompilePromptResult }): JSX.Element {
  if (p.last_prompt === undefined) {
    return <p class="faint">{p.last_prompt_lost ? `The last prompt was not kept (${p.last_prompt_lost.replaceAll("_", " ")}).` : "This role has no prompt yet."}</p>;
  }
  if (p.last_prompt.prompt === p.prompt) return <p class="faint">The last prompt was the same, <At of={p.last_prompt.compiled_at} />.</p>;
  return (
    <details>
      <summary>Changes since the last prompt, <At of={p.last_prompt.compiled_at} /></summary>
      <div class="diff" role="group" aria-label="Difference" tabIndex={0}>
        {near(diff(p.last_prompt.prompt, p.prompt), 3).map((line, i) =>
          line === null ? (
            <div key={i} class="faint">…</div>
          ) : (
            <div key={i} class={`line ${line.kind}`}>
              <span class="sign">{{ same: " ", added: "+", removed: "−" }[line.kind]}</span>
              <Text of={line.text} />
            </div>
          ),
        )}
      </div>
    </details>
  );
}
