// The little of node that the tests use: its own declarations would be one more package.
declare module "node:test" {
  export function test(name: string, fn: () => void | Promise<void>): void;
}
declare module "node:assert/strict" {
  interface Assert {
    ok(value: unknown, message?: string): void;
    equal(got: unknown, want: unknown, message?: string): void;
    notEqual(got: unknown, want: unknown, message?: string): void;
    deepEqual(got: unknown, want: unknown, message?: string): void;
    match(got: string, want: RegExp, message?: string): void;
    throws(fn: () => unknown): void;
    rejects(work: Promise<unknown>, pattern?: RegExp): Promise<void>;
  }
  const assert: Assert;
  export default assert;
}
