// One record on the page, read again when it is outdated.
import { useEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import type { Topic } from "./fold.ts";
import { touches } from "./fold.ts";
import { watch } from "./live.ts";
import { inTurn } from "./turns.ts";
import { asFault } from "./wire.ts";
import type { Fault } from "./wire.ts";

export interface Thing<T> {
  /** The last reading, which stays during the next one and after a failure. */
  value: ReadonlySignal<T | undefined>;
  fault: ReadonlySignal<Fault | undefined>;
  reload(): Promise<void>;
}

/** The reading for a key, until the key changes or the component goes. */
interface Subject {
  key: string;
  reload: () => Promise<void>;
}

/** Reads a record while the component exists: at once, for a new key, and when a topic is outdated. */
export function useThing<T>(key: string, read: () => Promise<T>, topics: readonly Topic[], subject?: string): Thing<T> {
  const value = useSignal<T | undefined>(undefined);
  const fault = useSignal<Fault | undefined>(undefined);
  const current = useRef<Subject | undefined>(undefined);
  const latest = useRef(read);
  latest.current = read;
  const about = (): Subject => {
    const mine: Subject = {
      key,
      reload: inTurn(async () => {
        if (current.current !== mine) return;
        try {
          const got = await latest.current();
          if (current.current !== mine) return;
          value.value = got;
          fault.value = undefined;
        } catch (thrown) {
          if (current.current === mine) fault.value = asFault(thrown);
        }
      }),
    };
    return mine;
  };
  if (current.current?.key !== key) {
    // The reading for another key must not show under this one.
    current.current = about();
    value.value = undefined;
    fault.value = undefined;
  }
  useEffect(() => {
    const mine = (current.current ??= about());
    void mine.reload();
    const stop = watch((change) => {
      if (touches(change, topics, subject)) void mine.reload();
    });
    return () => {
      if (current.current === mine) current.current = undefined;
      stop();
    };
  }, [key]);
  return { value, fault, reload: current.current.reload };
}
