// Compares two texts by lines.

export interface Line {
  kind: "same" | "added" | "removed";
  text: string;
}

/** Beyond this number, differing lines are not compared: all are removed and added. */
const most = 1500;

/** The lines of both texts in order, with equal ones once. */
export function diff(before: string, after: string): Line[] {
  const a = before.split("\n");
  const b = after.split("\n");
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const middle = between(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return [...as("same", a.slice(0, start)), ...middle, ...as("same", a.slice(a.length - end))];
}

function as(kind: Line["kind"], lines: readonly string[]): Line[] {
  return lines.map((text) => ({ kind, text }));
}

/** By the longest common sequence of lines. */
function between(a: readonly string[], b: readonly string[]): Line[] {
  if (a.length > most || b.length > most) return [...as("removed", a), ...as("added", b)];
  const width = b.length + 1;
  const common = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const down = common[(i + 1) * width + j] ?? 0;
      const right = common[i * width + j + 1] ?? 0;
      common[i * width + j] = a[i] === b[j] ? (common[(i + 1) * width + j + 1] ?? 0) + 1 : Math.max(down, right);
    }
  }
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: "same", text: a[i] ?? "" });
      i++;
      j++;
    } else if (j >= b.length || (i < a.length && (common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0))) {
      lines.push({ kind: "removed", text: a[i++] ?? "" });
    } else {
      lines.push({ kind: "added", text: b[j++] ?? "" });
    }
  }
  return lines;
}

/** Leaves out equal lines far from a difference, with null in their place. */
export function near(lines: readonly Line[], context: number): (Line | null)[] {
  const wanted = new Set<number>();
  lines.forEach((line, n) => {
    if (line.kind === "same") return;
    for (let i = n - context; i <= n + context; i++) wanted.add(i);
  });
  const shown: (Line | null)[] = [];
  lines.forEach((line, n) => {
    if (wanted.has(n)) shown.push(line);
    else if (shown.at(-1) !== null) shown.push(null);
  });
  return shown;
}
