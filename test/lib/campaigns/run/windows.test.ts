import { afterEach, describe, expect, it } from 'vitest'
import { isInWindow } from '../../../../lib/campaigns/run/windows.ts'
import type { CampaignWindow } from '../../../../lib/wire/campaigns.ts'

/** A moment of the week of Sunday, 1 February 2026, in UTC. */
const at = (day: number, time: string) => new Date(`2026-02-0${1 + day}T${time}:00.000Z`)
const [SUNDAY, MONDAY, TUESDAY, FRIDAY, SATURDAY] = [0, 1, 2, 5, 6]

const zone = process.env['TZ']
afterEach(() => {
  if (zone === undefined) delete process.env['TZ']
  else process.env['TZ'] = zone
})

describe('a campaign may start targets', () => {
  it('at any time where it has no windows', () => {
    expect(isInWindow([], at(SUNDAY, '00:00'))).toBe(true)
  })

  it('from the first minute of a window until just before its last', () => {
    const windows: CampaignWindow[] = [{ from: '08:30', to: '17:00' }]
    expect(isInWindow(windows, at(MONDAY, '08:29'))).toBe(false)
    expect(isInWindow(windows, at(MONDAY, '08:30'))).toBe(true)
    expect(isInWindow(windows, new Date('2026-02-02T16:59:59.999Z'))).toBe(true)
    expect(isInWindow(windows, at(MONDAY, '17:00'))).toBe(false)
  })

  it('in any of several windows', () => {
    const windows: CampaignWindow[] = [
      { days: [MONDAY], from: '08:00', to: '09:00' },
      { days: [TUESDAY], from: '20:00', to: '21:00' },
    ]
    expect(isInWindow(windows, at(MONDAY, '08:15'))).toBe(true)
    expect(isInWindow(windows, at(TUESDAY, '20:15'))).toBe(true)
    expect(isInWindow(windows, at(MONDAY, '20:15'))).toBe(false)
    expect(isInWindow(windows, at(TUESDAY, '08:15'))).toBe(false)
  })

  it('over midnight until the morning after a day that is named, and not after one that is not', () => {
    const windows: CampaignWindow[] = [{ days: [FRIDAY], from: '22:00', to: '02:00' }]
    expect(isInWindow(windows, at(FRIDAY, '21:59'))).toBe(false)
    expect(isInWindow(windows, at(FRIDAY, '22:00'))).toBe(true)
    expect(isInWindow(windows, at(SATURDAY, '00:00'))).toBe(true)
    expect(isInWindow(windows, at(SATURDAY, '01:59'))).toBe(true)
    expect(isInWindow(windows, at(SATURDAY, '02:00'))).toBe(false)
    // The morning of the named day itself belongs to Thursday.
    expect(isInWindow(windows, at(FRIDAY, '01:00'))).toBe(false)
    expect(isInWindow(windows, at(SATURDAY, '22:00'))).toBe(false)
  })

  it('over midnight from the last day of the week into the first', () => {
    const windows: CampaignWindow[] = [{ days: [SATURDAY], from: '23:00', to: '01:00' }]
    expect(isInWindow(windows, at(SATURDAY, '23:30'))).toBe(true)
    expect(isInWindow(windows, at(SUNDAY, '00:30'))).toBe(true)
    expect(isInWindow(windows, at(MONDAY, '00:30'))).toBe(false)
    expect(isInWindow(windows, at(SUNDAY, '23:30'))).toBe(false)
  })

  it('until midnight, where a window ends there', () => {
    const windows: CampaignWindow[] = [{ days: [MONDAY], from: '20:00', to: '00:00' }]
    expect(isInWindow(windows, at(MONDAY, '23:59'))).toBe(true)
    expect(isInWindow(windows, at(TUESDAY, '00:00'))).toBe(false)
  })

  it.each(['Pacific/Kiritimati', 'America/Los_Angeles'])(
    'in UTC, also where the process runs in %s',
    (tz) => {
      process.env['TZ'] = tz
      const windows: CampaignWindow[] = [{ days: [MONDAY], from: '08:00', to: '09:00' }]
      expect(at(MONDAY, '08:30').getHours()).not.toBe(8)
      expect(isInWindow(windows, at(MONDAY, '08:30'))).toBe(true)
      expect(isInWindow(windows, at(MONDAY, '07:59'))).toBe(false)
      expect(isInWindow(windows, at(TUESDAY, '08:30'))).toBe(false)
    },
  )
})
