import { describe, expect, test } from 'vitest'
import { createInstance } from '../../../../lib/fleet/intake/new-instance.ts'
import { LiveTally } from '../../../../lib/fleet/state/live-tally.ts'
import type { Instance } from '../../../../lib/fleet/state/model.ts'
import type { ComponentList } from '../../../../lib/model/components.ts'
import { AGENT_CAPABILITIES } from '../../../../lib/opamp/report.ts'
import { Dice } from '../../../sim/time/dice.ts'
import { fakeClock, hearing } from '../../../support/fakes.ts'
import { tallyFault } from '../../../support/recount.ts'

const HASH = 'a'.repeat(64)
const BOTH = AGENT_CAPABILITIES.acceptsRemoteConfig | AGENT_CAPABILITIES.reportsRemoteConfig

function someone(uid: string, about: Partial<Instance> = {}): Instance {
  const instance = createInstance(uid, new Uint8Array(16), hearing(fakeClock()))
  return Object.assign(instance, { capabilities: BOTH, attributes: new Map(), ...about })
}

const list = (hash: string, components: Record<string, string[]>): ComponentList => ({
  hash,
  components: new Map(Object.entries(components)),
})

describe('what live instances have in common', () => {
  test('the lowest comparable version stands for all; one that cannot be compared only when there is no other', () => {
    const tally = new LiveTally()
    const odd = someone('a', { version: 'dev' })
    tally.put(odd)
    expect(tally.lowestVersion()).toBe('dev')
    tally.put(someone('b', { version: '0.150.0' }))
    const old = someone('c', { version: '0.9.0' })
    tally.put(old)
    expect(tally.lowestVersion()).toBe('0.9.0')
    tally.remove(old)
    expect(tally.lowestVersion()).toBe('0.150.0')
  })

  test('who runs a config are those that applied it, and those that failed or are still applying the next one', () => {
    const tally = new LiveTally()
    const GOOD = 'b'.repeat(64)
    const say = (uid: string, status: 'applied' | 'applying' | 'failed', hash: string, appliedHash: string) =>
      tally.put(someone(uid, { report: { status, hash, error: null, at: new Date(0) }, appliedHash }))
    say('silent', 'applied', HASH, HASH)
    say('failed the way back', 'failed', GOOD, HASH)
    say('on its way back', 'applying', GOOD, HASH)
    say('back', 'applied', GOOD, GOOD)
    say('cannot start again', 'failed', HASH, HASH)
    expect([tally.runningCount(HASH), tally.appliedCount(HASH)]).toEqual([3, 1])
  })

  test('labels come from every attribute but name, version and the trusted prefix', () => {
    const tally = new LiveTally()
    const attributes = new Map([
      ['service.name', 'otelcol'],
      ['service.version', '1'],
      ['muster/env', 'prod'],
      ['os.type', 'linux'],
    ])
    tally.put(someone('a', { attributes }))
    expect(tally.commonLabels()).toEqual({ 'os.type': 'linux' })
  })

  test('a label that one of them has otherwise, or not at all, is none of the workload', () => {
    const tally = new LiveTally()
    const eu = { 'service.name': 'gateway', region: 'eu', zone: 'a' }
    tally.put(someone('a', { attributes: new Map(Object.entries(eu)) }))
    expect(tally.commonLabels()).toEqual({ region: 'eu', zone: 'a' })
    const other = someone('b', { attributes: new Map(Object.entries({ region: 'eu', zone: 'b' })) })
    tally.put(other)
    const bare = someone('c')
    tally.put(bare)
    expect(tally.commonLabels()).toEqual({})
    tally.remove(bare)
    expect(tally.commonLabels()).toEqual({ region: 'eu' })
    tally.remove(other)
    expect(tally.commonLabels()).toEqual({ region: 'eu', zone: 'a' })
  })

  test('the label of those who stay is theirs, also when the one who came first leaves', () => {
    const tally = new LiveTally()
    const [first, ...others] = ['a', 'b', 'b'].map((zone, n) =>
      someone(`${n}`, { attributes: new Map([['zone', zone]]) }),
    )
    for (const instance of [first!, ...others]) tally.put(instance)
    tally.remove(first!)
    expect(tally.commonLabels()).toEqual({ zone: 'b' })
  })

  test('lists that differ make one of what they share, with a hash of its own', () => {
    const tally = new LiveTally()
    tally.put(someone('a', { components: list('one', { receivers: ['nop', 'otlp'], exporters: ['debug'] }) }))
    expect(tally.commonComponents()).toEqual({
      components: { receivers: ['nop', 'otlp'], exporters: ['debug'] },
      hash: 'one',
    })
    const other = someone('b', { components: list('two', { receivers: ['otlp'] }) })
    tally.put(other)
    const shared = tally.commonComponents()
    expect(shared?.components).toEqual({ receivers: ['otlp'] })
    expect(shared?.hash).toMatch(/^[0-9a-f]{64}$/)
    tally.remove(other)
    expect(tally.commonComponents()?.hash).toBe('one')
  })

  test('one that failed speaks for all; applied is said only when everyone has said it', () => {
    const tally = new LiveTally()
    const report = (status: 'applying' | 'applied' | 'failed') => ({
      status,
      hash: HASH,
      error: null,
      at: new Date(1_000),
    })
    const a = someone('a', { report: report('applied') })
    const b = someone('b')
    tally.put(a)
    tally.put(b)
    expect(tally.worstReport(HASH)).toBeNull()
    b.report = report('applying')
    tally.put(b)
    expect(tally.worstReport(HASH)?.status).toBe('applying')
    b.report = report('applied')
    tally.put(b)
    expect(tally.worstReport(HASH)?.status).toBe('applied')
    a.report = report('failed')
    tally.put(a)
    expect(tally.worstReport(HASH)?.status).toBe('failed')
    // No report is expected of an instance that takes no config.
    a.capabilities = 0
    tally.put(a)
    expect(tally.worstReport(HASH)?.status).toBe('applied')
  })

  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'whatever comes, changes and goes, it says what a recount says (seed %i)',
    (seed) => {
      const dice = new Dice(seed)
      const pick = <T>(of: readonly T[]): T => dice.pick(of)
      const lists = [
        list('one', { receivers: ['a', 'b'] }),
        list('two', { receivers: ['b'] }),
        list('none', {}),
      ]
      const all = Array.from({ length: 12 }, (_, n) => someone(`${n}`))
      const live = new Set<Instance>()
      const tally = new LiveTally()
      const changes: ((instance: Instance) => void)[] = [
        (i) => {
          i.version = pick(['', '0.1.0', '0.2.0', 'dev'])
        },
        (i) => {
          i.type = pick(['collector', 'sdk'] as const)
        },
        (i) => {
          i.capabilities = pick([0, BOTH, AGENT_CAPABILITIES.acceptsRemoteConfig])
        },
        (i) => {
          i.isExcluded = dice.int(5) === 0
        },
        (i) => {
          i.unhealthySinceMs = pick([null, 5])
        },
        (i) => {
          i.reportedConfigHash = pick(['', 'one', 'two'])
        },
        (i) => {
          i.components = pick([null, ...lists])
        },
        (i) => {
          i.attributes = new Map([
            ['x', pick(['1', '2'])],
            ...(dice.int(2) === 0 ? [['y', '1'] as const] : []),
          ])
        },
        (i) => {
          const status = pick(['applied', 'applying', 'failed'] as const)
          i.report = { status, hash: pick([HASH, 'b'.repeat(64)]), error: null, at: new Date(dice.int(50)) }
        },
      ]
      for (let step = 0; step < 400; step++) {
        const instance = pick(all)
        if (dice.int(3) === 0) {
          live.delete(instance)
          tally.remove(instance)
        } else {
          pick(changes)(instance)
          live.add(instance)
          tally.put(instance)
        }
        expect(tallyFault(tally, [...live], HASH), `step ${step}`).toBe('')
      }
    },
  )
})
