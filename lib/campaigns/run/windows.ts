import { type Fault, faultOf } from '../../model/faults.ts'
import type { CampaignWindow } from '../../wire/campaigns.ts'

const TIME = /^([01]\d|2[0-3]):([0-5]\d)$/
const DAY_MINUTES = 24 * 60

/** Why windows cannot be used; null when they can. */
export function findWindowFault(windows: readonly CampaignWindow[]): Fault | null {
  for (const { days, from, to } of windows) {
    if (!TIME.test(from) || !TIME.test(to)) return faultOf('window_times_invalid')
    if (from === to) return faultOf('window_empty')
    const isDay = (day: number) => Number.isInteger(day) && day >= 0 && day <= 6
    if (days !== undefined && (days.length === 0 || !days.every(isDay))) return faultOf('window_days_invalid')
  }
  return null
}

/** Whether targets may be started now. Windows are in UTC; without any, targets may always be started. */
export function isInWindow(windows: readonly CampaignWindow[], now: Date): boolean {
  if (windows.length === 0) return true
  const minute = now.getUTCHours() * 60 + now.getUTCMinutes()
  const day = now.getUTCDay()
  return windows.some(({ days, from, to }) => {
    const [start, end] = [minuteOf(from), minuteOf(to)]
    const isOn = (which: number) => days === undefined || days.includes(which)
    if (start < end) return isOn(day) && minute >= start && minute < end
    // It goes over midnight: the hours after it belong to the day on which it began.
    return (isOn(day) && minute >= start) || (isOn((day + 6) % 7) && minute < end)
  })
}

const minuteOf = (time: string): number => {
  const [, hours = '0', minutes = '0'] = TIME.exec(time) ?? []
  return (Number(hours) * 60 + Number(minutes)) % DAY_MINUTES
}
