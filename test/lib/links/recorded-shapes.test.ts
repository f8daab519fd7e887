import { describe, expect, it } from 'vitest'
import { LINK_VERSIONS } from '../../../lib/links/link-versions.ts'
import { type LinkRecord, recordOf, shapesNow } from '../../support/link-shapes.ts'

const { least, newest } = LINK_VERSIONS
const older = Array.from({ length: newest - least }, (_, index) => least + index)

describe('what is said on a link', () => {
  it('is what is recorded of the newest version: whoever changes it raises the version and records that one', () => {
    expect(shapesNow(), 'raise LINK_VERSIONS.newest and record it in test/fixtures/links').toEqual(
      recordOf(newest),
    )
  })

  it.each(older)('in version %i is read by this build', (version) => {
    const [then, now] = [recordOf(version), shapesNow()]
    expect(now.batch).toEqual(expect.arrayContaining([...then.batch]))
    for (const side of ['front', 'owner'] as const) expect(now[side]).toMatchObject(then[side])
  })

  it.each([...older, newest].slice(1))('in version %i is not what it was in the one before', (version) => {
    const said = (record: LinkRecord) => JSON.stringify(record)
    expect(said(recordOf(version))).not.toBe(said(recordOf(version - 1)))
  })
})
