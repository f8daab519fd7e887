import { assert } from 'superstruct'
import { HubFrame } from '../../lib/wire/hub.ts'

/** Read a frame as it came over a browser's socket; throws when it fits no schema of `lib/wire`. */
export function readFrame(data: Uint8Array | string): HubFrame {
  const frame: unknown = JSON.parse(typeof data === 'string' ? data : Buffer.from(data).toString('utf8'))
  assert(frame, HubFrame)
  return frame
}
