import { expect, it } from 'vitest'
import { runningHash } from '../../../../lib/fleet/decide/running-hash.ts'

const after = (status: string, appliedHash: string) =>
  runningHash({ report: { status, hash: 'new' }, appliedHash })

it.each([
  ['that it has applied, once it says so', after('applied', 'new'), 'new'],
  ['that it had before, while it applies another', after('applying', 'old'), 'old'],
  ['that it had before, after another failed', after('failed', 'old'), 'old'],
  ['that nobody knows, where what it ran has failed since', after('failed', 'new'), ''],
  ['that nobody knows, where none was ever applied', after('failed', ''), ''],
  ['that nobody knows, before it says anything', runningHash({ report: null, appliedHash: 'old' }), ''],
])('an instance runs the config %s', (_, hash, expected) => {
  expect(hash).toBe(expected)
})
