import { describe, expect, it } from 'vitest'
import { assignWaves, layWaves, orderTargets } from '../../../../lib/campaigns/plan/waves.ts'
import { STANDARD_WAVES } from '../../../../lib/model/campaign-rules.ts'
import type { CampaignWave } from '../../../../lib/wire/campaigns.ts'

const targets = (count: number) => Array.from({ length: count }, (_, n) => ({ workloadId: `w${n}` }))
const everyone = () => () => true
const countByWave = (waves: readonly number[]) =>
  Object.fromEntries(waves.map((wave) => [wave, waves.filter((other) => other === wave).length]))

describe('waves', () => {
  it('are one workload, a twentieth and the rest, where none are asked for', async () => {
    expect(countByWave(await assignWaves(targets(100), STANDARD_WAVES, everyone))).toEqual({
      0: 1,
      1: 5,
      2: 94,
    })
  })

  it('begin with one workload where production changes, whatever was asked', async () => {
    const lay = async (asked: readonly CampaignWave[], hasProduction: boolean) => {
      const about = { hasProduction, isThere: () => true, openSelector: everyone }
      return (await layWaves(targets(9), asked, about)).waves
    }
    const asked = [{ count: 5, dwell_seconds: 0 }, { dwell_seconds: 0 }]
    expect(await lay(asked, true)).toEqual([STANDARD_WAVES[0], ...asked])
    expect(await lay(asked, false)).toEqual(asked)
    expect(await lay(STANDARD_WAVES, true)).toEqual(STANDARD_WAVES)
    // One wave of one workload is also the last, which takes the rest.
    expect(await lay([{ count: 1 }], true)).toEqual([STANDARD_WAVES[0], { count: 1 }])
  })

  it('round a percentage up, and take at least one', async () => {
    const waves = [{ percentage: 1 }, {}]
    expect(countByWave(await assignWaves(targets(3), waves, everyone))).toEqual({ 0: 1, 1: 2 })
    expect(countByWave(await assignWaves(targets(101), waves, everyone))).toEqual({ 0: 2, 1: 99 })
  })

  it('take a target by the first selector that fits; the last takes what no wave has taken', async () => {
    const selector = (key: string) => ({ match_labels: { [key]: 'x' } })
    const waves = [{ selector: selector('a') }, { selector: selector('b'), count: 1 }, {}]
    const on =
      ({ match_labels }: { match_labels?: Record<string, string> }) =>
      (target: { on: string }) =>
        Object.keys(match_labels ?? {}).some((key) => target.on.includes(key))
    const asked = [{ on: 'ab' }, { on: 'b' }, { on: 'b' }, { on: 'c' }, { on: 'a' }]
    expect(await assignWaves(asked, waves, on)).toEqual([0, 1, 2, 2, 0])
  })
})

describe('the order of targets', () => {
  it('is the same for a campaign whenever it is asked, and another for each campaign', async () => {
    const ids = async (campaign: string, of = targets(50)) =>
      (await orderTargets(campaign, of)).map(({ workloadId }) => workloadId)
    expect(await ids('c1', targets(50).reverse())).toEqual(await ids('c1'))
    expect(await ids('c2')).not.toEqual(await ids('c1'))
    expect([...(await ids('c1'))].sort()).toEqual(
      targets(50)
        .map(({ workloadId }) => workloadId)
        .sort(),
    )
  })
})
