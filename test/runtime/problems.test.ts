import { describe, expect, it } from 'vitest'
import { PROBLEMS, type ProblemCode, sentenceOf, wireCodeOf } from '../../runtime/problems.ts'
import { problem } from '../../runtime/reply.ts'

const codes = Object.keys(PROBLEMS) as ProblemCode[]

describe('the table of refusals', () => {
  it('is sorted, so that two changes do not add one refusal twice', () => {
    expect(codes).toEqual([...codes].sort())
  })

  it('answers the codes that clients have known from the first version', () => {
    // Codes that clients rely on, by the problem that they are sent for.
    const known: Partial<Record<ProblemCode, string>> = {
      'approval-not-pending': 'approval_not_pending',
      'approval-required': 'approval_required',
      'config-approval-required': 'config_approval_required',
      'config-not-applied': 'not_applied',
      'feature-disabled': 'feature_disabled',
      'invalid-rollback-request': 'invalid_request',
      'pdf-unavailable': 'pdf_unavailable',
      'remote-config-unsupported': 'remote_config_unsupported',
      'report-audit-unavailable': 'audit_unavailable',
      'workload-not-disconnected': 'workload_not_disconnected',
    }
    for (const [code, wire] of Object.entries(known)) expect(wireCodeOf(code as ProblemCode)).toBe(wire)
  })

  it('leaves the bodies without a code as they are', () => {
    expect(problem('forbidden').body).toBe('{"error":"forbidden"}\n')
    expect(problem('unauthorized').body).toBe('{"error":"unauthorized"}\n')
    const audit = problem('audit-unavailable', { side_effect_status: 'none' })
    expect(audit.body).toBe('{"error":"audit unavailable","side_effect_status":"none"}\n')
  })

  it('gives every other refusal a code of its own, unless they mean the same to a client', () => {
    const wire = codes.map(wireCodeOf).filter((code) => code !== null)
    const twice = wire.filter((code, index) => wire.indexOf(code) !== index)
    expect(twice).toEqual(['out_of_scope', 'invalid_percentage'])
  })

  it('fills details into the sentence and puts them into the body', () => {
    const { status, body } = problem('text-too-long', { field: 'comment', max: 4_000, found: 4_001 })
    expect([status, JSON.parse(String(body))]).toEqual([
      400,
      {
        error: 'comment must be at most 4000 characters, found 4001',
        code: 'text_too_long',
        field: 'comment',
        max: 4_000,
        found: 4_001,
      },
    ])
  })

  it('lets no quote and no control character of a detail into a sentence', () => {
    expect(sentenceOf('group-unknown', { group: 'a"b\0c' })).toBe('unknown group "a\\"b\\u0000c"')
  })
})
