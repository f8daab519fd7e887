import { describe, expect, it } from 'vitest'
import { ownAttributesIn } from '../../../lib/model/own-attributes.ts'

const attributes = (...keys: string[]) => new Map(keys.map((key) => [key, `the ${key}`]))

describe('the attributes that an agent was given and that its config names', () => {
  it('are found by their keys, without those that say which agent it is', () => {
    const found = ownAttributesIn(
      'resource: {team: a, host.name: b}',
      attributes('host.name', 'team', 'rack'),
    )
    expect(found).toEqual({ team: 'the team' })
    expect(ownAttributesIn('team: a', null)).toEqual({})
  })

  it('are all taken to be named where to look for them would hold everybody else up', () => {
    // Each place of such a text would be compared with each key; one report would take over a second.
    const keys = Array.from({ length: 128 }, (_, n) => `${'a'.repeat(190)}b${n}`)
    expect(Object.keys(ownAttributesIn('a'.repeat(2_000_000), attributes(...keys)))).toHaveLength(128)
  })
})
