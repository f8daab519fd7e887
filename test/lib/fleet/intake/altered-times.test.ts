import { expect, it } from 'vitest'
import { AlteredTimes } from '../../../../lib/fleet/intake/altered-times.ts'
import { ALTERED_MAX } from '../../../../lib/fleet/state/agent-limits.ts'
import type { Instance } from '../../../../lib/fleet/state/model.ts'

it('is kept of so many instances, and forgotten of the one that was changed first', () => {
  const altered = new Map<string, Date>()
  const events: string[] = []
  const times = new AlteredTimes({
    deps: { clock: { now: () => new Date(0) } },
    state: { altered },
    writer: {
      event: ({ eventType, instanceUid }: { eventType: string; instanceUid: string }) =>
        events.push(`${eventType} ${instanceUid}`),
    },
  } as unknown as ConstructorParameters<typeof AlteredTimes>[0])
  const instance = (uid: string) => ({ uid, podName: '', workload: { id: 'w' } }) as unknown as Instance
  for (let at = 0; at <= ALTERED_MAX; at++) times.note(instance(`i${at}`), true)
  expect(altered.size).toBe(ALTERED_MAX)
  expect(altered.has('i0')).toBe(false)
  // What is so already is told once.
  times.note(instance('i1'), true)
  times.note(instance('well'), false)
  expect(events).toHaveLength(ALTERED_MAX + 1)
  times.note(instance('i1'), false)
  expect(events.at(-1)).toBe('config_restored i1')
})
