import { describe, expect, it } from 'vitest'
import { checkMember, deriveMemberKey, proveMember } from '../../../lib/cluster/member-key.ts'

const NOW = new Date('2026-07-01T08:00:00.000Z')
const later = (ms: number) => new Date(NOW.getTime() + ms)
const key = deriveMemberKey('a secret that is long enough for tests')

describe('a proof of membership', () => {
  it('names the member, for a minute', () => {
    const proof = proveMember(key, 'm-1', NOW)
    expect(checkMember(key, proof, NOW)).toBe('m-1')
    expect(checkMember(key, proof, later(60_000))).toBe('m-1')
    expect(checkMember(key, proof, later(60_001))).toBeNull()
    expect(checkMember(key, proof, later(-60_001))).toBeNull()
  })

  it('is worth nothing under another secret, for another member, at another time, or cut', () => {
    const proof = proveMember(key, 'm-1', NOW)
    const others = [
      proveMember(deriveMemberKey('another secret that is long enough too'), 'm-1', NOW),
      proof.replace('m-1', 'm-2'),
      proof.replace(String(NOW.getTime()), String(NOW.getTime() + 1)),
      proof.slice(0, -1),
      `${proof}0`,
      '',
      'm-1',
    ]
    for (const other of others) expect(checkMember(key, other, NOW)).toBeNull()
  })
})
