/**
 * A client of waybill, the sidecar that hands instructions and tasks to coding agents: it starts the program, calls its
 * methods with their types, and gives its notifications and its log. It needs nothing but Node, and opens no connection.
 */
export { Waybill } from "./client.js";
export type { Arguments, CallOptions, Method, Options, Params, ProcessMap, Result } from "./options.js";
export type { Ending } from "./connection.js";
export { WaybillError } from "./errors.js";
export type { ClientCode, Outcome } from "./errors.js";
export type { FeedOptions } from "./feed.js";
export type { Restart } from "./restart.js";
export type * from "./protocol.js";
