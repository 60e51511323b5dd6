// Work that many ask for, and that is done once for all of them.

/**
 * Gives a function that does the work, never twice at a time. While it is under way, any number of calls are one more,
 * which begins when it has ended: so whoever calls gets what is true after the call, and a storm of calls neither piles
 * up nor keeps the work from coming to an end. What the work throws is lost; it has to say itself that it failed.
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
