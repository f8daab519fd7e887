import { expect, it } from 'vitest'
import { isStorable, isStorableJson, isStorableLine } from '../../../lib/model/storable.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()

const TEXTS = ['', 'plain', 'a\nb', '\t', '\\u0000', '\u007f', '💡', '\ufffd', 'a\0', '\ud800', 'a\udfffb']

/** Whether the database accepts a value and returns it unchanged. */
async function isTaken(type: string, sent: string, expected: unknown): Promise<boolean> {
  try {
    const [row] = await database.pool.query<{ kept: unknown }>(`select $1::${type} as kept`, [sent])
    return JSON.stringify(row?.kept) === JSON.stringify(expected)
  } catch {
    return false
  }
}

it.each(TEXTS)('%j is storable where the database keeps it as it is', async (text) => {
  expect(isStorable(text)).toBe((await isTaken('text', text, text)) && !/\p{Surrogate}/u.test(text))
  for (const value of [[text], { [text]: 1 }, { a: [{ b: text }] }])
    expect(isStorableJson(value), JSON.stringify(value)).toBe(
      await isTaken('jsonb', JSON.stringify(value), value),
    )
})

it('a line has no control characters besides', () => {
  expect(TEXTS.filter(isStorableLine)).toEqual(['', 'plain', '\\u0000', '💡', '\ufffd'])
})
