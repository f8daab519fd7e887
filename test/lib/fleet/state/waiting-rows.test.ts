import { describe, expect, it } from 'vitest'
import { WaitingRows } from '../../../../lib/fleet/state/waiting-rows.ts'
import type { TargetOfPush } from '../../../../lib/store/push-targets.ts'

const pushId = '01980000-0000-7000-8000-0000000000aa'
const instanceUid = '01980000-0000-7000-8000-000000000001'
const target = (status: string) => ({ pushId, target: { instanceUid, status } }) as unknown as TargetOfPush
const quarantine = (pushId: string) => ({ workloadId: 'w1', hash: 'h1', instanceUid, pushId })
const gone = { pushId, instanceUid, at: new Date(0) }

describe('a batch that could not be written', () => {
  it('is written with what came meanwhile', () => {
    const rows = new WaitingRows()
    rows.addTarget(target('offered'))
    rows.putBack(rows.take(false)!)
    expect(rows.take(false)!.targets).toEqual([target('offered')])
  })

  it('does not take the place of a target that came anew meanwhile', () => {
    const rows = new WaitingRows()
    rows.addTarget(target('offered'))
    const batch = rows.take(false)!
    rows.addForgotten(gone)
    rows.addTarget(target('applied'))
    rows.putBack(batch)
    expect(rows.take(false)).toMatchObject({ targets: [target('applied')], forgotten: [] })
  })

  it('does not bring back a target that was forgotten meanwhile', () => {
    const rows = new WaitingRows()
    rows.addTarget(target('offered'))
    const batch = rows.take(false)!
    rows.addForgotten(gone)
    rows.putBack(batch)
    expect(rows.take(false)).toMatchObject({ targets: [], forgotten: [gone] })
  })

  it('does not take the place of a quarantine that came anew meanwhile, in the name of a later push', () => {
    const rows = new WaitingRows()
    rows.addQuarantine(quarantine('earlier'))
    const batch = rows.take(false)!
    rows.addQuarantine(quarantine('later'))
    rows.putBack(batch)
    // One in the earlier push's name is lifted by the later push, and would not be stored.
    expect(rows.take(false)!.quarantines).toEqual([quarantine('later')])
  })
})
