// How a client is made, how a call is made, and what the client tells of beside the notifications of waybill.

import type { Ending } from "./connection.js";
import type { ConnectionMethod } from "./methods.js";
import type { InitializeParams, MethodMap } from "./protocol.js";
import type { Restart } from "./restart.js";

/** Everything of this may be left out. */
export interface Options {
  /** The program: a path, or a name that is looked for on the PATH. Default: WAYBILL_BIN, or else `waybill`. */
  binary?: string;
  /** Its arguments, such as `serve --http`. Default: none, which is `serve`. */
  args?: readonly string[];
  /** The directory to work in, for `--workspace`. Default: waybill finds it from where it is started. */
  workspace?: string;
  /** Where it is started. Default: the workspace, or else where this process is. */
  cwd?: string;
  /** Variables for it, beside those of this process; undefined takes one away. */
  env?: Record<string, string | undefined>;
  /** What each process is told before anything else. Nothing needs it. */
  initialize?: InitializeParams;
  /** Whether to go on with a new process when one has died, and how. Default: no. */
  restart?: boolean | Restart;
  /** The largest message that is read. Default: 64 MiB. */
  maxMessageBytes?: number;
  /**
   * Whether this process may end without closing the client, and without waiting for answers, as a guest in somebody
   * else's process should let it. waybill leaves then by itself. Default: no.
   */
  unref?: boolean;
  /** How long `close` waits for waybill to leave by itself. Default: 5000. */
  graceMs?: number;
}

/** How a call is made. */
export interface CallOptions {
  /** Asks waybill to give the call up. It rejects with CANCELLED if nothing was applied, and is answered as usual otherwise. */
  signal?: AbortSignal;
}

/** What happened to the process. */
export interface ProcessMap {
  /** A process was started; `restarts` is 0 for the first. */
  started: { pid: number; restarts: number };
  /** The process has gone; `restartMs` is when there will be another, if there will. */
  exited: Ending & { restartMs?: number };
  /** Its output had something in it that is no message. It was passed over. */
  garbage: { text: string };
}

/** A method that can be called. What is about the connection itself, the client does. */
export type Method = Exclude<keyof MethodMap, ConnectionMethod>;
/** The params of a method. */
export type Params<M extends Method> = MethodMap[M]["params"];
/** The result of a method. */
export type Result<M extends Method> = MethodMap[M]["result"];
/** What follows the name of a method in a call: params may be left out where none are required. */
export type Arguments<M extends Method> = {} extends Params<M>
  ? [params?: Params<M>, options?: CallOptions]
  : [params: Params<M>, options?: CallOptions];
