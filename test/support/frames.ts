import { assert } from 'superstruct'
import { HubFrame } from '../../lib/wire/hub.ts'

/** A frame as it came over a socket; throws when it is none that the schemas of `lib/wire` tell of. */
export function readFrame(data: Uint8Array | string): HubFrame {
  const frame: unknown = JSON.parse(typeof data === 'string' ? data : Buffer.from(data).toString('utf8'))
  assert(frame, HubFrame)
  return frame
}
