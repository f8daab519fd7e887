import { expect, it } from 'vitest'
import { liftsFailuresOf } from '../../../../lib/fleet/decide/quarantine.ts'

const own = { hash: 'a', seq: 3 }

it('only a later push of the same config that somebody asked for lifts what failed before it', () => {
  expect(liftsFailuresOf({ hash: 'a', seq: 4, kind: 'approval' }, own)).toBe(true)
  expect(liftsFailuresOf({ hash: 'a', seq: 9, kind: 'rollback' }, own)).toBe(true)
  expect(liftsFailuresOf({ hash: 'a', seq: 4, kind: 'auto-rollback' }, own)).toBe(false)
  expect(liftsFailuresOf({ hash: 'b', seq: 4, kind: 'approval' }, own)).toBe(false)
  expect(liftsFailuresOf({ hash: 'a', seq: 3, kind: 'approval' }, own)).toBe(false)
  expect(liftsFailuresOf({ hash: 'a', seq: 2, kind: 'approval' }, own)).toBe(false)
})
