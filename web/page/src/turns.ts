// Shares one piece of work between many callers.

/**
 * Returns a function that does the work, never twice at a time. Calls during the work share one more round after it,
 * so that each caller gets a result from after the call. Errors of the work are lost; the work must report them.
 */
export function inTurn(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let again: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    const mine: Promise<void> = work()
      .catch(() => undefined)
      .then(() => {
        if (running === mine) running = undefined;
      });
    running = mine;
    return mine;
  };
  return () => {
    if (again) return again;
    if (!running) return begin();
    again = running.then(() => {
      again = undefined;
      return begin();
    });
    return again;
  };
}
