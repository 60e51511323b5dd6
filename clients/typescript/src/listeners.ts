// Who wants to hear what.

/** Listeners holds the functions that are called for each name of M. */
export class Listeners<M> {
  readonly #by = new Map<keyof M, Set<(value: never) => void>>();

  /** Adds a listener, and gives the function that removes it. */
  on<K extends keyof M>(name: K, listener: (value: M[K]) => void): () => void {
    const all = this.#by.get(name) ?? new Set();
    this.#by.set(name, all);
    // A wrapper of its own, so that a function that was added twice is two listeners.
    const own = (value: M[K]) => listener(value);
    all.add(own);
    return () => void all.delete(own);
  }

  /** Calls the listeners. What one throws reaches neither the others nor the caller, but the process, as uncaught. */
  emit<K extends keyof M>(name: K, value: M[K]): void {
    for (const listener of [...(this.#by.get(name) ?? [])]) {
      try {
        (listener as (value: M[K]) => void)(value);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
