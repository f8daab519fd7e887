import { readFileSync } from 'node:fs'
import { AgentToServer, ServerToAgent } from '../../lib/opamp/schema.ts'

/** A message as protobufjs takes it: camel-cased field names, bytes as Uint8Array. */
export type PlainMessage = Record<string, unknown>

/** 16 bytes that differ by `n`, shaped like a UUIDv7. */
export function uidBytes(n: number): Uint8Array {
  const bytes = Buffer.from('0192d3b40000700080000000'.padEnd(32, '0'), 'hex')
  bytes.writeUInt32BE(n, 12)
  return new Uint8Array(bytes)
}

/** Decode hex into bytes. */
export const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'))

/** String attributes as the protocol's key-value list. */
export const keyValues = (attributes: Record<string, string>): PlainMessage[] =>
  Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } }))

/** One AgentToServer as an HTTP body. */
export function agentBody(message: PlainMessage): Uint8Array {
  return AgentToServer.encode(AgentToServer.fromObject(message)).finish()
}

/** One AgentToServer as a WebSocket frame. */
export const agentFrame = (message: PlainMessage): Uint8Array =>
  Buffer.concat([hex('00'), agentBody(message)])

/** One ServerToAgent as plain values: bytes as Buffer, 64-bit numbers as number, absent parts left out. */
export function readServerBody(body: Uint8Array): PlainMessage {
  return ServerToAgent.toObject(ServerToAgent.decode(body), { longs: Number })
}

/** One frame of the server, which must carry its zero header. */
export function readServerFrame(frame: Uint8Array): PlainMessage {
  if (frame[0] !== 0) throw new Error(`a server frame starts with ${frame[0]}, expected the header 0`)
  return readServerBody(frame.subarray(1))
}

/** One recorded message, and how many ms after the start of the recording it came. */
export interface Recorded {
  ms: number
  bytes: Uint8Array
}

/** A recording of `test/fixtures/opamp`, by its file name without the ending. */
export function readRecording(name: string): Recorded[] {
  return readFixture(`${name}.jsonl`)
    .toString('utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const { ms, frame } = JSON.parse(line) as { ms: number; frame: string }
      return { ms, bytes: new Uint8Array(Buffer.from(frame, 'base64')) }
    })
}

/** The bytes of one file of `test/fixtures/opamp`. */
export function readFixture(fileName: string): Buffer {
  return readFileSync(new URL(`../fixtures/opamp/${fileName}`, import.meta.url))
}
