import { describe, expect, it } from 'vitest'
import { BUSY_ENDS_MS, chooseNext } from '../../../../lib/campaigns/run/choose.ts'
import { noteBack } from '../../../../lib/campaigns/run/go-back.ts'
import { endOfFlight } from '../../../../lib/campaigns/run/note-ends.ts'
import { noteTurn } from '../../../../lib/campaigns/run/start-step.ts'
import { emptyRun, inFlight } from '../../../support/campaign-run.ts'

const MINUTES_MS = 60_000
const at = (nowMs: number) => ({ now: new Date(nowMs), nowMs })
const waiting = { workloadId: 'w', resultHash: 'r', instanceCount: 3, state: 'waiting' } as const
const away = { ...waiting, state: 'offline' } as const

describe('a target whose turn has come', () => {
  it('is in flight with its instances when it was started', () => {
    const run = emptyRun()
    run.offline.set('w', null)
    const started = { kind: 'started', pushId: 'p', wasDegraded: true, wasDrifted: true } as const
    expect(noteTurn(run, away, started, at(5))).toBeNull()
    expect(run.inFlight.get('w')).toEqual(
      inFlight({
        pushId: 'p',
        resultHash: 'r',
        startedMs: 5,
        instances: 3,
        wasDegraded: true,
        wasDrifted: true,
      }),
    )
    expect(run.offline.size).toBe(0)
  })

  it('is left out by name where what was approved is not what would be done', () => {
    const skipped = { kind: 'skipped', reason: 'base_moved' } as const
    expect(noteTurn(emptyRun(), waiting, skipped, at(0))).toEqual({ state: 'skipped', reason: 'base_moved' })
  })

  it('waits while it is busy elsewhere, and is left out after ten minutes', () => {
    const run = emptyRun()
    expect(noteTurn(run, waiting, { kind: 'busy' }, at(0))).toBeNull()
    expect(noteTurn(run, waiting, { kind: 'busy' }, at(BUSY_ENDS_MS))).toBeNull()
    const late = noteTurn(run, waiting, { kind: 'busy' }, at(BUSY_ENDS_MS + 1))
    expect(late).toEqual({ state: 'skipped', reason: 'busy' })
  })

  it('is read thrice, a minute apart, where the workers took too long over its text, and then left out as that', () => {
    const run = emptyRun()
    const gaveUp = { kind: 'busy', gaveUp: true } as const
    const chosen = (nowMs: number) => chooseNext([waiting], run, { room: 9, nowMs }).length
    for (const nowMs of [0, MINUTES_MS]) {
      expect(noteTurn(run, waiting, gaveUp, at(nowMs))).toBeNull()
      expect([chosen(nowMs + MINUTES_MS - 1), chosen(nowMs + MINUTES_MS)]).toEqual([0, 1])
    }
    // That it is busy otherwise in between changes nothing.
    expect(noteTurn(run, waiting, { kind: 'busy' }, at(2 * MINUTES_MS))).toBeNull()
    const late = noteTurn(run, waiting, gaveUp, at(3 * MINUTES_MS))
    expect(late).toEqual({ state: 'skipped', reason: 'unreadable' })
  })

  it('begins to be busy anew after it was not', () => {
    const run = emptyRun()
    noteTurn(run, away, { kind: 'busy' }, at(0))
    noteTurn(run, away, { kind: 'offline' }, at(1))
    expect(noteTurn(run, away, { kind: 'busy' }, at(BUSY_ENDS_MS + 1))).toBeNull()
  })

  it('that was busy before a window closed has its ten minutes anew in the next one', () => {
    const run = emptyRun()
    expect(noteTurn(run, waiting, { kind: 'busy' }, at(0))).toBeNull()
    expect(noteTurn(run, waiting, { kind: 'busy' }, at(24 * 60 * MINUTES_MS))).toBeNull()
  })

  it('is read again from the database where nobody knows whether it was started', () => {
    const run = emptyRun()
    expect(noteTurn(run, waiting, { kind: 'refused' }, at(0))).toBeNull()
    expect(run.isStale).toBe(true)
  })
})

describe('a started target', () => {
  it('goes on until its push has an end, and ten minutes at most', () => {
    expect(endOfFlight(inFlight(), null, 10 * MINUTES_MS)).toBeNull()
    expect(endOfFlight(inFlight(), null, 10 * MINUTES_MS + 1)).toEqual({ state: 'no_answer' })
    expect(endOfFlight(inFlight(), { state: 'applied' }, 11 * MINUTES_MS)).toEqual({ state: 'applied' })
  })

  it('that is taken back ends in the words of that', () => {
    const back = inFlight({ isBack: true })
    expect(endOfFlight(back, { state: 'applied' }, 0)).toEqual({ state: 'rolled_back' })
    expect(endOfFlight(back, { state: 'overtaken' }, 0)).toEqual({ state: 'moved_on' })
    const unanswered = { cause: 'no_answer', title: 'No answer to the config that it had before' }
    expect(endOfFlight(back, null, 11 * MINUTES_MS)).toEqual({ state: 'rollback_failed', ...unanswered })
    const failed = { state: 'failed', cause: 'port_in_use', title: 'Port in use' } as const
    expect(endOfFlight(back, failed, 0)).toEqual({ ...failed, state: 'rollback_failed' })
  })
})

describe('a target that is to be taken back', () => {
  const now = { isGivenUp: false, nowMs: 0 }
  const applied = { ...waiting, state: 'applied', isByItself: false } as const

  it('that moved on is named, and stays as it ended where it never said that it runs the change', () => {
    expect(noteBack(emptyRun(), applied, { kind: 'moved_on' }, now)).toEqual({ state: 'moved_on' })
    const run = emptyRun()
    expect(noteBack(run, { ...applied, state: 'failed' }, { kind: 'moved_on' }, now)).toBeNull()
    expect([...run.leftAlone.keys()]).toEqual(['w'])
  })

  it('without a way back is named', () => {
    const none = { kind: 'no_way_back', reason: null } as const
    expect(noteBack(emptyRun(), applied, none, now)).toEqual({ state: 'no_way_back', reason: null })
  })

  it('that cannot be reached is waited for as long as the campaign waits, and then named with its cause', () => {
    const run = emptyRun()
    for (const kind of ['busy', 'offline'] as const) {
      expect(noteBack(run, applied, { kind }, now)).toBeNull()
      const given = noteBack(run, applied, { kind }, { nowMs: 600_001, isGivenUp: true })
      expect(given).toEqual({ state: 'rollback_failed', cause: kind, title: '' })
    }
  })

  it('and is busy for a moment is not given up, however long others were waited for', () => {
    const run = emptyRun()
    const givenUp = { nowMs: 0, isGivenUp: true }
    expect(noteBack(run, applied, { kind: 'busy' }, givenUp)).toBeNull()
    expect(noteBack(run, applied, { kind: 'busy' }, { ...givenUp, nowMs: 600_000 })).toBeNull()
    expect(noteBack(run, applied, { kind: 'offline' }, givenUp)).toMatchObject({ cause: 'offline' })
  })
})
