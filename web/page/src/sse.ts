// Reads a stream of server-sent events, because the browser's reader cannot send the token.

export interface Message {
  id: string;
  event: string;
  data: string;
}

/** A Reader takes text and returns complete messages. */
export class Reader {
  private rest = "";
  private id = "";
  private event = "";
  private data: string[] = [];
  /** Wait before a new connection, as the server asked, in ms. */
  retry = 1000;

  /** A longer message is not from waybill. */
  static readonly mostRest = 16 * 1024 * 1024;

  push(text: string): Message[] {
    this.rest += text;
    const messages: Message[] = [];
    for (;;) {
      const end = this.rest.search(/\r\n|\n|\r(?=[^\n])/);
      if (end < 0) break;
      const line = this.rest.slice(0, end);
      this.rest = this.rest.slice(end + (this.rest.startsWith("\r\n", end) ? 2 : 1));
      const message = this.line(line);
      if (message) messages.push(message);
    }
    if (this.rest.length > Reader.mostRest) throw new Error("a line of the stream does not end");
    return messages;
  }

  private line(line: string): Message | undefined {
    if (line === "") return this.dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return undefined; // a comment, which says that the server is there
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    switch (name) {
      case "id":
        if (!value.includes("\0")) this.id = value;
        break;
      case "event":
        this.event = value;
        break;
      case "data":
        this.data.push(value);
        break;
      case "retry":
        if (/^\d{1,6}$/.test(value)) this.retry = Number(value);
        break;
    }
    return undefined;
  }

  private dispatch(): Message | undefined {
    const message = { id: this.id, event: this.event || "message", data: this.data.join("\n") };
    const empty = this.data.length === 0;
    this.event = "";
    this.data = [];
    return empty ? undefined : message;
  }
}

/**
 * The wait before the nth retry in a row: it doubles up to half a minute, with a random part that spreads clients.
 */
export function backoff(tries: number, first: number, random: number): number {
  return Math.min(30_000, first * 2 ** Math.min(10, tries)) * (0.75 + random / 2);
}
