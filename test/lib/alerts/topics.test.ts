import { describe, expect, it } from 'vitest'
import { decideTopics, type TopicCause } from '../../../lib/alerts/topics.ts'
import type { CurrentTopicAlert } from '../../../lib/store/alerts.ts'

const cause = (subject: string): TopicCause => ({
  rule: 'campaign_failures',
  topic: 'campaign:c1',
  subject,
  message: '3 of 5 failed',
  details: {},
  isRestated: true,
})
const stored = (state: CurrentTopicAlert['state'], subject: string): CurrentTopicAlert => ({
  id: 'a1',
  rule: 'campaign_failures',
  topic: 'campaign:c1',
  state,
  subject,
  message: '3 of 5 failed',
})

describe('an alert of a version that did not say of which occurrence it is', () => {
  it.each(['open', 'quiet'] as const)(
    'tells of the one that goes on now, and says so from now on (%s)',
    (state) => {
      const decided = decideTopics([cause('first')], [stored(state, '')])
      expect(decided).toMatchObject({ fire: [], end: [], restate: [{ alertId: 'a1', subject: 'first' }] })
    },
  )

  it('that somebody resolved fires again once more has failed', () => {
    const decided = decideTopics([cause('second')], [stored('quiet', 'first')])
    expect(decided).toMatchObject({ fire: [{ subject: 'second' }], end: [{ id: 'a1' }], restate: [] })
    expect(decideTopics([cause('first')], [stored('quiet', 'first')])).toEqual({
      fire: [],
      end: [],
      restate: [],
    })
  })
})
