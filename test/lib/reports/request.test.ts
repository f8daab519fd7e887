import { describe, expect, it } from 'vitest'
import { parseReportRequest } from '../../../lib/reports/request.ts'
import { reportRequest } from '../../support/report-material.ts'

const parse = (body: unknown) => parseReportRequest(typeof body === 'string' ? body : JSON.stringify(body))
const scope = { group_id: 'checkout' }

describe('a report request', () => {
  it('gets its defaults, and null counts as absent', () => {
    const request = reportRequest({
      scope: { ...scope, workload_ids: null, since: null },
      include: null,
      redaction: null,
    })
    expect(request).toMatchObject({
      schema_version: 'report_export_request.v1',
      report_type: 'evidence_pack',
      scope,
      redaction: 'strict',
    })
    expect(request).toEqual(
      reportRequest({ scope, include: {}, schema_version: '', report_type: 'evidence_pack' }),
    )
  })

  it('includes all eleven sections when every flag is false or absent', () => {
    const { include } = reportRequest({ scope, include: { alerts: false } })
    expect(Object.entries(include).filter(([, flag]) => !flag)).toEqual([['signed_audit_metadata', false]])
  })

  it('includes nothing else when one flag is true', () => {
    const { include } = reportRequest({ scope, include: { alerts: true } })
    expect(Object.keys(include).filter((key) => include[key as keyof typeof include])).toEqual(['alerts'])
  })

  it('is the same whatever the order and number of its ids and the zone of its times', () => {
    const one = reportRequest({
      scope: {
        workload_ids: ['b', ' a', 'b', ''],
        since: '2026-07-01T02:00:00+02:00',
        until: '2026-07-01T00:00:00Z',
      },
    })
    const other = reportRequest({
      scope: {
        workload_ids: ['a', 'b'],
        since: '2026-07-01T00:00:00.0009Z',
        until: '2026-06-30T23:00:00-01:00',
      },
    })
    expect(one).toEqual(other)
    expect(one.scope).toEqual({
      workload_ids: ['a', 'b'],
      since: '2026-07-01T00:00:00.000Z',
      until: '2026-07-01T00:00:00.000Z',
    })
  })

  it.each([
    ['no JSON', 'x'],
    ['a second value', '{} {}'],
    ['a list', []],
    ['an unknown field of the body', { scope, extra: 1 }],
    ['an unknown field of the scope', { scope: { ...scope, untill: '2026-01-01T00:00:00Z' } }],
    ['an unknown flag', { scope, include: { everything: true } }],
    ['a flag that is no boolean', { scope, include: { alerts: 'yes' } }],
    ['ids that are no list', { scope: { workload_ids: 'a' } }],
    ['an id that is no text', { scope: { workload_ids: [1] } }],
    ['a selector that is a list', { scope: { selector: ['a'] } }],
    ['a selector with a number', { scope: { selector: { a: 1 } } }],
    ['a text with U+0000', { scope: { group_id: 'a\0' } }],
    ['a date without a time', { scope: { ...scope, since: '2026-07-01' } }],
    ['a time without a zone', { scope: { ...scope, since: '2026-07-01T00:00:00' } }],
    ['an empty time', { scope: { ...scope, until: '' } }],
    ['a day that does not exist', { scope: { ...scope, since: '2026-02-30T00:00:00Z' } }],
    ['an hour that does not exist', { scope: { ...scope, since: '2026-02-01T25:00:00Z' } }],
  ])('with %s is refused for its form', (_, body) => {
    expect(parse(body)).toMatchObject({ ok: false, code: 'invalid-json-body' })
  })

  it.each([
    [null, 'invalid-scope'],
    [{}, 'invalid-scope'],
    [{ scope: {} }, 'invalid-scope'],
    [{ scope: { workload_ids: [], selector: {}, group_id: '  ' } }, 'invalid-scope'],
    [{ scope: { ...scope, workload_ids: ['a'] } }, 'invalid-scope'],
    [{ scope: { selector: { a: 'b' }, workload_ids: [' '] } }, 'invalid-scope'],
    [{ redaction: 'none', schema_version: '2', report_type: 'x' }, 'unsupported-schema-version'],
    [{ redaction: 'none', report_type: 'x' }, 'unsupported-report-type'],
    [{ redaction: 'none' }, 'unsupported-redaction-mode'],
    [{ redaction: 'STRICT', scope }, 'unsupported-redaction-mode'],
    [
      { scope: { ...scope, since: '2026-07-01T00:00:01Z', until: '2026-07-01T00:00:00Z' } },
      'invalid-time-range',
    ],
  ])('%j is refused as %s, the first thing that is wrong', (body, code) => {
    expect(parse(body)).toMatchObject({ ok: false, code })
  })

  it('may have a period of one moment, and an id that is blank', () => {
    expect(
      parse({ scope: { ...scope, since: '2026-07-01T00:00:00Z', until: '2026-07-01T00:00:00Z' } }).ok,
    ).toBe(true)
    expect(reportRequest({ scope: { workload_ids: [' '] } }).scope).toEqual({ workload_ids: [] })
  })
})
