import { describe, expect, it } from 'vitest'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { keepNames } from '../../../runtime/ui/logic/fleet-frames.ts'

type Trouble = NonNullable<WorkloadRecord['trouble']>

const SINCE = '2026-11-29T02:00:00.000Z'
/** A workload in trouble of one kind, and why as far as somebody is told. */
const inTrouble = (why: Partial<Trouble>): WorkloadRecord =>
  ({ id: 'w', trouble: { kind: 'not-applied', since: SINCE, ...why } }) as unknown as WorkloadRecord

describe('what is wrong with a workload, as a frame tells it', () => {
  const cause = { error_cause: 'no_such_host', error_title: 'No such host' }

  it.each<[string, Partial<Trouble>, Partial<Trouble>]>([
    ['its names', { ...cause, error_parameters: { host: 'a.example' } }, cause],
    ["the agent's own words", { ...cause, error_message: 'boom' }, cause],
  ])('keeps %s of the record that was fetched before', (_, before, told) => {
    const after = keepNames(inTrouble(before), inTrouble({ ...told, is_abridged: true }))
    expect(after).toEqual(inTrouble(before))
  })

  it.each<[string, Partial<Trouble>]>([
    ['nothing was known then', {}],
    ['no more was known then', cause],
  ])('is to be fetched where the record is older and %s', (_, before) => {
    const after = inTrouble({ ...before, is_abridged: true })
    expect(keepNames(inTrouble(before), after)).toBe(after)
  })
})
