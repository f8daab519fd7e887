import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  CANONICAL_SHAPES,
  canonicalHash,
  canonicalString,
  canonicalText,
  compareUtf8,
} from '../../../lib/reports/canonical.ts'
import { assemblePack } from '../../../lib/reports/pack.ts'
import { REPORT_INCLUDES } from '../../../lib/wire/values.ts'
import { reportFrame, reportMaterial, reportRequest } from '../../support/report-material.ts'

const { inputs, pack } = CANONICAL_SHAPES
const VALUE = { kind: 'value' } as const

describe('the canonical form', () => {
  // Both test vectors come from another implementation of this report, so that the form is not only our own.
  it('hashes the inputs of a known pack', () => {
    const include = Object.fromEntries(
      [
        ...['workload_summary', 'config_history', 'current_config', 'config_plan', 'drift_findings'],
        ...['version_intelligence', 'alerts', 'workload_events', 'rollback_readiness', 'audit_verification'],
      ].map((flag) => [flag, false]),
    )
    const known = {
      workload_ids: ['w-a', 'w-b'],
      sections: [],
      request: {
        redaction: 'strict',
        include: { ...include, signed_audit_metadata: true },
        scope: { since: '2026-07-01T00:00:00+02:00', group_id: 'checkout' },
        report_type: 'evidence_pack',
        schema_version: 'report_export_request.v1',
      },
    }
    expect(canonicalHash(known, inputs)).toBe(
      '2799477faf0f9dfbd1fff7d7c9ef3566841656d5241bc39e6256889a350b33ef',
    )
  })

  it('hashes a known pack', () => {
    const known = {
      schema_version: 'evidence_pack.v1',
      generated_at: '2026-07-02T12:00:00.123456Z',
      inputs_hash: '2799477faf0f9dfbd1fff7d7c9ef3566841656d5241bc39e6256889a350b33ef',
      report_hash: '',
      scope: {
        workload_ids: ['w-a', 'w-b'],
        group_id: 'checkout',
        since: '2026-07-01T00:00:00+02:00',
        requested_scope: {},
      },
      sections: [],
    }
    expect(canonicalHash(known, pack)).toBe(
      '5ba4d42f05258d9a02877bbe9ccbe76fcc8850911d83350fe3f8c464f4190a59',
    )
  })

  it('keeps the hashes of a pack of ours', () => {
    // This pack was made before packs had campaigns; such packs must still verify.
    const names = REPORT_INCLUDES.filter((name) => name !== 'campaigns')
    const include = Object.fromEntries(names.map((name) => [name, true]))
    const request = reportRequest({ scope: { group_id: 'checkout' }, include })
    const { frame } = assemblePack(
      reportFrame({ request }),
      reportMaterial({ workloads: 5, pushes: 3, events: 2 }),
    )
    expect({ inputs: frame.inputs_hash, report: frame.report_hash }).toMatchInlineSnapshot(`
      {
        "inputs": "7f8fef268920e16b585d785242b412c6d7c11fe8efce1c43ccbde1aa87c4a5d3",
        "report": "ec80b74d291c616f8ba2653695c37495bcace4b1fbc789e8a82ccba803c25588",
      }
    `)
  })

  it('escapes what it says it escapes and nothing else', () => {
    expect(canonicalString('"\\\b\t\n\f\r\u0001\u001f<>&\u2028\u2029é日😀\u007f')).toBe(
      '"\\"\\\\\\b\\t\\n\\f\\r\\u0001\\u001f\\u003c\\u003e\\u0026\\u2028\\u2029é日😀\u007f"',
    )
    expect(canonicalString('a\ud800b')).toBe('"a\\ufffdb"')
  })

  it('orders the keys of maps by their UTF-8 bytes, numbers and signs beyond the BMP too', () => {
    expect(canonicalText({ '😀': 1, '\uff21': 2, b: { z: true, a: null }, 10: [], 9: {} }, VALUE)).toBe(
      '{"10":[],"9":{},"b":{"a":null,"z":true},"\uff21":2,"😀":1}',
    )
  })

  it('leaves out empty optional fields and keeps all others', () => {
    const item = {
      id: 'i',
      resource: '',
      resource_id: 'r',
      severity: '',
      summary: '',
      facts: {},
      redacted: false,
    }
    expect(canonicalText(item, CANONICAL_SHAPES.item)).toBe(
      '{"id":"i","resource":"","resource_id":"r","summary":"","facts":{},"redacted":false}',
    )
  })

  it('refuses numbers that are not whole', () => {
    expect(() => canonicalText({ a: 0.1 }, VALUE)).toThrow('whole numbers')
  })

  it('says of any value what JSON says of it', () => {
    fc.assert(
      fc.property(
        fc
          .jsonValue({ maxDepth: 4 })
          .filter((value) => !/[.eE]/.test(JSON.stringify(value).replace(/"(?:[^"\\]|\\.)*"/g, ''))),
        (value) => {
          expect(JSON.parse(canonicalText(value, VALUE))).toEqual(JSON.parse(JSON.stringify(value)))
        },
      ),
      { seed: 7, numRuns: 300 },
    )
  })

  it('compares texts as their bytes compare', () => {
    const text = fc.string({ unit: 'binary', maxLength: 4 })
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareUtf8(a, b))).toBe(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))))
      }),
      { seed: 7, numRuns: 200 },
    )
  })
})
