import { expect, it } from 'vitest'
import { KeptPacks } from '../../../lib/reports/kept-packs.ts'
import type { FinishedPack } from '../../../lib/reports/produce.ts'
import { fakeClock } from '../../support/fakes.ts'

const MIB = 1_048_576
const packOf = (hash: string, bytes: number): FinishedPack => ({
  frame: {
    schema_version: 'evidence_pack.v1',
    generated_at: '2026-07-01T00:00:00.000Z',
    scope: { requested_scope: {} },
    inputs_hash: 'i',
    report_hash: hash,
  },
  sections: [{ id: 'alerts', chunks: [new Uint8Array(bytes)] }],
})

it('are so many bytes together, the one made first goes', () => {
  const packs = new KeptPacks(fakeClock())
  for (let n = 0; n < 10; n++) packs.keep('u', packOf(`h${n}`, 2.5 * MIB))
  expect(packs.bytes).toBeLessThanOrEqual(24 * MIB)
  expect(packs.find('u', 'h0')).toBeNull()
  expect(packs.find('u', 'h9')).not.toBeNull()
  packs.keep('u', packOf('large', 3 * MIB))
  expect(packs.find('u', 'large')).toBeNull()
  // Keeping the same pack again takes no more room.
  const before = packs.bytes
  packs.keep('u', packOf('h9', 2.5 * MIB))
  expect(packs.bytes).toBe(before)
})

it('are kept for ten minutes, for whoever previewed them, and can be had more than once', () => {
  const clock = fakeClock()
  const packs = new KeptPacks(clock)
  packs.keep('u', packOf('h', 8))
  expect(packs.find('other', 'h')).toBeNull()
  const first = packs.find('u', 'h')!
  structuredClone(first.sections[0]!.chunks[0]!.buffer, { transfer: [first.sections[0]!.chunks[0]!.buffer] })
  expect(packs.find('u', 'h')!.sections[0]!.chunks[0]).toHaveLength(8)
  clock.advance(600_000)
  expect(packs.find('u', 'h')).not.toBeNull()
  clock.advance(1)
  expect(packs.find('u', 'h')).toBeNull()
  expect(packs.bytes).toBe(0)
})
