export {
  BridgeClient,
  type BridgeOptions,
  type BridgeState,
  type CallContext,
  type Endpoint,
  type Socket,
  type SocketConstructor,
  ToolFailure,
  type ToolHandler,
} from "./client.ts";
export { FRAME_LIMIT, SUBPROTOCOL } from "./frames.ts";
export { type Effect, ShellSession } from "./session.ts";
