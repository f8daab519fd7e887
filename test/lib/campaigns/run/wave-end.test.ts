import { describe, expect, it } from 'vitest'
import { countLeft, moveAfterWave } from '../../../../lib/campaigns/run/wave-end.ts'
import type { StoredCampaign } from '../../../../lib/store/campaigns.ts'

const AT = new Date('2026-03-01T10:00:00Z')
const later = (seconds: number) => new Date(AT.getTime() + seconds * 1_000)
const at = (seconds: number) => ({ now: later(seconds), nowMs: seconds * 1_000 })
const plan = { waves: [{ dwell_seconds: 60 }, { dwell_seconds: 0 }] } as StoredCampaign['plan']

describe('a wave', () => {
  it('is over when all targets of it and of those before have ended', () => {
    const waves = [{ applied: 1 }, { started: 1, waiting: 2 }, { waiting: 5 }]
    expect(countLeft(waves, 0)).toBe(0)
    expect(countLeft(waves, 1)).toBe(3)
    expect(countLeft([{ started: 1 }, { applied: 1 }], 1)).toBe(1)
  })

  it('does not wait for who is away', () => {
    expect(countLeft([{ offline: 4, applied: 1 }], 0)).toBe(0)
  })

  it('is watched from its end as long as the plan says, and then the next one begins', () => {
    expect(moveAfterWave({ plan, wave: 0, waveEndedAt: null }, null, at(0))).toMatchObject({
      to: { status: 'running', waveEndedAt: AT },
      action: null,
    })
    expect(moveAfterWave({ plan, wave: 0, waveEndedAt: AT }, 0, at(59))).toBeNull()
    expect(moveAfterWave({ plan, wave: 0, waveEndedAt: AT }, 0, at(60))).toMatchObject({
      to: { status: 'running', wave: 1, waveEndedAt: null },
      action: 'campaign.wave',
    })
  })

  it('is watched by the time in which the process runs, whatever the clock on the wall says', () => {
    const hourLater = { now: later(3_600), nowMs: 1_000 }
    expect(moveAfterWave({ plan, wave: 0, waveEndedAt: AT }, 0, hourLater)).toBeNull()
    expect(moveAfterWave({ plan, wave: 0, waveEndedAt: AT }, null, hourLater)).toMatchObject({
      to: { status: 'running', waveEndedAt: later(3_600) },
    })
  })

  it('that is the last one ends the campaign, with a record', () => {
    expect(moveAfterWave({ plan, wave: 1, waveEndedAt: AT }, 0, at(0))).toEqual({
      from: 'running',
      to: { status: 'done', endedAt: AT },
      action: 'campaign.done',
    })
  })
})
