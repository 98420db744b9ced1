// What carries messages to an MCP server and back.
import type { Incoming, Outgoing } from './messages.ts'

export interface TransportEvents {
  onMessage(message: Incoming): void
  /** The server is gone, or says what cannot be read: every open question fails with this. */
  onClosed(error: Error): void
}

export interface Transport extends AsyncDisposable {
  /** Resolves when the message is on its way. */
  send(message: Outgoing, signal: AbortSignal): Promise<void>
  /** Tells the transport which version was agreed on. */
  agree(version: string): void
}

/** Longest message of a server. */
export const maxMessageBytes = 16 * 1024 * 1024
