import { describe, expect, it, test } from 'vitest'
import { isMap, isScalar } from 'yaml'
import { readFirstDocument } from '../../../../lib/configs/yaml/document.ts'
import { placeOfPath } from '../../../../lib/configs/yaml/locate.ts'

function read(text: string) {
  const document = readFirstDocument(text)
  if (!document.ok) throw new Error(document.problem.message)
  return document
}

describe('where a path stands', () => {
  const { contents, lines } = read('a:\n  b.c: 1\n  b:\n    c: [x, {d: 2}]\n"": 3\ne: &e {f: 4}\ng: *e\n')
  test.each([
    ['a', { line: 1, column: 1 }],
    ['a.b', { line: 3, column: 3 }],
    // A key that contains dots is preferred to nested keys.
    ['a.b.c', { line: 2, column: 3 }],
    ['a.b.c[1]', { line: 2, column: 3 }],
    ['a.b.x', { line: 3, column: 3 }],
    ['a.x.y', { line: 1, column: 1 }],
    ['e.f', { line: 6, column: 8 }],
    ['g.f', { line: 7, column: 1 }],
    ['x', null],
  ])('%s', (path, place) => {
    expect(placeOfPath(contents, lines, path)).toEqual(place)
  })

  it('is found for each of many keys without going through all of them each time', () => {
    const { contents, lines } = read(Array.from({ length: 500 }, (_, n) => `k${n}: ${n}\n`).join(''))
    if (!isMap(contents)) throw new Error('no mapping')
    let looks = 0
    for (const item of contents.items) {
      const { key } = item
      if (!isScalar(key)) throw new Error('no key')
      const look = () => {
        looks++
        return key
      }
      Object.defineProperty(item, 'key', { get: look })
    }
    for (let n = 0; n < 500; n++) expect(placeOfPath(contents, lines, `k${n}.x`)?.line).toBe(n + 1)
    expect(looks).toBeLessThan(10 * 500)
  })
})
