// One thing that is shown, read again when it became old.
import { useEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import type { Topic } from "./fold.ts";
import { touches } from "./fold.ts";
import { watch } from "./live.ts";
import { asFault } from "./wire.ts";
import type { Fault } from "./wire.ts";

export interface Thing<T> {
  /** The last reading, which stays while the next one is under way or fails. */
  value: ReadonlySignal<T | undefined>;
  fault: ReadonlySignal<Fault | undefined>;
  reload(): Promise<void>;
}

/** Reads a thing as long as the component is there: at once, for another key, and when one of the topics became old. */
export function useThing<T>(key: string, read: () => Promise<T>, topics: readonly Topic[], subject?: string): Thing<T> {
  const value = useSignal<T | undefined>(undefined);
  const fault = useSignal<Fault | undefined>(undefined);
  const turn = useRef({ key, n: 0 });
  const latest = useRef(read);
  latest.current = read;
  if (turn.current.key !== key) {
    // What was read for another key must not be seen for a moment under this one.
    turn.current = { key, n: turn.current.n + 1 };
    value.value = undefined;
    fault.value = undefined;
  }
  const reload = async () => {
    const mine = ++turn.current.n;
    try {
      const got = await latest.current();
      if (mine !== turn.current.n) return;
      value.value = got;
      fault.value = undefined;
    } catch (thrown) {
      if (mine === turn.current.n) fault.value = asFault(thrown);
    }
  };
  useEffect(() => {
    void reload();
    const stop = watch((change) => {
      if (touches(change, topics, subject)) void reload();
    });
    return () => {
      turn.current.n++;
      stop();
    };
  }, [key]);
  return { value, fault, reload };
}
