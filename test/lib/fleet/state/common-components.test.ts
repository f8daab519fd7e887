import { expect, test } from 'vitest'
import { CommonComponents } from '../../../../lib/fleet/state/common-components.ts'
import type { ComponentList } from '../../../../lib/model/components.ts'

const NAMES = 200
const LISTS = 50

/** A list of its own that shares all names but one, and counts how many names are read of it. */
function madeUp(n: number, read: () => void): ComponentList {
  const names = [...Array.from({ length: NAMES - 1 }, (_, at) => `c${at}`), `own${n}`]
  const counting = new Proxy(names, {
    get(target, key) {
      if (typeof key === 'string' && /^\d+$/.test(key)) read()
      return Reflect.get(target, key)
    },
  })
  return { hash: `${n}`, components: new Map([['receivers', counting]]) }
}

test('a list that comes or goes costs what its own names do, however many others an agent has made up', () => {
  let reads = 0
  const common = new CommonComponents()
  const lists = Array.from({ length: LISTS }, (_, n) => madeUp(n, () => reads++))
  for (const list of lists) common.move(null, list)
  expect(common.value()!.components['receivers']).toHaveLength(NAMES - 1)
  const another = madeUp(LISTS, () => reads++)
  const readBy = (move: () => void) => {
    const before = reads
    move()
    expect(common.value()!.components['receivers']).toHaveLength(NAMES - 1)
    return reads - before
  }
  expect(readBy(() => common.move(null, another))).toBeLessThan(4 * NAMES)
  expect(readBy(() => common.move(another, null))).toBeLessThan(4 * NAMES)
  // Nothing comes or goes: nothing is read.
  expect(readBy(() => undefined)).toBe(0)
})

test('lists that lack a category or a name have in common what is left, and are what they were once it has gone', () => {
  const list = (hash: string, components: Record<string, string[]>): ComponentList => ({
    hash,
    components: new Map(Object.entries(components)),
  })
  const all = list('all', { exporters: [], receivers: ['nop', 'otlp'] })
  const common = new CommonComponents()
  common.move(null, all)
  const fewer = list('fewer', { receivers: ['otlp', 'statsd'] })
  common.move(null, fewer)
  common.move(null, fewer)
  expect(common.value()?.components).toEqual({ receivers: ['otlp'] })
  common.move(fewer, null)
  expect(common.value()?.components).toEqual({ receivers: ['otlp'] })
  common.move(fewer, list('empty', { exporters: [] }))
  expect(common.value()?.components).toEqual({ exporters: [] })
  common.move(all, null)
  expect(common.value()?.hash).toBe('empty')
})
