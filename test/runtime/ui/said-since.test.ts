import { expect, it } from 'vitest'
import { nameSayer } from '../../../runtime/ui/i18n/sayer.ts'
import { saidSince } from '../../../runtime/ui/logic/campaigns.ts'

it('whoever starts a campaign is shown what was said since its last approval', () => {
  const at = (hour: number) => `2026-11-30T${hour}:00:00.000Z`
  const approvals = [11, 13].map((hour) => ({ by: 'ann', at: at(hour), comment: 'yes' }))
  const comments = [10, 12, 14].map((hour) => ({ by: 'bob', at: at(hour), comment: `at ${hour}` }))
  expect(saidSince({ approvals, comments })).toEqual([{ at: at(14), who: 'bob', comment: 'at 14' }])
  // A token's words are shown as those of a token, and not as its holder's.
  const byToken = { by: 'bob', at: at(14), comment: 'looks right', by_token: true }
  expect(saidSince({ approvals, comments: [byToken] }).map(nameSayer)).toEqual(['a token of bob'])
  expect(saidSince({ approvals: [], comments })).toEqual([])
  expect(saidSince({ approvals })).toEqual([])
})
