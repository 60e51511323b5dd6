// Cuts the bytes that a program prints into lines, and refuses to hold more than a limit for one.

const newline = 10;

/** Lines gives each whole line to `line`. What is behind the last newline when the program ends is no message. */
export class Lines {
  readonly #limit: number;
  readonly #line: (text: string) => void;
  readonly #tooLong: () => void;
  #pieces: Buffer[] = [];
  #size = 0;

  /** tooLong is called for a line over the limit in bytes, and then nothing more is held of it. */
  constructor(limit: number, line: (text: string) => void, tooLong: () => void) {
    this.#limit = limit;
    this.#line = line;
    this.#tooLong = tooLong;
  }

  /** Takes in what was printed next. */
  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      this.#add(chunk.subarray(from, end));
      this.#end();
      from = end + 1;
    }
    this.#add(chunk.subarray(from));
  }

  #add(piece: Buffer): void {
    if (piece.length === 0) return;
    const before = this.#size;
    this.#size += piece.length;
    if (this.#size <= this.#limit) {
      this.#pieces.push(piece);
    } else if (before <= this.#limit) {
      this.#pieces = [];
      this.#tooLong();
    }
  }

  #end(): void {
    const text = Buffer.concat(this.#pieces).toString("utf8");
    const whole = this.#size <= this.#limit;
    this.#pieces = [];
    this.#size = 0;
    if (whole && text.trim() !== "") this.#line(text);
  }
}

/** A Tail keeps the last bytes of a text, for when somebody asks what was said last. */
export class Tail {
  readonly #limit: number;
  #kept = Buffer.alloc(0);

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Buffer): void {
    const last = chunk.subarray(Math.max(0, chunk.length - this.#limit));
    const room = this.#limit - last.length;
    this.#kept = Buffer.concat([this.#kept.subarray(Math.max(0, this.#kept.length - room)), last]);
  }

  toString(): string {
    return this.#kept.toString("utf8").trim();
  }
}
