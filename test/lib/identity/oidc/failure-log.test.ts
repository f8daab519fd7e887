import { expect, it } from 'vitest'
import { failureLog } from '../../../../lib/identity/oidc/failure-log.ts'
import { fakeClock, recordingLog } from '../../../support/fakes.ts'

it('says once in ten seconds of each code why sign-ins fail, and how many did', () => {
  const clock = fakeClock()
  const log = recordingLog()
  const note = failureLog({ log, clock }, 'the identity provider could not be asked')
  const away = new Error('connection refused')
  for (let n = 0; n < 3_000; n++) note('provider-away', away)
  clock.advance(9_999)
  note('provider-away', away)
  expect(log.lines.map(({ fields }) => fields)).toEqual([{ err: away, code: 'provider-away', count: 1 }])
  const other = new Error('another answer')
  note('provider-refused', other)
  clock.advance(1)
  note('provider-away', away)
  expect(log.lines.slice(1)).toEqual([
    {
      level: 'warn',
      message: 'the identity provider could not be asked',
      fields: { err: other, code: 'provider-refused', count: 1 },
    },
    {
      level: 'warn',
      message: 'the identity provider could not be asked',
      fields: { err: away, code: 'provider-away', count: 3_001 },
    },
  ])
})
