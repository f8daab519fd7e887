import { expect, it } from 'vitest'
import { AlteredTimes } from '../../../../lib/fleet/intake/altered-times.ts'
import { ALTERED_MAX } from '../../../../lib/fleet/state/agent-limits.ts'
import type { Instance } from '../../../../lib/fleet/state/model.ts'

it('is kept of so many instances, of which one that is away gives way, and of more nothing is written down', () => {
  const altered = new Map<string, Date>()
  const here = { connection: {} } as Instance
  const instances = new Map<string, Instance>()
  const events: string[] = []
  const times = new AlteredTimes({
    deps: { clock: { now: () => new Date(0) } },
    state: { altered, instances },
    writer: {
      event: ({ eventType, instanceUid }: { eventType: string; instanceUid: string }) =>
        events.push(`${eventType} ${instanceUid}`),
    },
  } as unknown as ConstructorParameters<typeof AlteredTimes>[0])
  const instance = (uid: string) => ({ uid, podName: '', workload: { id: 'w' } }) as unknown as Instance
  for (let at = 0; at <= ALTERED_MAX; at++) {
    instances.set(`i${at}`, here)
    times.note(instance(`i${at}`), true)
  }
  expect(altered.size).toBe(ALTERED_MAX)
  expect(altered.has(`i${ALTERED_MAX}`)).toBe(false)
  // What is so already is told once, however often it is looked at.
  for (let at = 0; at <= ALTERED_MAX; at++) times.note(instance(`i${at}`), true)
  times.note(instance('well'), false)
  expect(events).toHaveLength(ALTERED_MAX)
  times.note(instance('i1'), false)
  times.note(instance(`i${ALTERED_MAX}`), true)
  expect(events.slice(-2)).toEqual(['config_restored i1', `config_altered i${ALTERED_MAX}`])
  // Of pods that were replaced nobody asks any more.
  instances.delete('i7')
  const before = events.length
  for (let n = 0; n <= ALTERED_MAX / 20; n++) times.note(instance('fresh'), true)
  expect([altered.has('i7'), altered.has('fresh'), altered.size]).toEqual([false, true, ALTERED_MAX])
  expect(events.slice(before)).toEqual(['config_altered fresh'])
})
