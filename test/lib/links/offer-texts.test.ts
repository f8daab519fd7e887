import { describe, expect, it } from 'vitest'
import { OfferTexts } from '../../../lib/links/offer-texts.ts'
import { silentLog } from '../../../lib/log.ts'
import { configHash } from '../../../lib/model/config-hash.ts'
import { DatabaseUnavailable, type Db } from '../../../lib/store/db.ts'

function storeOf(bodies: readonly string[]) {
  const rows = new Map(bodies.map((body) => [configHash(body), body]))
  const state = { asked: 0, isAway: false }
  const db: Db = {
    async query<Row extends object>(_text: string, params: readonly unknown[] = []) {
      state.asked++
      if (state.isAway) throw new DatabaseUnavailable('away')
      const hashes = params[0] as string[]
      return hashes.flatMap((hash) =>
        rows.has(hash) ? [{ hash, body: rows.get(hash), components: [] } as unknown as Row] : [],
      )
    },
    execute: async () => 0,
  }
  return { db, state, rows }
}

describe('the texts of offers', () => {
  it('are read once, however many ask at once, and only as what they are named', async () => {
    const { db, state, rows } = storeOf(['one'])
    const texts = new OfferTexts(db, silentLog)
    const hash = configHash('one')
    const found = await Promise.all([texts.find(hash), texts.find(hash), texts.find(hash)])
    expect(found.map((body) => Buffer.from(body!).toString())).toEqual(['one', 'one', 'one'])
    expect(state.asked).toBe(1)
    expect(Buffer.from(texts.at(hash)!).toString()).toBe('one')
    rows.set(configHash('two'), 'something else')
    expect(await texts.find(configHash('two'))).toBeNull()
    expect(await texts.find(configHash('three'))).toBeNull()
  })

  it('are not there while the database is away, which is said once, and are when it is back', async () => {
    const { db, state } = storeOf(['one', 'two'])
    const warned: string[] = []
    const texts = new OfferTexts(db, { ...silentLog, warn: (_fields, text) => warned.push(text) })
    state.isAway = true
    expect(await texts.find(configHash('one'))).toBeNull()
    expect(await texts.find(configHash('two'))).toBeNull()
    expect(warned).toEqual(['texts of configs that are offered could not be read'])
    state.isAway = false
    expect(await texts.find(configHash('one'))).not.toBeNull()
    state.isAway = true
    await texts.find(configHash('two'))
    expect(warned).toHaveLength(2)
  })

  it('are kept up to 32 MiB, the one unused for longest goes first', async () => {
    const bodies = ['a', 'b', 'c'].map((letter) => letter.repeat(12 * 1_048_576))
    const { db } = storeOf(bodies)
    const texts = new OfferTexts(db, silentLog)
    const [a, b, c] = bodies.map((body) => configHash(body)) as [string, string, string]
    await texts.find(a)
    await texts.find(b)
    texts.at(a)
    await texts.find(c)
    expect([texts.at(a) !== null, texts.at(b) !== null, texts.at(c) !== null]).toEqual([true, false, true])
  })
})
