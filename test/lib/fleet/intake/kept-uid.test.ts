import { afterEach, beforeEach, expect, it } from 'vitest'
import { toHex } from '../../../../lib/ids.ts'
import { decodeFrame } from '../../../../lib/opamp/codec.ts'
import { createFleetContext, type FleetTestContext } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
beforeEach(async () => {
  ctx = await createFleetContext(database)
})
afterEach(() => ctx.close())

it('keeps the uid of an agent that begins with a bare beat, and not the memory in which the beat came', () => {
  const uid = Uint8Array.from({ length: 16 }, (_, n) => n + 1)
  // Short messages lie side by side in memory that hundreds share.
  const shared = new Uint8Array(8_192)
  shared.set([0x00, 0x0a, 16, ...uid, 0x10, 5], 100)
  const intake = decodeFrame(shared.subarray(100, 121))
  if (!intake.ok) throw new Error(intake.code)
  const connection = { id: 1, transport: 'ws' as const, send: () => 'sent' as const, drop: () => undefined }
  ctx.fleet.receive(connection, intake.report, {})
  shared.fill(0)
  const kept = ctx.fleet.state.instances.get(toHex(uid))!.uidOnWire
  expect(kept).toEqual(uid)
  expect(kept.buffer.byteLength).toBe(16)
})
